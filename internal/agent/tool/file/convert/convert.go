// Package convert writes documents that were read from files, as texts in Markdown and as structured documents in the contract's
// shape.
package convert

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
)

// maxLevel is the deepest heading of Markdown.
const maxLevel = 6

// Markdown returns a document as text: sections below their headings, tables as tables.
func Markdown(d *draft.Structured) string {
	var w writer
	level := 1
	if d.Title != "" && !d.TitleInText {
		w.heading(level, d.Title)
		level++
	}
	w.sections(d.Sections, level)
	return w.String()
}

// writer writes blocks with blank lines between them.
type writer struct{ strings.Builder }

func (w *writer) block(text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) == "" {
		return
	}
	if w.Len() > 0 {
		w.WriteString("\n")
	}
	w.WriteString(text + "\n")
}

func (w *writer) heading(level int, title string) {
	if title = strings.Join(strings.Fields(title), " "); title != "" {
		w.block(strings.Repeat("#", min(level, maxLevel)) + " " + title)
	}
}

func (w *writer) sections(all []draft.Section, level int) {
	for i := range all {
		s := &all[i]
		w.heading(level, s.Title)
		w.block(escape(s.Text))
		for j := range s.Tables {
			w.block(escape(s.Tables[j].Title))
			w.block(s.Tables[j].Markdown())
		}
		below := level + 1
		if s.Title == "" {
			below = level
		}
		w.sections(s.Sections, below)
	}
}

// structural matches lines of a text that Markdown would take for a heading.
var structural = regexp.MustCompile(`(?m)^( {0,3})(#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$)`)

// escape returns a text in which no line is a heading.
func escape(text string) string { return structural.ReplaceAllString(text, `$1\$2`) }

// The shape of a structured document; contract: Structured documents.
type (
	structured struct {
		Type     string          `json:"type"`
		ID       string          `json:"id"`
		Title    string          `json:"title,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
		Sections []section       `json:"sections"`
	}
	section struct {
		Title    string           `json:"title,omitempty"`
		Text     string           `json:"text,omitempty"`
		Metadata json.RawMessage  `json:"metadata,omitempty"`
		Tables   []document.Table `json:"tables,omitempty"`
		Sections []section        `json:"sections,omitempty"`
	}
)

// Structured returns a document, which has a section, as createCorpusDocument takes it. The metadata of a section is the page on
// which it begins. Where code is, it has no place for.
func Structured(d *draft.Structured) (json.RawMessage, error) {
	out := structured{Type: "structured", ID: d.ID, Title: d.Title, Metadata: d.Extracted, Sections: sections(d.Sections)}
	if first := &out.Sections[0]; d.TitleInText && (first.Text != "" || len(first.Tables)+len(first.Sections) > 0) {
		first.Title = "" // it would be searchable twice
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return b.Bytes(), err
}

func sections(all []draft.Section) []section {
	out := make([]section, len(all))
	for i := range all {
		s := &all[i]
		out[i] = section{Title: s.Title, Text: s.Text, Tables: s.Tables, Sections: sections(s.Sections)}
		if s.Page > 0 {
			out[i].Metadata = json.RawMessage(`{"page":` + strconv.Itoa(s.Page) + `}`)
		}
	}
	return out
}
