package segment

import (
	"errors"
	"fmt"
	"io"
)

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
	// Apart sections are cold, and can also be read by calls of the system, see Part: it maps sixteen pages around each that is read in a
	// mapping, so that after some thousand searches all of a section would count as memory of this process.
	Apart
)

// Open maps the file at path after it has read and checked every section, also those that nobody knows. A damaged file is
// a *Corrupt, one of a newer format a *Newer.
func Open(path string) (*File, error) {
	return OpenFor(path, func(string, int64) Access { return Usual })
}

// OpenFor is Open for sections that are read as access says of their names and sizes in bytes.
func OpenFor(path string, access func(section string, bytes int64) Access) (*File, error) {
	f, err := open(path, access)
	if err != nil {
		return nil, err
	}
	for _, s := range f.sections {
		if a := access(s.Name, int64(len(s.Data))); a != Usual && f.close != nil {
			advise(f, s.Data, a)
		}
	}
	return f, nil
}

// Part reads a section by calls of the system. Safe for concurrent use.
type Part struct {
	in             *File
	section        string
	offset, length int64
}

// Part returns how a section is read if it is Apart; nil if it is not, or in memory.
func (f *File) Part(section string) *Part { return f.parts[section] }

// Read fills p with what stands at an offset of the section. Where that fails it panics with the *Corrupt, as a fault in mapped memory
// does; see Guard.
func (p *Part) Read(to []byte, at int64) {
	if at < 0 || int64(len(to)) > p.length-at {
		panic(fmt.Sprintf("%d bytes at %d of a section of %d", len(to), at, p.length))
	}
	if _, err := p.in.file.ReadAt(to, p.offset+at); err != nil {
		reason := err.Error()
		if errors.Is(err, io.EOF) {
			reason = "cut off"
		}
		panic(&Corrupt{File: p.in.Name, Section: p.section, Offset: p.offset + at, Reason: reason})
	}
}

// source is a file while it is checked.
type source struct {
	io.ReaderAt
	name   string
	size   int64
	access func(section string, bytes int64) Access
	// cold returns a function to be called after part of the file was read, so that it is no more in memory than before.
	cold func(offset, length int64) (read func())
}
