package query

import (
	"fmt"
	"io"
	"regexp"
	"strconv"

	"quarry/internal/cli/command"
)

// Passage is a passage that was found for an answer.
type Passage struct {
	Text       string         `json:"text"`
	DocumentID string         `json:"document_id"`
	CorpusKey  string         `json:"corpus_key"`
	Score      float64        `json:"score"`
	Document   map[string]any `json:"document_metadata"`
	Part       map[string]any `json:"part_metadata"`
}

var citation = regexp.MustCompile(`\[(\d+)\]`)

// Cited returns the numbers of the passages that a text cites.
func Cited(text string) map[int]bool {
	all := map[int]bool{}
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1]) // digits; too many of them name no passage
		all[n] = true
	}
	return all
}

// Shown is what Sources prints.
type Shown struct {
	All     bool // passages that are not cited, too
	Texts   bool // what they say
	Corpora bool // the corpora that they are in
}

// Sources lists the passages that a text cites and reports whether there are any.
func Sources(w io.Writer, text string, passages []Passage, s Shown) bool {
	cites := Cited(text)
	shown := 0
	for i, p := range passages {
		if !s.All && !cites[i+1] {
			continue
		}
		if shown++; shown == 1 {
			fmt.Fprintln(w, "\nSources")
		}
		name := p.DocumentID
		if s.Corpora {
			name = p.CorpusKey + ": " + name
		}
		name = command.Bold(w, command.Prose(name))
		if title := Title(p.Document, p.Part); title != "" {
			name += "  " + command.Prose(title)
		}
		command.WrapAfter(w, fmt.Sprintf("%4s ", fmt.Sprintf("[%d]", i+1)), fmt.Sprintf("%s  (%.3f)", name, p.Score))
		if s.Texts {
			command.Wrap(w, "     ", command.Prose(p.Text))
		}
	}
	return shown > 0
}
