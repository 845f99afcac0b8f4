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

// window returns the parts to read. With around, it holds the neighbours of what is shown, too.
func (c Context) window(around bool) document.Window {
	w := document.Window{Before: c.before().parts(), After: c.after().parts(), Whole: c.Whole}
	if around {
		w.Before, w.After = w.Before+1, w.After+1
	}
	return w
}

// shown is the text of a result: the context before the part, the part, and the context after it, with the white space of the
// document.
type shown struct {
	before, part, after string
	previous, next      string // the sentences on either side of all that, "" at the end of a section and where they were not read
	unmarked            bool   // it is another text than that of the part
}

// text returns a text with the marks of c around the part.
func (c Context) text(s shown) string {
	if s.unmarked {
		return s.plain()
	}
	return s.before + c.StartTag + s.part + c.EndTag + s.after
}

// plain returns a text without marks.
func (s *shown) plain() string { return s.before + s.part + s.after }

// show returns the text of the part at a place of a run of parts. A part with a context of its own takes its surroundings from
// there.
func (c Context) show(parts []document.Part, at int) shown {
	part := &parts[at]
	if part.Context != "" && !c.Whole {
		return c.own(part)
	}
	var before, after stretch
	for i := range at {
		before.add(parts[i].Text, parts[i].IsTitle)
		before.text.WriteString(document.Between(&parts[i], &parts[i+1]))
	}
	for i, p := range parts[at+1:] {
		after.text.WriteString(document.Between(&parts[at+i], &p))
		after.add(p.Text, p.IsTitle)
	}
	if c.Whole {
		return shown{before: before.text.String(), part: part.Text, after: after.text.String()}
	}
	return c.within(&before, part.Text, &after)
}

// own returns the text of a part with surroundings from the context that the client sent with it, or all of that context if it
// does not contain the part.
func (c Context) own(p *document.Part) shown {
	i := strings.Index(p.Context, p.Text)
	if i < 0 || p.Text == "" {
		if c.before() == (reach{}) && c.after() == (reach{}) {
			return shown{part: p.Text}
		}
		return shown{part: p.Context, unmarked: true}
	}
	var before, after stretch
	before.add(p.Context[:i], false)
	after.add(p.Context[i+len(p.Text):], false)
	return c.within(&before, p.Text, &after)
}

// within returns a part with as much of what is around it as c asks for.
func (c Context) within(before *stretch, part string, after *stretch) shown {
	first, last := before.first(c.before()), after.last(c.after())
	s := shown{part: part, previous: before.sentence(first - 1), next: after.sentence(last + 1)}
	if first < len(before.spans) {
		s.before = before.text.String()[before.spans[first].Start:]
	}
	if last >= 0 {
		s.after = after.text.String()[:after.spans[last].End]
	}
	return s
}

// stretch is the text on one side of a part, with its sentences. The end of a part ends a sentence, even without a full
// stop: titles have none.
type stretch struct {
	text  strings.Builder
	spans []told
}

// told is a sentence of a stretch.
type told struct {
	sentence.Span
	title bool
}

func (s *stretch) add(part string, title bool) {
	offset := s.text.Len()
	s.text.WriteString(part)
	for _, x := range sentence.Split(part) {
		s.spans = append(s.spans, told{sentence.Span{Start: offset + x.Start, End: offset + x.End}, title})
	}
}

// sentence returns the sentence number i, "" for none and for a title.
func (s *stretch) sentence(i int) string {
	if i < 0 || i >= len(s.spans) || s.spans[i].title {
		return ""
	}
	return s.text.String()[s.spans[i].Start:s.spans[i].End]
}

// first returns the first of the last sentences within r, the number of sentences if there are none.
func (s *stretch) first(r reach) int {
	n, characters := len(s.spans), 0
	if r == (reach{}) {
		return n
	}
	for i := n - 1; i > 0; i-- {
		characters += utf8.RuneCountInString(s.text.String()[s.spans[i].Start:s.spans[i].End])
		if r.enough(n-i, characters) {
			return i
		}
	}
	return 0
}

// last returns the last of the first sentences within r, -1 if there are none.
func (s *stretch) last(r reach) int {
	if r == (reach{}) {
		return -1
	}
	characters := 0
	for i, x := range s.spans {
		characters += utf8.RuneCountInString(s.text.String()[x.Start:x.End])
		if r.enough(i+1, characters) {
			return i
		}
	}
	return len(s.spans) - 1
}

func (r reach) enough(sentences, characters int) bool {
	if r.sentences > 0 {
		return sentences >= r.sentences
	}
	return characters >= r.characters
}
