package retrieve

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/corpus/document"
	"quarry/internal/text/sentence"
)

// Context is how much of its surroundings the text of a result shows, and how the match itself is marked.
type Context struct {
	SentencesBefore, SentencesAfter   int
	CharactersBefore, CharactersAfter int // used only when no sentence count is set; extended to whole sentences
	StartTag, EndTag                  string
	Whole                             bool // the text of the entire document
}

// reach is one direction of a Context: so many sentences, or so many characters extended to whole sentences.
type reach struct{ sentences, characters int }

func (c Context) before() reach { return c.reach(c.SentencesBefore, c.CharactersBefore) }
func (c Context) after() reach  { return c.reach(c.SentencesAfter, c.CharactersAfter) }

func (c Context) reach(sentences, characters int) reach {
	if c.SentencesBefore > 0 || c.SentencesAfter > 0 {
		return reach{sentences: sentences}
	}
	return reach{characters: characters}
}

// parts returns how many parts to read in this direction. Every part holds at least one sentence; for characters it
// assumes ten per part, which is too few only for a run of shorter parts.
func (r reach) parts() int {
	if r.sentences > 0 {
		return r.sentences
	}
	if r.characters > 0 {
		return 4 + r.characters/10
	}
	return 0
}

func (c Context) window() document.Window {
	return document.Window{Before: c.before().parts(), After: c.after().parts(), Whole: c.Whole}
}

// text returns the context before, start tag, part, end tag and context after, with the white space of the document. A part
// with a context of its own takes its surroundings from there.
func (c Context) text(parts []document.Part, at int) string {
	part := &parts[at]
	if part.Context != "" && !c.Whole {
		return c.ownContext(part)
	}
	var before, after stretch
	for i := range at {
		before.add(parts[i].Text)
		before.text.WriteString(document.Between(&parts[i], &parts[i+1]))
	}
	for i, p := range parts[at+1:] {
		after.text.WriteString(document.Between(&parts[at+i], &p))
		after.add(p.Text)
	}
	if c.Whole {
		return before.text.String() + c.StartTag + part.Text + c.EndTag + after.text.String()
	}
	return before.end(c.before()) + c.StartTag + part.Text + c.EndTag + after.start(c.after())
}

// ownContext returns the text of a part with surroundings from the context that the client sent with it, or all of that
// context if it does not contain the part.
func (c Context) ownContext(p *document.Part) string {
	if c.before() == (reach{}) && c.after() == (reach{}) {
		return c.StartTag + p.Text + c.EndTag
	}
	i := strings.Index(p.Context, p.Text)
	if i < 0 || p.Text == "" {
		return p.Context
	}
	var before, after stretch
	before.add(p.Context[:i])
	after.add(p.Context[i+len(p.Text):])
	return before.end(c.before()) + c.StartTag + p.Text + c.EndTag + after.start(c.after())
}

// stretch is the text on one side of a part, with its sentences. The end of a part ends a sentence, even without a full
// stop: titles have none.
type stretch struct {
	text  strings.Builder
	spans []sentence.Span
}

func (s *stretch) add(part string) {
	offset := s.text.Len()
	s.text.WriteString(part)
	for _, x := range sentence.Split(part) {
		s.spans = append(s.spans, sentence.Span{Start: offset + x.Start, End: offset + x.End})
	}
}

// end returns the last sentences within r, with the white space up to the end of the text.
func (s *stretch) end(r reach) string {
	if r == (reach{}) || len(s.spans) == 0 {
		return ""
	}
	text, characters := s.text.String(), 0
	for i := len(s.spans) - 1; i > 0; i-- {
		x := s.spans[i]
		characters += utf8.RuneCountInString(text[x.Start:x.End])
		if r.enough(len(s.spans)-i, characters) {
			return text[x.Start:]
		}
	}
	return text[s.spans[0].Start:]
}

// start returns the first sentences within r, with the white space from the start of the text.
func (s *stretch) start(r reach) string {
	if r == (reach{}) || len(s.spans) == 0 {
		return ""
	}
	text, characters := s.text.String(), 0
	for i, x := range s.spans {
		characters += utf8.RuneCountInString(text[x.Start:x.End])
		if r.enough(i+1, characters) {
			return text[:x.End]
		}
	}
	return text[:s.spans[len(s.spans)-1].End]
}

func (r reach) enough(sentences, characters int) bool {
	if r.sentences > 0 {
		return sentences >= r.sentences
	}
	return characters >= r.characters
}
