// Package markdown reads Markdown (GitHub Flavored Markdown, a superset of CommonMark) into a document tree, with YAML
// front matter as metadata.
//
// It keeps the text and drops emphasis and link targets, and the marks of boxes, roles and attributes that tools for documentation add. Embedded HTML is read by package extract/html. All functions are
// safe for concurrent use.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"quarry/internal/extract/outline"
)

// Read parses a document in UTF-8.
func Read(source string, o outline.Options) (*outline.Document, error) {
	meta, body := frontMatter(source)
	b := outline.Builder{Options: o}
	if hazardous(body) {
		plain(&b, body)
	} else {
		w := walker{out: &b, src: []byte(unbox(body))}
		if err := w.read(); err != nil {
			return nil, err
		}
	}
	doc := b.Document(meta)
	if _, ok := meta["title"]; !ok && doc.Title != "" {
		meta["title"] = doc.Title
	}
	return doc, nil
}

// read parses the source and adds what is in it.
func (w *walker) read() error { return w.blocks(parser.Parse(text.NewReader(w.src))) }

// parser is safe for concurrent use.
var parser = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

// The parser's time is quadratic in the number of emphasis marks and brackets of a paragraph, and in that of the
// containers that a line opens. Text beyond these limits is not written by people, and is read without the parser.
const (
	maxMarks = 8_000
	maxDepth = 100
)

// hazardous reports whether source exceeds the limits.
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
		if marks > maxMarks || containers(trimmed) > maxDepth {
			return true
		}
		if len(line)-len(trimmed) > 4*maxDepth {
			return true
		}
	}
	return false
}

// containers counts the quotations and list items that a line opens. A bullet needs white space behind it, so the border of a
// table drawn with + and - opens none, and neither does a line of bullets alone, which is a thematic break.
func containers(line string) (n int) {
	if strings.Trim(line, "-* \t\r\n") == "" {
		return 0
	}
	for i := range len(line) {
		switch line[i] {
		case ' ', '\t':
		case '>':
			n++
		case '-', '+', '*':
			if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
				return n
			}
			n++
		default:
			return n
		}
	}
	return n
}

// plain reads headings and paragraphs line by line, without the parser.
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
