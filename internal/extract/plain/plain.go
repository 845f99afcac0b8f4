// Package plain reads plain text into a document tree.
//
// Most text has no structure that a program can be sure of, and is one section, unchanged. Manual pages as the command man
// prints them have sections and options, which it recognises by their indentation; other texts may have headings that are underlined or
// numbered, or questions with answers.
// All functions are safe for concurrent use.
package plain

import (
	"strings"

	"quarry/internal/extract/outline"
)

// Read returns the document that a text in UTF-8 is. Form feeds end a page and a paragraph.
func Read(text string) (*outline.Document, error) {
	text = lineEnds.Replace(text)
	doc := &outline.Document{Metadata: map[string]any{}}
	if p, ok := manual(text); ok {
		return p.read(), nil
	}
	if d, ok := headed(text); ok {
		return d, nil
	}
	if strings.TrimSpace(text) != "" {
		doc.Sections = []outline.Section{{Text: strings.Trim(text, "\n")}}
	}
	return doc, nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\v", "\n")
