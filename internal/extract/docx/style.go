package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
)

// role is the role of a paragraph in the text.
type role struct {
	level   int // of a heading, 1 to 9; 0 for body text
	title   bool
	caption bool
	toc     bool   // a line of a table of contents
	numID   string // of its list, "" or "0" if it is in none
	numLvl  int
	hidden  bool
}

// style is one paragraph style as the file declares it.
type style struct {
	role
	name    string
	basedOn string
	outline int // level 0 to 9, -1 if not declared
}

// sheet holds the styles of a document.
type sheet struct {
	styles   map[string]*style // by id
	standard string            // id of the default paragraph style
}

func readStyles(a *archive.Archive, name string) (*sheet, error) {
	s := &sheet{styles: map[string]*style{}}
	return s, a.Each(name, func(x *archive.XML, e xml.StartElement) {
		if e.Name.Local != "style" {
			return
		}
		one := &style{outline: -1}
		kind, id := archive.Attr(e, "type"), archive.Attr(e, "styleId")
		first := truth(archive.Attr(e, "default"), false)
		x.Each(func(e xml.StartElement) {
			value := archive.Attr(e, "val")
			switch e.Name.Local {
			case "name":
				one.name = strings.ToLower(value)
			case "basedOn":
				one.basedOn = value
			case "outlineLvl":
				one.outline = number(value, 9)
			case "numId":
				one.numID = value
			case "ilvl":
				one.numLvl = number(value, 0)
			case "vanish":
				one.hidden = truth(value, true)
			}
		})
		if id != "" {
			s.styles[id] = one
		}
		if first && kind == "paragraph" {
			s.standard = id
		}
	})
}

// maxBased bounds the chain of styles based on each other, which may be a cycle in a damaged file.
const maxBased = 20

// role returns the role of paragraphs in a style: each property is that of the nearest style along the chain of basedOn
// that declares it. Built-in styles are recognised by name, which is English in every language of Word; their ids are
// translated.
func (s *sheet) role(id string) role {
	if id == "" {
		id = s.standard
	}
	var r role
	outline := -1
	levelled := false
	for n := 0; id != "" && n < maxBased; n++ {
		st := s.styles[id]
		if st == nil {
			if n == 0 {
				r.name(strings.ToLower(id))
			}
			break
		}
		if outline < 0 {
			outline = st.outline
		}
		if !levelled {
			r.name(st.name)
			levelled = r.level > 0
		}
		if r.numID == "" {
			r.numID, r.numLvl = st.numID, st.numLvl
		}
		if n == 0 {
			r.hidden = st.hidden
		}
		id = st.basedOn
	}
	if outline >= 0 && !r.title {
		r.level = (outline + 1) % 10 // outline level 9 is body text
	}
	return r
}

// name sets what the name of a built-in style implies.
func (r *role) name(name string) {
	rest, heading := strings.CutPrefix(name, "heading")
	if n, err := strconv.Atoi(strings.TrimSpace(rest)); heading && err == nil && n >= 1 && n <= 9 {
		r.level = n
	}
	r.title = r.title || name == "title"
	r.caption = r.caption || name == "caption"
	if rest, ok := strings.CutPrefix(name, "toc "); ok && rest != "heading" {
		r.toc = true
	}
}

// number parses a numeric attribute; it returns other if s is not a number in range.
func number(s string, other int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<20 {
		return other
	}
	return n
}

// truth parses an on-off attribute (ST_OnOff); absent is its value if there is none.
func truth(s string, absent bool) bool {
	switch s {
	case "":
		return absent
	case "0", "false", "off", "none":
		return false
	}
	return true
}
