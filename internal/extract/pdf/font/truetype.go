package font

import (
	"encoding/binary"

	"quarry/internal/extract/pdf/syntax"
)

// embeddedTexts returns the text of glyphs by CID, as the character mapping of an embedded TrueType font implies it, or nil
// if there is none. It is used for files without ToUnicode.
func embeddedTexts(f *syntax.File, inner, desc syntax.Dict) map[int]string {
	s, ok := f.Get(desc["FontFile2"]).(*syntax.Stream)
	if !ok {
		return nil
	}
	data, err := f.Decode(s)
	if err != nil {
		return nil
	}
	glyphs := map[int]string{}
	characters(data, func(r rune, glyph int) bool {
		if _, taken := glyphs[glyph]; !taken && glyph != 0 {
			glyphs[glyph] = string(r)
		}
		return f.Budget.Keep(48)
	})
	to, ok := f.Get(inner["CIDToGIDMap"]).(*syntax.Stream)
	if !ok {
		return glyphs
	}
	table, err := f.Decode(to)
	if err != nil {
		return nil
	}
	out := map[int]string{}
	for cid := 0; 2*cid+1 < len(table) && cid < 1<<16; cid++ {
		if t := glyphs[int(binary.BigEndian.Uint16(table[2*cid:]))]; t != "" {
			out[cid] = t
		}
	}
	return out
}

// characters calls yield with the Unicode mappings in the cmap table of a TrueType font (OpenType specification, "cmap"),
// of formats 4 and 12, until it returns false.
func characters(data []byte, yield func(r rune, glyph int) bool) {
	u16 := func(b []byte, at int) int {
		if at < 0 || at+2 > len(b) {
			return 0
		}
		return int(binary.BigEndian.Uint16(b[at:]))
	}
	u32 := func(b []byte, at int) int { return u16(b, at)<<16 | u16(b, at+2) }
	for i := range u16(data, 4) {
		at := 12 + 16*i
		if at+16 > len(data) || string(data[at:at+4]) != "cmap" {
			continue
		}
		table := data[min(len(data), u32(data, at+8)):]
		for j := range u16(table, 2) {
			platform, kind := u16(table, 4+8*j), u16(table, 6+8*j)
			if platform != 0 && (platform != 3 || kind != 1 && kind != 10) { // neither Unicode nor Windows with Unicode
				continue
			}
			sub := table[min(len(table), u32(table, 8+8*j)):]
			switch u16(sub, 0) {
			case 4:
				segments(sub, u16, yield)
			case 12:
				for g := range min(u32(sub, 12), len(sub)/12) {
					first, last, glyph := u32(sub, 16+12*g), u32(sub, 20+12*g), u32(sub, 24+12*g)
					for c := first; c <= min(last, first+0xFFFF); c++ {
						if !yield(rune(c), glyph+c-first) {
							return
						}
					}
				}
			}
		}
	}
}

// segments calls yield with the mappings of a subtable of format 4.
func segments(sub []byte, u16 func([]byte, int) int, yield func(rune, int) bool) {
	n := u16(sub, 6) / 2
	for s := range n {
		last, first := u16(sub, 14+2*s), u16(sub, 16+2*n+2*s)
		delta, offset := u16(sub, 16+4*n+2*s), u16(sub, 16+6*n+2*s)
		for c := first; c <= last && c < 0xFFFF; c++ {
			glyph := c + delta
			if offset != 0 {
				if glyph = u16(sub, 16+6*n+2*s+offset+2*(c-first)); glyph != 0 {
					glyph += delta
				}
			}
			if !yield(rune(c), glyph&0xFFFF) {
				return
			}
		}
	}
}
