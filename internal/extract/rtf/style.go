package rtf

import (
	"strconv"
	"strings"
)

// style is a style of paragraphs as the file declares it.
type style struct {
	name    string
	base    int // the style that it is based on, -1 if it is none
	outline int // level of headings from 0, 9 for text, -1 if it does not say
}

// role is what a paragraph is in the text.
type role struct {
	level                 int // of a heading, 1 to 9; 0 for body text
	title, caption, index bool
}

// maxBased bounds the chain of styles based on each other, which may be a cycle in a damaged file.
const maxBased = 20

// role returns what paragraphs of a style are: each property is that of the nearest style along the chain that has it.
func (r *reader) role(number int) role {
	var out role
	outline := -1
	for range maxBased {
		s, ok := r.styles[number]
		if !ok {
			break
		}
		if outline < 0 {
			outline = s.outline
		}
		if out == (role{}) {
			out = named(strings.ToLower(s.name))
		}
		number = s.base
	}
	if outline >= 0 && !out.title {
		out.level = (outline + 1) % 10
	}
	return out
}

// named returns what the name of a style that is built into programs says.
func named(name string) role {
	rest, heading := strings.CutPrefix(name, "heading ")
	if n, err := strconv.Atoi(rest); heading && err == nil && n >= 1 && n <= 9 {
		return role{level: n}
	}
	entry := strings.HasPrefix(name, "toc ") && name != "toc heading" || strings.HasPrefix(name, "contents ") && name != "contents heading"
	return role{title: name == "title", caption: name == "caption", index: entry}
}
