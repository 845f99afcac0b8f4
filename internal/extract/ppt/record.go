package ppt

import (
	"encoding/binary"
	"fmt"

	"quarry/internal/extract/officeart"
	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// Types of records (MS-PPT, 2.13.24). Their form is that of records in drawings.
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
	recDrawingGroup, recEncryption                = 0x040B, 0x2F14
)

// tagged calls visit with the records that programs of a later version have added to a container, by the name of the version.
func tagged(tags officeart.Record, version string, visit func(r officeart.Record)) {
	officeart.Each(tags.Body, func(r officeart.Record) {
		if r.Kind != recBinaryTag {
			return
		}
		name := ""
		officeart.Each(r.Body, func(r officeart.Record) {
			switch {
			case r.Kind == recString:
				name = ole.UTF16(r.Body)
			case r.Kind == recTagData && name == version:
				officeart.Each(r.Body, visit)
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
