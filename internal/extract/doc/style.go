package doc

import (
	"strconv"
	"strings"

	"quarry/internal/extract/ole"
)

// role is what a style makes of a paragraph.
type role struct {
	style               int // its number
	level               int // of a heading, from 1; 0 for text
	title, caption, toc bool
	list, listLevel     int // the number of its list, from 1; 0 for none
}

// style is a style (MS-DOC, 2.9.260), once it is complete with those of the style that it is based on.
type style struct {
	role
	hidden bool // its characters
}

// Numbers of built-in styles.
const (
	styleHeading1, styleHeading9 = 1, 9
	styleTOC1, styleTOC9         = 19, 27
	styleCaption, styleTitle     = 34, 62
)

// maxBased bounds the chain of styles based on each other, which may be a circle in a damaged file.
const maxBased = 20

// style returns a style, an empty one if there is none with this number.
func (f *file) style(number int) style {
	if number < len(f.styles) {
		return f.styles[number]
	}
	return style{}
}

// raw is a style as the file has it.
type raw struct {
	builtin               int
	name                  string
	base                  int
	paragraph, characters []byte
}

// readStyles reads the styles.
func (f *file) readStyles() {
	b := f.part(partStyles)
	size := u16(b, 0)
	if len(b) < 2+size {
		return
	}
	count, fixed := u16(b, 2), u16(b, 4)
	b = b[2+size:]
	all := make([]raw, 0, min(count, len(b)/2))
	for range count {
		n := u16(b, 0)
		if len(b) < 2+n {
			break
		}
		all = append(all, readStyle(b[2:2+n], fixed))
		b = b[2+n:]
	}
	f.styles = make([]style, len(all))
	for i := range all {
		f.styles[i] = complete(all, i)
	}
}

// readStyle reads one style, whose fixed part has this size.
func readStyle(b []byte, fixed int) raw {
	const paragraph, character = 1, 2
	s := raw{builtin: u16(b, 0) & 0xFFF, base: u16(b, 2) >> 4}
	at := fixed + 2
	if name := slice(b, uint32(at), 2*uint32(u16(b, fixed))); name != nil {
		s.name = strings.ToLower(ole.UTF16(name))
		at += len(name)
	}
	at += 2 // the name ends with a zero
	next := func() []byte {
		out := slice(b, uint32(at+2), uint32(u16(b, at)))
		at += 2 + len(out)
		at += at & 1
		return out
	}
	switch u16(b, 2) & 0xF {
	case paragraph:
		if in := next(); len(in) >= 2 { // it begins with the style's own number
			s.paragraph = in[2:]
		}
		s.characters = next()
	case character:
		s.characters = next()
	}
	return s
}

// complete returns a style with what those that it is based on make of it: each property is that of the nearest one that has it.
func complete(all []raw, number int) (out style) {
	var chain []*raw
	for at := number; at < len(all) && len(chain) < maxBased; at = all[at].base {
		chain = append(chain, &all[at])
	}
	out.style = number
	for i := len(chain) - 1; i >= 0; i-- {
		s := chain[i]
		out.named(s)
		each(s.paragraph, func(name int, value []byte) { out.change(name, value) })
		each(s.characters, func(name int, value []byte) {
			if name == propHidden {
				out.hidden = value[0]&1 != 0
			}
		})
	}
	return out
}

// named sets what the name of a built-in style implies, which is English in every language of Word.
func (r *role) named(s *raw) {
	rest, heading := strings.CutPrefix(s.name, "heading ")
	n, err := strconv.Atoi(rest)
	switch {
	case s.builtin >= styleHeading1 && s.builtin <= styleHeading9:
		r.level = s.builtin
	case heading && err == nil && n >= 1 && n <= 9:
		r.level = n
	case s.builtin == styleTitle || s.name == "title":
		r.title = true
	case s.builtin == styleCaption || s.name == "caption":
		r.caption = true
	case s.builtin >= styleTOC1 && s.builtin <= styleTOC9 || strings.HasPrefix(s.name, "toc ") && s.name != "toc heading":
		r.toc = true
	}
}

// change sets one property of paragraphs.
func (r *role) change(name int, value []byte) {
	switch name {
	case propLevel:
		if !r.title {
			r.level = (int(value[0]) + 1) % 10 // 9 is body text
		}
	case propList:
		const last = 0x7FE // greater numbers are of other kinds of lists, or end one
		if r.list = u16(value, 0); r.list > last {
			r.list = 0
		}
	case propListLevel:
		r.listLevel = min(int(value[0]), maxLevels-1)
	}
}
