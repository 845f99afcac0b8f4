package plain

import (
	"strings"
	"unicode"

	"quarry/internal/extract/outline"
)

// fullBlock is from how many bytes a block of code is not continued by the next one.
const fullBlock = 600

// ReadCode returns the document that source code in UTF-8 is: one section without a heading, all of it code. What is set off by blank lines
// and begins at the margin, such as a function with the comment above it, is a piece; short ones that follow each other are one.
func ReadCode(text string) (*outline.Document, error) {
	text = strings.Trim(lineEnds.Replace(text), "\n")
	doc := &outline.Document{Metadata: map[string]any{}}
	if strings.TrimSpace(text) == "" {
		return doc, nil
	}
	s := outline.Section{Text: text}
	start, at, blank := 0, 0, false
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimRightFunc(line, unicode.IsSpace); {
		case trimmed == "":
			blank = true
		case blank && begins(trimmed) && at-start >= fullBlock:
			s.Code = append(s.Code, outline.Range{Start: start, End: at})
			start, blank = at, false
		default:
			blank = false
		}
		at += len(line)
	}
	s.Code = append(s.Code, outline.Range{Start: start, End: len(text)})
	doc.Sections = []outline.Section{s}
	return doc, nil
}

// begins reports whether a line at the margin begins something: it doesn't close what stands above it.
func begins(line string) bool {
	return !unicode.IsSpace(rune(line[0])) && !strings.ContainsRune(")]}", rune(line[0]))
}
