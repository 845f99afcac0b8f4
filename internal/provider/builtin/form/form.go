// Package form fills a JSON Schema with what passages say: each member with the words that stand behind its name, with
// the figure, the date or the name that its schema asks for, or with the sentence that says most about it. What is
// required and not found gets a value that says nothing, so that the whole is always valid. It invents no text.
package form

import (
	"encoding/json"
	"regexp"
	"strings"

	"quarry/internal/provider/builtin/span"
)

// The bounds of filling a schema.
const (
	mostSteps   = 2000 // values begun
	mostMembers = 200  // members filled
	mostItems   = 5    // elements of an array
	deepest     = 8    // levels of objects and arrays
)

// Sentence is a sentence of a passage.
type Sentence struct {
	Text    string
	Passage int // which one it stands in, from 0
	N       int // by which that is cited; 0 for none
}

// Source is what values are made of.
type Source struct {
	Question string
	Answer   []Sentence        // that answer the question
	Fixed    map[string]string // values of members of the whole, by name
	Needed   bool              // only required members are filled

	// About finds the sentences that say most about a member with these words, best first: of one passage, or of all
	// for -1. Nil finds none.
	About func(words string, passage int) ([]Sentence, error)
}

// Readable reports whether a text is a schema that can be filled.
func Readable(schema json.RawMessage) bool { return parse(schema) != nil }

// Fill returns a value that the schema accepts; name and about are the name and the description of the whole. A schema
// that can't be read accepts anything.
func Fill(schema json.RawMessage, name, about string, from Source) (any, error) {
	f := filler{root: parse(schema), from: from, only: -1, patterns: map[string]*regexp.Regexp{}}
	out := f.value(f.root, place{name: name, about: about, must: true})
	return out, f.err
}

// Member returns a value for one property of a schema; see Fill.
func Member(schema json.RawMessage, name string, from Source) (any, error) {
	f := filler{root: parse(schema), from: from, only: -1, patterns: map[string]*regexp.Regexp{}}
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

// filler is the filling of one schema.
type filler struct {
	root     any
	from     Source
	only     int // the passage that values come from; -1 for all
	steps    int // values begun so far
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

// answer returns the answer to the question as one text.
func (f *filler) answer() string {
	texts := make([]string, len(f.from.Answer))
	for i, s := range f.from.Answer {
		texts[i] = s.Text
	}
	return strings.Join(texts, " ")
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
