// Package segment is the container of the index's files: named sections, each with a version and a checksum, between a
// head and a tail. It knows nothing of what sections mean. Package index calls it. The format is drawn in
// docs/design/index-format.md.
package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"quarry/internal/search"
)

// ErrCorrupt marks a file whose bytes are not those that were written; errors.Is finds it in a *Corrupt.
var ErrCorrupt = search.ErrCorrupt

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

// ErrNewer marks a file that a newer program wrote and this one can't read; errors.Is finds it in a *Newer.
var ErrNewer = errors.New("index file is of a newer format")

// Newer is the error of a file of a newer program. Such a file is to be left as it is.
type Newer struct {
	File    string
	Section string // whose version is not known; "" where the format itself is newer
	Version int    // of the section or the format
}

// Error returns the file and what is newer in it.
func (n *Newer) Error() string {
	if n.Section == "" {
		return fmt.Sprintf("%s: file %s, format %d", ErrNewer, n.File, n.Version)
	}
	return fmt.Sprintf("%s: file %s, version %d of section %q", ErrNewer, n.File, n.Version, n.Section)
}

// Is reports whether target is ErrNewer: errors.Is finds that in every *Newer.
func (n *Newer) Is(target error) bool { return target == ErrNewer }

// Section is a named run of bytes. Its version, from 1 on, is that of what the bytes mean.
type Section struct {
	Name    string
	Version uint16
	Data    []byte
}

// Format is that of the files that are written.
const Format = 3

const (
	magic    = "QRYSEG03" // of Format
	oldMagic = "QRYSEG01" // of formats 1 and 2, whose sections have no version and are all of version 1
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
	mapped   []byte   // the whole file, nil in memory
	file     *os.File // nil unless there are parts
	parts    map[string]*Part
	path     string // of the file that is mapped
	close    func() error
}

// New returns a file in memory.
func New(sections []Section) *File { return &File{sections: sections} }

// Section returns the section with a name; its version is 0 when there is none.
func (f *File) Section(name string) Section {
	for i := range f.sections {
		if f.sections[i].Name == name {
			return f.sections[i]
		}
	}
	return Section{}
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

// offset returns where in the mapped file a section begins.
func (f *File) offset(section []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(section))) - uintptr(unsafe.Pointer(unsafe.SliceData(f.mapped))))
}

// locate returns the damage that a fault at an address stands for; nil when the address is not in the mapped file.
func (f *File) locate(addr uintptr) *Corrupt {
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

// cutOff returns the damage if the mapped file has become shorter by now.
func (f *File) cutOff() *Corrupt {
	if f.path == "" {
		return nil
	}
	info, err := os.Stat(f.path)
	if err != nil || info.Size() >= int64(len(f.mapped)) {
		return nil
	}
	return &Corrupt{File: f.Name, Offset: info.Size(), Reason: fmt.Sprintf("cut off: %d bytes of %d", info.Size(), len(f.mapped))}
}

// Close unmaps the file.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	c := f.close
	f.close = nil
	if f.file != nil {
		return errors.Join(c(), f.file.Close())
	}
	return c()
}

// place is one line of the table of contents.
type place struct {
	name    string
	version uint16
	offset  uint64
	length  uint64
	crc     uint32
}

func appendTOC(dst []byte, places []place) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(places)))
	for _, p := range places {
		dst = append(dst, byte(len(p.name)))
		dst = append(dst, p.name...)
		dst = binary.LittleEndian.AppendUint16(dst, p.version)
		dst = binary.LittleEndian.AppendUint64(dst, p.offset)
		dst = binary.LittleEndian.AppendUint64(dst, p.length)
		dst = binary.LittleEndian.AppendUint32(dst, p.crc)
	}
	return dst
}

// parseTOC returns the table of contents of a file that begins with a magic.
func parseTOC(b []byte, magic string) ([]place, error) {
	versions := 2 // bytes
	if magic == oldMagic {
		versions = 0
	}
	fixed := versions + 20
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
		p := place{name: string(b[1 : 1+b[0]]), version: 1}
		b = b[1+int(b[0]):]
		if versions > 0 {
			p.version = binary.LittleEndian.Uint16(b)
		}
		if p.version == 0 {
			return nil, fmt.Errorf("section %q has no version", p.name)
		}
		fields := b[versions:]
		p.offset, p.length = binary.LittleEndian.Uint64(fields), binary.LittleEndian.Uint64(fields[8:])
		p.crc = binary.LittleEndian.Uint32(fields[16:])
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

// parseTail returns the tail of a file that begins with a magic.
func parseTail(b []byte, size int64, magic string) (tail, error) {
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

// magicOf returns the magic at the start of a file, given its head and tail. Of a newer format it must stand at both ends
// to be believed: one byte that flipped would do at one.
func magicOf(file string, head, tail []byte) (string, error) {
	first, last := string(head[:len(magic)]), string(tail[len(tail)-len(magic):])
	if first == magic || first == oldMagic {
		return first, nil
	}
	digits, ours := strings.CutPrefix(first, magic[:6])
	if n, err := strconv.ParseUint(digits, 10, 8); ours && err == nil && n > Format && first == last {
		return "", &Newer{File: file, Version: int(n)}
	}
	return "", &Corrupt{File: file, Reason: "no magic at the start"}
}
