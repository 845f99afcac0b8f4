// Package form fills a JSON Schema from passages: each member with the words after its name and a colon, with the number, date
// or name that its schema asks for, or with the sentence that says most about it. A required member that was not found gets a
// neutral value, so that the whole is always valid. It invents no text.
package form

import (
	"encoding/json"
	"regexp"
	"strings"

	"quarry/internal/provider/builtin/span"
)

// The bounds of filling a schema.
const (
	mostSteps   = 2000 // values started
	mostMembers = 200  // members filled
	mostItems   = 5    // elements of an array
	deepest     = 8    // levels of objects and arrays
)

// Sentence is a sentence of a passage.
type Sentence struct {
	Text    string
	Passage int // the index of its passage
	N       int // the number by which the passage is cited; 0 for none
}

// Source is what values are taken from.
type Source struct {
	Question string
	Answer   []Sentence        // the answer to the question
	Fixed    map[string]string // values of top-level members, by name
	Needed   bool              // only required members are filled

	// About returns the sentences that say most about a member with these words, best first: of one passage, or of all
	// for -1. Nil finds none.
	About func(words string, passage int) ([]Sentence, error)
}

// Readable reports whether a text is a schema that can be filled.
func Readable(schema json.RawMessage) bool { return parse(schema) != nil }

// Fill returns a value that the schema accepts; name and about are the name and the description of the whole. A schema
// that can't be read accepts anything.
func Fill(schema json.RawMessage, name, about string, from Source) (any, error) {
	f := newFiller(schema, from)
	out := f.value(f.root, place{name: name, about: about, must: true})
	return out, f.err
}

// Member returns a value for one property of a schema; see Fill.
func Member(schema json.RawMessage, name string, from Source) (any, error) {
	f := newFiller(schema, from)
	whole, _ := f.root.(map[string]any)
	properties, _ := whole["properties"].(map[string]any)
	out := f.value(properties[name], place{name: name, about: name, must: true})
	return out, f.err
}

// parse reads a JSON Schema; nil for none, or where it is not JSON.
func parse(raw json.RawMessage) any {
	var s any
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return s
}

func newFiller(schema json.RawMessage, from Source) *filler {
	return &filler{root: parse(schema), from: from, only: -1, patterns: map[string]*regexp.Regexp{}}
}

// filler fills one schema.
type filler struct {
	root     any
	from     Source
	only     int // the passage that values come from; -1 for all
	steps    int // values started so far
	members  int // filled so far
	patterns map[string]*regexp.Regexp
	err      error // of Source.About
}

// place is where a value stands.
type place struct {
	name  string // of its member
	about string // its description
	depth int
	must  bool // it has to be there, found or not
}

func (p place) words() string { return strings.Join(span.Words(p.name), " ") + " " + p.about }

// Join returns sentences as one text.
func Join(sentences []Sentence) string {
	texts := make([]string, len(sentences))
	for i, s := range sentences {
		texts[i] = s.Text
	}
	return strings.Join(texts, " ")
}

// orAbsent returns v if the place needs a value.
func (p place) orAbsent(v any) any {
	if p.must {
		return v
	}
	return absent{}
}

// best returns the sentences that say most about a member, best first.
func (f *filler) best(p place) []Sentence {
	if f.from.About == nil || f.err != nil {
		return nil
	}
	out, err := f.from.About(p.words(), f.only)
	f.err = err
	return out
}
