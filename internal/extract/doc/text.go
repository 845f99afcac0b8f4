package doc

import (
	"slices"
	"sort"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// piece is a stretch of the text that stands in one place of the main stream (MS-DOC, 2.4.1).
type piece struct {
	from, to int    // in characters
	at       uint32 // its place in the stream
	wide     bool   // characters have two bytes, else one of Windows-1252
	changes  []byte // properties that all of it has beside its own
}

// readPieces reads where the text stands. Pieces that show the same bytes again and again are refused.
func (f *file) readPieces() error {
	const changes, table = 1, 2
	b := f.part(partPieces)
	var all [][]byte
	for len(b) > 2 && b[0] == changes {
		n := 3 + u16(b, 1)
		all = append(all, b[3:min(n, len(b))])
		b = b[min(n, len(b)):]
	}
	if len(b) < 5 || b[0] != table {
		return bad("the table of its pieces is missing")
	}
	b = b[5:min(uint64(len(b)), 5+uint64(u32(b, 1)))]
	const record = 8
	borders := places(b, record)
	for i := 0; i+1 < len(borders); i++ {
		in := b[4*len(borders)+record*i:]
		p := piece{from: borders[i], to: borders[i+1], at: u32(in, 2), wide: true, changes: change(u16(in, 6), all)}
		const narrow = 1 << 30
		size := uint64(p.to-p.from) * 2
		if p.at&narrow != 0 {
			p.at, p.wide = (p.at&^narrow)/2, false
			size /= 2
		}
		if uint64(p.at)+size > uint64(len(f.main)) {
			return bad("its text is cut off")
		}
		f.pieces = append(f.pieces, p)
	}
	if len(f.pieces) > 0 {
		f.total = f.pieces[len(f.pieces)-1].to
	}
	if f.total > len(f.main) {
		return bad("its pieces overlap")
	}
	return nil
}

// change returns the properties that a piece names: one, or those with a number.
func change(name int, all [][]byte) []byte {
	if name&1 != 0 {
		if i := name >> 1; i < len(all) {
			return all[i]
		}
		return nil
	}
	switch value := byte(name >> 8); name >> 1 & 0x7F {
	case 0x41:
		return []byte{propDeleted & 0xFF, propDeleted >> 8, value}
	case 0x5C:
		return []byte{propHidden & 0xFF, propHidden >> 8, value}
	}
	return nil
}

// run is a stretch of the main stream whose characters, or paragraphs, have the same properties.
type run struct {
	from, to uint32
	style    int // of paragraphs
	changes  []byte
}

// runs are stretches in ascending order.
type runs []run

// at returns the stretch that a place is in; one without properties if there is none.
func (r runs) at(place uint32) run {
	i := sort.Search(len(r), func(i int) bool { return r[i].to > place })
	if i < len(r) && r[i].from <= place {
		return r[i]
	}
	return run{from: place, to: place + 1}
}

// pageSize is that of the pages of the main stream that have the properties of stretches (MS-DOC, 2.9.33 and 2.9.176).
const pageSize = 512

// readRuns reads the properties of all characters, or paragraphs. Pages that are missing have none.
func (f *file) readRuns(part int) (out runs) {
	b := f.part(part)
	const record = 4
	borders := places(b, record)
	for i := 0; i+1 < len(borders) && i <= len(f.main)/pageSize; i++ {
		page := slice(f.main, u32(b, 4*len(borders)+record*i)&0x3FFFFF*pageSize, pageSize)
		if page == nil {
			continue
		}
		count := int(page[pageSize-1])
		for k := range count {
			one := run{from: u32(page, 4*k), to: u32(page, 4*k+4)}
			if part == partCharacters {
				one.changes = characterChanges(page, 4*(count+1)+k)
			} else {
				one.style, one.changes = f.paragraphChanges(page, 4*(count+1)+13*k)
			}
			if one.from < one.to {
				out = append(out, one)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b run) int { return int(int64(a.from) - int64(b.from)) })
	return out
}

// characterChanges returns the properties that a page has for a stretch: they stand at the double of a number.
func characterChanges(page []byte, number int) []byte {
	if number >= len(page) || page[number] == 0 {
		return nil
	}
	at := 2 * int(page[number])
	return page[min(at+1, len(page)):min(at+1+int(page[at]), len(page))]
}

// paragraphChanges returns the style of a paragraph and its properties; those that are too many for a page stand in another stream.
func (f *file) paragraphChanges(page []byte, number int) (style int, changes []byte) {
	if number >= len(page) || page[number] == 0 {
		return 0, nil
	}
	at := 2 * int(page[number])
	n := 2*int(page[at]) - 1
	if at++; n < 0 {
		if at >= len(page) {
			return 0, nil
		}
		n = 2 * int(page[at])
		at++
	}
	in := page[min(at, len(page)):min(at+n, len(page))]
	if len(in) < 2 {
		return 0, nil
	}
	style, changes = u16(in, 0), in[2:]
	each(changes, func(name int, value []byte) {
		if name == propElsewhere || name == propElsewhereOld {
			if size := slice(f.data, u32(value, 0), 2); size != nil {
				changes = slice(f.data, u32(value, 0)+2, uint32(u16(size, 0)))
			}
		}
	})
	return style, changes
}

// walk calls visit with the characters of a stretch of the document and their places in the main stream.
func (f *file) walk(from, to int, visit func(cp int, c rune, place uint32, p *piece)) {
	i := sort.Search(len(f.pieces), func(i int) bool { return f.pieces[i].to > from })
	var high rune // the first half of a character
	for ; i < len(f.pieces) && f.pieces[i].from < to; i++ {
		p := &f.pieces[i]
		for cp := max(from, p.from); cp < min(to, p.to); cp++ {
			if !p.wide {
				place := p.at + uint32(cp-p.from)
				visit(cp, charmap.Windows1252.DecodeByte(f.main[place]), place, p)
				continue
			}
			place := p.at + 2*uint32(cp-p.from)
			c := rune(u16(f.main, int(place)))
			if utf16.IsSurrogate(c) {
				if high != 0 {
					c, high = utf16.DecodeRune(high, c), 0
				} else {
					high = c
					continue
				}
			}
			visit(cp, c, place, p)
		}
	}
}
