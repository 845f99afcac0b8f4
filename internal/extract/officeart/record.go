// Package officeart reads what drawings are made of in the binary formats of Office before 2007 (MS-ODRAW): records, the shapes that show
// pictures, and the list of pictures that they refer to by number. What is cut off or lies about its length is passed over. All functions
// are safe for concurrent use.
package officeart

import "encoding/binary"

// Types of records (MS-ODRAW, 2.2).
const (
	TypeDrawing, TypeGroup, TypeShape                           = 0xF002, 0xF003, 0xF004
	TypeShapeHead, TypeTextbox, TypeChildAnchor, TypeClientData = 0xF00A, 0xF00D, 0xF00F, 0xF011
	typeShared, typeList, typeEntry                             = 0xF000, 0xF001, 0xF007 // of pictures
	typeOptions, typeClientAnchor, typeOptions3                 = 0xF00B, 0xF010, 0xF122
	typeJPEG, typePNG, typeJPEGOther                            = 0xF01D, 0xF01E, 0xF02A
)

// Record is a record (MS-ODRAW, 2.2.1): its body has a value, or records.
type Record struct {
	Instance, Kind int
	Body           []byte
}

// headerSize is that of the header of a record.
const headerSize = 8

// First returns the record that b begins with, and what follows it; ok is false if it is cut off.
func First(b []byte) (r Record, rest []byte, ok bool) {
	if len(b) < headerSize {
		return r, nil, false
	}
	end := headerSize + uint64(u32(b, 4))
	if end > uint64(len(b)) {
		return r, nil, false
	}
	return Record{u16(b, 0) >> 4, u16(b, 2), b[headerSize:end]}, b[end:], true
}

// Each calls visit with the records that b consists of, as far as they are whole.
func Each(b []byte, visit func(r Record)) {
	for {
		r, rest, ok := First(b)
		if !ok {
			return
		}
		visit(r)
		b = rest
	}
}

// u16 and u32 read a number, 0 where there is none.
func u16(b []byte, at int) int {
	if at+2 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[at:]))
}

func u32(b []byte, at int) uint32 {
	if at+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[at:])
}
