package odf

import (
	"encoding/xml"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/numeral"
)

// style is what counts of a style of text, tables or slides.
type style struct {
	parent string
	hidden bool
}

// list is what a style of lists has at each of its levels, from 1.
type list map[int]level

// level is how items of a list begin: with a bullet, or with a number in a format such as "1" or "a".
type level struct {
	format, prefix, suffix string
	start                  int
}

// style reads a style of the document.
func (r *reader) style(x *archive.XML, e xml.StartElement) {
	switch e.Name.Local {
	case "style":
		s := style{parent: archive.Attr(e, "parent-style-name")}
		name := archive.Attr(e, "name")
		x.Each(func(e xml.StartElement) {
			for _, a := range e.Attr {
				switch {
				case a.Name.Local == "display" && (a.Value == "none" || a.Value == "false"), a.Name.Local == "visibility" && a.Value == "hidden":
					s.hidden = true
				}
			}
		})
		r.styles[name] = s
	case "list-style":
		l := list{}
		x.Each(func(e xml.StartElement) {
			if at, err := strconv.Atoi(archive.Attr(e, "level")); err == nil && strings.HasPrefix(e.Name.Local, "list-level-style-") {
				l[at] = readLevel(e)
			}
		})
		r.lists[archive.Attr(e, "name")] = l
	case "body":
		x.Stop()
	}
}

func readLevel(e xml.StartElement) level {
	if e.Name.Local != "list-level-style-number" {
		return level{}
	}
	start, err := strconv.Atoi(archive.Attr(e, "start-value"))
	if err != nil {
		start = 1
	}
	return level{archive.Attr(e, "num-format"), archive.Attr(e, "num-prefix"), archive.Attr(e, "num-suffix"), start}
}

// maxParents bounds the inheritance of styles, which may be circular.
const maxParents = 20

// based reports whether a style is one of this name, or inherits from it.
func (r *reader) based(name, ancestor string) bool {
	for range maxParents {
		if name == ancestor {
			return true
		}
		name = r.styles[name].parent
	}
	return false
}

// hidden reports whether a style hides what has it.
func (r *reader) hidden(name string) bool { return r.styles[name].hidden }

// mark returns what an item begins with that has the given number.
func (l level) mark(n int) string {
	switch l.format {
	case "":
		return "-"
	case "a", "A":
		if n < 1 || n > 26 {
			break
		}
		return l.prefix + string(rune(l.format[0])+rune(n-1)) + l.suffix
	case "i":
		return l.prefix + strings.ToLower(numeral.Roman(n)) + l.suffix
	case "I":
		return l.prefix + numeral.Roman(n) + l.suffix
	}
	return l.prefix + strconv.Itoa(n) + l.suffix
}
