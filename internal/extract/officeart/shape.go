package officeart

import (
	"strings"

	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// Shape is what readers look at of a shape (MS-ODRAW, 2.2.14).
type Shape struct {
	ID          uint32
	Picture     uint32 // its number in the list of pictures, 0 for none
	Description string
	Hidden      bool
	Table       bool   // it stands for a group that is a table
	Anchor      []byte // where it is, in a form of the program's own
}

// ReadShape reads the records of a shape.
func ReadShape(b []byte) (s Shape) {
	Each(b, func(r Record) {
		switch r.Kind {
		case TypeShapeHead:
			const deleted = 8
			s.ID = u32(r.Body, 0)
			s.Hidden = s.Hidden || u32(r.Body, 4)&deleted != 0
		case typeOptions, typeOptions3:
			s.options(r)
		case typeClientAnchor:
			s.Anchor = r.Body
		}
	})
	return s
}

// options reads the properties of a shape (MS-ODRAW, 2.3.1): pairs of an id and a value, then the values that are long.
func (s *Shape) options(r Record) {
	const size, long, picture, description, table, flags = 6, 0x8000, 0x104, 0x381, 0x39F, 0x3BF
	rest := r.Body[min(size*r.Instance, len(r.Body)):]
	for b := r.Body[:len(r.Body)-len(rest)]; len(b) >= size; b = b[size:] {
		id, value := u16(b, 0), u32(b, 2)
		var text []byte
		if id&long != 0 {
			n := int(min(uint64(value), uint64(len(rest))))
			text, rest = rest[:n], rest[n:]
		}
		switch id & 0x3FFF {
		case picture:
			if id&long == 0 {
				s.Picture = value
			}
		case description:
			s.Description = outline.OneLine(strings.Trim(ole.UTF16(text), "\x00"))
		case table:
			s.Table = value&1 != 0
		case flags:
			const hidden = 2 | 2<<16 // and that this is said
			s.Hidden = s.Hidden || value&hidden == hidden
		}
	}
}

// maxNested bounds groups inside each other.
const maxNested = 50

// Pictures returns the shapes of a drawing that show a picture, in the order of the file. One in a group has the id and the anchor of
// the outermost group. Hidden shapes are left out.
func Pictures(drawing Record) (out []Shape) {
	if drawing.Kind != TypeDrawing {
		return nil
	}
	Each(drawing.Body, func(r Record) {
		if r.Kind == TypeGroup { // of all shapes; beside it stands the background
			out = append(out, pictures(r.Body, nil, 0)...)
		}
	})
	return out
}

// pictures returns those of a group, which stands inside another one, outer, unless that is nil. Its first shape stands for the group itself.
func pictures(b []byte, outer *Shape, depth int) (out []Shape) {
	if depth > maxNested {
		return nil
	}
	n, hidden := 0, false
	Each(b, func(r Record) {
		switch {
		case hidden:
		case r.Kind == TypeGroup:
			out = append(out, pictures(r.Body, outer, depth+1)...)
		case r.Kind == TypeShape:
			s := ReadShape(r.Body)
			if n++; n == 1 {
				hidden = s.Hidden
				if depth > 0 && outer == nil { // the group of all shapes is none to people
					outer = &s
				}
			}
			if outer != nil {
				s.ID, s.Anchor = outer.ID, outer.Anchor
			}
			if s.Picture != 0 && !s.Hidden {
				out = append(out, s)
			}
		}
	})
	return out
}
