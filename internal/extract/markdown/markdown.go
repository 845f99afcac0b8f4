// Package markdown reads Markdown (CommonMark with the tables, strikethrough
// and task lists of GitHub) into a document tree, with YAML front matter as
// metadata.
//
// It renders nothing: emphasis and link targets go, words stay. HTML inside is
// read by extract/html. Its caller is extract. Safe for concurrent use.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"quarry/internal/extract/outline"
)

// Read parses a document given in UTF-8.
func Read(source string) (*outline.Document, error) {
	meta, body := frontMatter(source)
	var b outline.Builder
	if hazardous(body) {
		plain(&b, body)
	} else {
		src := []byte(body)
		w := walker{out: &b, src: src}
		if err := w.blocks(parser.Parse(text.NewReader(src))); err != nil {
			return nil, err
		}
	}
	doc := &outline.Document{Metadata: meta, Sections: b.Sections()}
	doc.Title, _ = meta["title"].(string)
	if doc.Title == "" {
		doc.Title = b.Title()
	}
	if _, ok := meta["title"]; !ok && doc.Title != "" {
		meta["title"] = doc.Title
	}
	return doc, nil
}

// parser is safe for concurrent use once built.
var parser = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

// The parser's time grows with the square of the emphasis marks and brackets of
// one paragraph and of the containers that a line opens. Text beyond these
// limits is not written by people; it is read line by line instead.
const (
	maxMarks = 8_000
	maxDepth = 100
)

// hazardous reports whether source goes beyond the limits.
func hazardous(source string) bool {
	marks := 0
	for line := range strings.Lines(source) {
		trimmed := strings.TrimLeft(line, " \t")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(trimmed, "|") {
			marks = 0
		}
		for i := range len(line) {
			if strings.IndexByte("*_[]!<`~", line[i]) >= 0 {
				marks++
			}
		}
		lead := len(trimmed) - len(strings.TrimLeft(trimmed, "> \t-+*"))
		if marks > maxMarks || lead > maxDepth && strings.Trim(trimmed, "-* \t\r\n") != "" {
			return true
		}
		if len(line)-len(trimmed) > 4*maxDepth {
			return true
		}
	}
	return false
}

// plain reads headings and paragraphs without a parser.
func plain(b *outline.Builder, source string) {
	var lines []string
	end := func() {
		b.Paragraph(strings.Join(lines, "\n"))
		lines = lines[:0]
	}
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		rest := strings.TrimLeft(line, "#")
		level := len(line) - len(rest)
		switch {
		case line == "":
			end()
		case level >= 1 && level <= 6 && strings.HasPrefix(rest, " "):
			end()
			b.Heading(level, strings.TrimSpace(strings.TrimRight(rest, "# ")))
		default:
			lines = append(lines, line)
		}
	}
	end()
}
