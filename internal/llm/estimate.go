package llm

import "unicode/utf8"

// Estimate gives about how many tokens a text has: four characters of ASCII are taken for one token, every other
// character for one of its own. For the vocabularies of today that is rather too many than too few.
func Estimate(text string) int {
	var s size
	s.text(text)
	return int(s.tokens())
}

// size is how much text there is.
type size struct{ ascii, other, images int }

// Beside its text a message costs a few tokens for its frame, and an image about this many whatever is on it.
const (
	frameTokens = 4
	imageTokens = 1_000
)

func (s *size) text(t string) {
	total := utf8.RuneCountInString(t)
	ascii := 0
	for i := range len(t) {
		if t[i] < utf8.RuneSelf {
			ascii++
		}
	}
	s.ascii += ascii
	s.other += total - ascii
}

func (s *size) event(e Event) {
	s.text(e.Text)
	s.text(e.Reasoning)
	if e.Call != nil {
		s.call(*e.Call)
	}
}

func (s *size) call(c ToolCall) {
	s.text(c.Name)
	s.text(string(c.Arguments))
}

func (s *size) tokens() int64 { return int64((s.ascii+3)/4 + s.other + s.images*imageTokens) }

// size is how much a model has to read for a call.
func (r *Request) size() *size {
	var s size
	for _, m := range r.Messages {
		s.ascii += 4 * frameTokens
		s.text(m.Reasoning)
		for _, p := range m.Parts {
			s.text(p.Text)
			if p.Image != nil {
				s.images++
			}
		}
		for _, c := range m.Calls {
			s.call(c)
		}
	}
	for _, t := range r.Tools {
		s.text(t.Name)
		s.text(t.Description)
		s.text(string(t.Parameters))
	}
	if r.Format != nil {
		s.text(string(r.Format.Schema))
	}
	return &s
}
