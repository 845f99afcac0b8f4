package segment

import "io"

// Access is how a section is read.
type Access uint8

// The ways.
const (
	Usual Access = iota
	// Hot sections are read by most searches: the system is asked for them ahead.
	Hot
	// Cold sections are read a few bytes here and there: the system need read nothing around these, and what the check at
	// opening has read of them does not stay in memory if it was not there before.
	Cold
)

// Open maps the file at path after it has read and checked every section, also those that nobody knows. A damaged file is
// a *Corrupt, one of a newer format a *Newer.
func Open(path string) (*File, error) { return OpenFor(path, func(string) Access { return Usual }) }

// OpenFor is Open for sections that are read as access says of their names.
func OpenFor(path string, access func(section string) Access) (*File, error) {
	f, err := open(path, access)
	if err != nil {
		return nil, err
	}
	for _, s := range f.sections {
		if a := access(s.Name); a != Usual && f.close != nil {
			advise(f.mapped, s.Data, a)
		}
	}
	return f, nil
}

// source is a file while it is checked.
type source struct {
	io.ReaderAt
	name   string
	size   int64
	access func(section string) Access
	// cold returns a function to be called after part of the file was read, so that it is no more in memory than before.
	cold func(offset, length int64) (read func())
}
