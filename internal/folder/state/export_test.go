package state

import "bytes"

// Read returns the entries that the bytes of a journal hold, and whether anything of it was damaged.
func Read(raw []byte) (map[string]Entry, bool) {
	var j Journal
	_, damaged, err := j.read(bytes.NewReader(raw), &header{})
	return j.entries, damaged > 0 || err != nil
}
