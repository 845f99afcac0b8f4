// Package segment is the container of the index's files: named sections, each with a checksum, between a head and a
// tail. It knows nothing of what sections mean. Package index calls it. The format is drawn in
// docs/design/index-format.md.
package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"
)

// ErrCorrupt marks a file whose bytes are not those that were written; errors.Is finds it in a *Corrupt.
var ErrCorrupt = errors.New("index file is damaged")

// Corrupt is the error of a damaged file and names the place.
type Corrupt struct {
	File    string
	Section string // "" outside sections
	Offset  int64  // of the section, or of what was found wrong
	Reason  string
}

// Error returns the file, section, offset and reason.
func (c *Corrupt) Error() string {
	return fmt.Sprintf("%s: file %s, section %q, offset %d: %s", ErrCorrupt, c.File, c.Section, c.Offset, c.Reason)
}

// Is reports whether target is ErrCorrupt: errors.Is finds that in every *Corrupt.
func (c *Corrupt) Is(target error) bool { return target == ErrCorrupt }

// Section is a named run of bytes.
type Section struct {
	Name string
	Data []byte
}

const (
	magic    = "QRYSEG01"
	headSize = 64
	tailSize = 32
	align    = 64
	// maxSections bounds what a damaged table of contents can make the reader allocate.
	maxSections = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File is a set of sections, in memory or mapped from disk. Its sections must not be modified, and not be read after
// Close. Safe for concurrent use but for Close.
type File struct {
	Name     string // for errors; "" in memory
	sections []Section
	mapped   []byte // the whole file, nil in memory
	close    func() error
}

// New returns a file in memory.
func New(sections []Section) *File { return &File{sections: sections} }

// Section returns the bytes of a section, nil when there is none.
func (f *File) Section(name string) []byte {
	for i := range f.sections {
		if f.sections[i].Name == name {
			return f.sections[i].Data
		}
	}
	return nil
}

// Sections returns all sections. The caller must not modify them.
func (f *File) Sections() []Section { return f.sections }

// Bytes returns the size of all sections, and the part of it that is mapped.
func (f *File) Bytes() (all, mapped int64) {
	if f.close != nil {
		return int64(len(f.mapped)), int64(len(f.mapped))
	}
	for _, s := range f.sections {
		all += int64(len(s.Data))
	}
	return all, 0
}

// Locate returns the damage that a fault at an address stands for; nil when the address is not in the mapped file.
func (f *File) Locate(addr uintptr) *Corrupt {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(f.mapped)))
	if f.mapped == nil || addr < base || addr-base >= uintptr(len(f.mapped)) {
		return nil
	}
	c := &Corrupt{File: f.Name, Offset: int64(addr - base), Reason: "reading mapped memory failed"}
	for _, s := range f.sections {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(s.Data)))
		if addr >= start && addr-start < uintptr(len(s.Data)) {
			c.Section = s.Name
		}
	}
	return c
}

// Close unmaps the file.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	c := f.close
	f.close = nil
	return c()
}

// place is one line of the table of contents.
type place struct {
	name   string
	offset uint64
	length uint64
	crc    uint32
}

func appendTOC(dst []byte, places []place) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(places)))
	for _, p := range places {
		dst = append(dst, byte(len(p.name)))
		dst = append(dst, p.name...)
		dst = binary.LittleEndian.AppendUint64(dst, p.offset)
		dst = binary.LittleEndian.AppendUint64(dst, p.length)
		dst = binary.LittleEndian.AppendUint32(dst, p.crc)
	}
	return dst
}

func parseTOC(b []byte) ([]place, error) {
	const fixed = 20
	if len(b) < 4 {
		return nil, errors.New("table of contents is cut off")
	}
	n := binary.LittleEndian.Uint32(b)
	if n > maxSections {
		return nil, fmt.Errorf("%d sections", n)
	}
	b = b[4:]
	places := make([]place, 0, n)
	for range n {
		if len(b) < 1 || len(b) < 1+int(b[0])+fixed {
			return nil, errors.New("table of contents is cut off")
		}
		p := place{name: string(b[1 : 1+b[0]])}
		b = b[1+int(b[0]):]
		p.offset, p.length = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		p.crc = binary.LittleEndian.Uint32(b[16:])
		b = b[fixed:]
		places = append(places, p)
	}
	if len(b) != 0 {
		return nil, errors.New("bytes after the table of contents")
	}
	return places, nil
}

// tail is what stands at the end of a file: where the table of contents is, its checksum, and the size of the file.
type tail struct {
	toc, length, size uint64
	crc               uint32
}

func (t tail) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, t.toc)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.length))
	dst = binary.LittleEndian.AppendUint32(dst, t.crc)
	dst = binary.LittleEndian.AppendUint64(dst, t.size)
	return append(dst, magic...)
}

func parseTail(b []byte, size int64) (tail, error) {
	t := tail{
		toc: binary.LittleEndian.Uint64(b), length: uint64(binary.LittleEndian.Uint32(b[8:])),
		crc: binary.LittleEndian.Uint32(b[12:]), size: binary.LittleEndian.Uint64(b[16:]),
	}
	switch {
	case !bytes.Equal(b[24:], []byte(magic)):
		return t, errors.New("no magic at the end")
	case t.size != uint64(size):
		return t, fmt.Errorf("%d bytes, want %d", size, t.size)
	case t.toc < headSize || t.toc > uint64(size-tailSize) || t.length != uint64(size-tailSize)-t.toc:
		return t, errors.New("no table of contents where the tail says")
	}
	return t, nil
}
