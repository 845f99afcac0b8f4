package rtf

import (
	"bytes"
	"strings"

	"quarry/internal/extract/html"
)

// encapsulates reports whether a document is a page of HTML that was written as RTF, as mail of Outlook is (MS-OXRTFEX).
func encapsulates(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 512)], []byte(`\fromhtml`))
}

// readPage adds the content of the page in a document: its tags stand in groups that say so, and what is there for readers of RTF alone is marked.
func (r *reader) readPage() error {
	page := &strings.Builder{}
	r.markup, r.state.place, r.state.text = true, capture, page
	if err := r.read(); err != nil {
		return err
	}
	return html.AppendPage(r.out, page.String())
}

// tag follows a word about the page in a document, and reports whether it is one.
func (r *reader) tag(t *token) bool {
	switch t.name {
	case "htmltag": // the text of the group is markup
	case "htmlrtf":
		r.state.aside = !t.off()
	case "par", "line":
		r.write("\n")
	case "tab":
		r.write("\t")
	default:
		return false
	}
	return true
}
