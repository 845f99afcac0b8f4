package doc

// Properties that are looked at, by their names in the file (MS-DOC, 2.6). The upper three bits of a name say how long its value is.
const (
	propDeleted, propHidden, propSpecial, propSymbol, propCharStyle = 0x0800, 0x083C, 0x0855, 0x6A09, 0x4A30
	propPicture, propData                                           = 0x6A03, 0x0806

	propStyle, propLevel, propList, propListLevel         = 0x4600, 0x2640, 0x460B, 0x260A
	propInTable, propRowEnd, propDepth                    = 0x2416, 0x2417, 0x6649
	propInnerCell, propInnerRowEnd                        = 0x244B, 0x244C
	propElsewhere, propElsewhereOld, propTabs             = 0x6646, 0x6645, 0xC615
	propTable, propTableOld, propHeader                   = 0xD608, 0xD606, 0x3404
	propRowsMerged, propCellsMerged, propLook, propFormat = 0xD62B, 0x5624, 0x740A, 0xD670
)

// each calls visit with the properties of a list, as far as it is whole.
func each(list []byte, visit func(name int, value []byte)) {
	for len(list) >= 2 {
		name := u16(list, 0)
		list = list[2:]
		size := 0
		switch name >> 13 {
		case 0, 1:
			size = 1
		case 2, 4, 5:
			size = 2
		case 3:
			size = 4
		case 7:
			size = 3
		case 6:
			size = variable(name, list)
		}
		if size > len(list) {
			return
		}
		visit(name, list[:size])
		list = list[size:]
	}
}

// variable returns the size of a value that begins with its length.
func variable(name int, b []byte) int {
	switch {
	case len(b) < 2:
		return 1 + len(b)
	case name == propTable || name == propTableOld:
		return max(u16(b, 0)+1, 2)
	case name == propTabs && b[0] == 0xFF: // longer than a byte can say
		removed := int(b[1])
		if at := 2 + 4*removed; at < len(b) {
			return at + 1 + 3*int(b[at])
		}
		return len(b) + 1
	}
	return 1 + int(b[0])
}

// properties are those of a paragraph.
type properties struct {
	role
	inTable, rowEnd        bool
	innerCell, innerRowEnd bool
	depth                  int // of the table that it is in
	row                    rowFormat
}

// rowFormat is what the mark at the end of a row says of it.
type rowFormat struct {
	edges  []int // of its cells, in twentieths of a point
	merged []int // for each cell: the bits below
	header bool
	look   bool // the format of the table shows its first row as header
}

const (
	mergedLeft  = 1 // with the cell to the left
	mergedAbove = 2
)

// paragraph returns the properties of the paragraph that a place is in.
func (f *file) paragraph(place uint32) properties {
	in := f.paragraphs.at(place)
	p := properties{role: f.style(in.style).role}
	each(in.changes, func(name int, value []byte) { p.change(f, name, value) })
	if p.inTable && p.depth == 0 {
		p.depth = 1
	}
	return p
}

// change sets one property.
func (p *properties) change(f *file, name int, value []byte) {
	switch name {
	case propStyle:
		p.role = f.style(u16(value, 0)).role
	case propLevel, propList, propListLevel:
		p.role.change(name, value)
	case propInTable:
		p.inTable = value[0] != 0
	case propRowEnd:
		p.rowEnd = value[0] != 0
	case propDepth:
		p.depth = int(min(u32(value, 0), maxNested))
	case propInnerCell:
		p.innerCell = value[0] != 0
	case propInnerRowEnd:
		p.innerRowEnd = value[0] != 0
	default:
		p.row.change(name, value)
	}
}

// change sets one property of a row.
func (r *rowFormat) change(name int, value []byte) {
	const hasHeader = 0x20
	switch name {
	case propHeader:
		r.header = value[0] != 0
	case propLook:
		r.look = u16(value, 2)&hasHeader != 0
	case propTable:
		r.define(value[2:])
	case propRowsMerged: // a cell, and how
		if len(value) >= 3 && int(value[1]) < len(r.merged) && value[2] == 1 {
			r.merged[value[1]] |= mergedAbove
		}
	case propCellsMerged: // the first cell and the one behind the last
		for i := int(value[0]) + 1; i < min(int(value[1]), len(r.merged)); i++ {
			r.merged[i] |= mergedLeft
		}
	}
}

// define reads the cells of a row (MS-DOC, 2.9.325): their number, edges and formats.
func (r *rowFormat) define(b []byte) {
	const format = 20 // its size
	if len(b) == 0 {
		return
	}
	count := int(b[0])
	if len(b) < 1+2*(count+1) {
		return
	}
	r.edges, r.merged = make([]int, count+1), make([]int, count)
	for i := range r.edges {
		r.edges[i] = int(int16(u16(b, 1+2*i)))
	}
	formats := b[1+2*(count+1):]
	for i := 0; i < count && len(formats) >= (i+1)*format; i++ {
		flags := u16(formats, i*format)
		if flags&3 == 1 {
			r.merged[i] |= mergedLeft
		}
		if flags>>5&3 == 1 {
			r.merged[i] |= mergedAbove
		}
	}
}

// look is what is known of characters.
type look struct {
	deleted, hidden, special bool
	symbol                   rune
	pictured, data           bool   // there is a place of a picture, or else of what was filled in
	picture                  uint32 // that place, in the stream of data
}

// character returns the properties of characters in a stretch of the main stream, and in a piece.
func (f *file) character(in run, p *piece, paragraph int) (out look) {
	style := f.style(paragraph)
	base, hidden := style.hidden, -1
	for _, list := range [][]byte{in.changes, p.changes} {
		each(list, func(name int, value []byte) {
			switch name {
			case propDeleted:
				out.deleted = value[0] != 0
			case propHidden:
				hidden = int(value[0])
			case propSpecial:
				out.special = value[0] != 0
			case propSymbol:
				out.symbol = rune(u16(value, 2))
			case propPicture:
				out.pictured, out.picture = true, u32(value, 0)
			case propData:
				out.data = value[0] != 0
			case propCharStyle:
				base = base || f.style(u16(value, 0)).hidden
			}
		})
	}
	const asStyle, unlikeStyle = 0x80, 0x81
	switch hidden {
	case -1, asStyle:
		out.hidden = base
	case unlikeStyle:
		out.hidden = !base
	default:
		out.hidden = hidden != 0
	}
	return out
}
