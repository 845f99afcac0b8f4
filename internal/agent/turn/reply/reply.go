// Package reply is what a language model says in one call: shown to the readers of a session as it comes, and then its events.
package reply

import (
	"strings"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// Reply is what the model has said in one call. It is for one goroutine.
type Reply struct {
	Answer   llm.Answer
	live     *feed.Live
	window   int // of the model
	thinking pieces
	text     pieces
	later    strings.Builder // thought behind the beginning of the text
	Hidden   bool            // the text is not shown while it comes
}

// pieces is a text as it comes, with the id of its event.
type pieces struct {
	id   id.Event
	text strings.Builder
	told int // bytes that the feed has
}

// New returns the reply of a model with a context of this many tokens, which readers are about to be shown.
func New(window int, hidden bool, live *feed.Live) *Reply {
	s := &Reply{window: window, Hidden: hidden, live: live}
	s.thinking.id, s.text.id = id.NewEvent(), id.NewEvent()
	live.Open(s.thinking.id, s.text.id)
	return s
}

// Text returns the text.
func (s *Reply) Text() string { return s.text.text.String() }

// Event returns the id of the event that the text will have.
func (s *Reply) Event() id.Event { return s.text.id }

// Spoken reports whether the text has a word.
func (s *Reply) Spoken() bool { return s.text.told > 0 }

// Thought reports whether the model has thought aloud before its text.
func (s *Reply) Thought() bool { return s.thinking.told > 0 }

// Hear takes a piece of the reply and shows it to the readers. Blanks before the first word of a text wait for it: a reply without a word is none.
func (s *Reply) Hear(e llm.Event) {
	switch {
	case e.Reasoning != "" && s.text.text.Len() > 0:
		s.later.WriteString(clean(e.Reasoning))
	case e.Reasoning != "":
		s.live.Think(s.thinking.add(clean(e.Reasoning)))
	case e.Text != "":
		more := s.text.add(clean(e.Text))
		if more != "" && !s.Hidden {
			s.live.Say(more)
		}
	}
}

// add appends to a text and returns what the feed has not been told of it, "" as long as there is no word.
func (p *pieces) add(s string) (untold string) {
	p.text.WriteString(s)
	if p.told == 0 && strings.TrimSpace(p.text.String()) == "" {
		return ""
	}
	untold = p.text.String()[p.told:]
	p.told = p.text.Len()
	return untold
}

// clean returns a text as the store keeps it, so that what is shown while it comes is what is stored.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Events returns what was said, without the calls. all is whether a text that was not shown while it came is among them.
func (s *Reply) Events(all bool) []session.Event {
	var out []session.Event
	if s.thinking.told > 0 {
		out = append(out, session.Event{ID: s.thinking.id, Type: session.Thinking, Body: session.Body{Text: s.thinking.text.String()}})
	}
	if s.text.told > 0 && (all || !s.Hidden) {
		out = append(out, session.Event{ID: s.text.id, Type: session.AgentOutput, Body: session.Body{Text: s.text.text.String()}})
	}
	if s.later.Len() > 0 {
		out = append(out, session.Event{ID: id.NewEvent(), Type: session.Thinking, Body: session.Body{Text: s.later.String()}})
	}
	return out
}

// Usage returns what the call took.
func (s *Reply) Usage() *session.Usage {
	u := s.Answer.Usage
	return &session.Usage{Input: u.Input, Cached: u.Cached, Output: u.Output, Reasoning: u.Reasoning, Window: int64(s.window)}
}
