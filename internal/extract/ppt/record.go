package ppt

import (
	"encoding/binary"
	"fmt"

	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// Types of records (MS-PPT, 2.13.24, and MS-ODRAW).
const (
	recDocument, recSlide, recSlideAtom, recNotes = 0x03E8, 0x03EE, 0x03EF, 0x03F0
	recSlidePersist, recShowInfo, recDrawing      = 0x03F3, 0x03F9, 0x040C
	recDocInfo, recPlaceholder                    = 0x07D0, 0x0BC3
	recOutlineRef, recTextHeader                  = 0x0F9E, 0x0F9F
	recTextChars, recTextStyle, recTextBytes      = 0x0FA0, 0x0FA1, 0x0FA8
	recTextStyle9, recOutlineText9, recTextRef9   = 0x0FAC, 0x0FAE, 0x0FAF
	recString, recSlideNumber, recDateTime        = 0x0FBA, 0x0FD8, 0x0FF7
	recSlideList, recUserEdit, recGenericDate     = 0x0FF0, 0x0FF5, 0x0FF8
	recHeader, recFooter, recRTFDate              = 0x0FF9, 0x0FFA, 0x1015
	recTags, recBinaryTag, recTagData             = 0x1388, 0x138A, 0x138B
	recPersistDirectory, recComment, recCommentAt = 0x1772, 0x2EE0, 0x2EE1
	recEncryption                                 = 0x2F14

	recGroup, recShape, recShapeAtom, recOptions           = 0xF003, 0xF004, 0xF00A, 0xF00B
	recTextbox, recChildAnchor, recClientData, recOptions3 = 0xF00D, 0xF00F, 0xF011, 0xF122
	recDrawingContainer                                    = 0xF002
	recDrawingGroup, recDrawings, recStore, recStored      = 0x040B, 0xF000, 0xF001, 0xF007
	recJPEG, recPNG, recJPEGOther                          = 0xF01D, 0xF01E, 0xF02A
)

// record is a record: its body has a value, or records.
type record struct {
	instance, kind int
	body           []byte
}

// headerSize is that of the header of a record.
const headerSize = 8

// first returns the record that b begins with, and what follows it; ok is false if it is cut off.
func first(b []byte) (r record, rest []byte, ok bool) {
	if len(b) < headerSize {
		return r, nil, false
	}
	end := headerSize + uint64(u32(b, 4))
	if end > uint64(len(b)) {
		return r, nil, false
	}
	return record{u16(b, 0) >> 4, u16(b, 2), b[headerSize:end]}, b[end:], true
}

// each calls visit with the records that b consists of, as far as they are whole.
func each(b []byte, visit func(r record)) {
	for {
		r, rest, ok := first(b)
		if !ok {
			return
		}
		visit(r)
		b = rest
	}
}

// tagged calls visit with the records that programs of a later version have added to a container, by the name of the version.
func tagged(tags record, version string, visit func(r record)) {
	each(tags.body, func(r record) {
		if r.kind != recBinaryTag {
			return
		}
		name := ""
		each(r.body, func(r record) {
			switch {
			case r.kind == recString:
				name = ole.UTF16(r.body)
			case r.kind == recTagData && name == version:
				each(r.body, visit)
			}
		})
	})
}

// u16 and u32 read a number, 0 where there is none.
func u16(b []byte, at int) int {
	if at < 0 || at+2 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[at:]))
}

func u32(b []byte, at int) uint32 {
	if at < 0 || at+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[at:])
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{outline.ErrUnparsable}, args...)...)
}
