package llmtest

import (
	"testing"
	"time"

	"quarry/internal/llm"
	"quarry/internal/provider/scripted"
)

// partial proves what becomes of answers that were cut off or refused, for callers that pass them on (llm.Request.Partial)
// and for those that need the whole.
func (a Adapter) partial(t *testing.T) {
	form := []string{`{"holds":`, `true,"w`}
	for _, c := range []struct {
		name    string
		reply   scripted.Reply
		format  *llm.Format
		want    llm.Answer  // with Partial
		failure llm.Failure // without
	}{
		{"a schema", scripted.Reply{Pieces: form, Stop: scripted.Length}, format(), llm.Answer{Text: `{"holds":true,"w`, Reason: llm.Length}, llm.Truncated},
		{"any object", scripted.Reply{Pieces: form, Stop: scripted.Length}, &llm.Format{Type: "json_object"}, llm.Answer{Text: `{"holds":true,"w`, Reason: llm.Length}, llm.Truncated},
		{"nothing of a schema", scripted.Reply{Stop: scripted.Length}, format(), llm.Answer{Reason: llm.Length}, llm.Truncated},
		{"nothing of a text", scripted.Reply{Stop: scripted.Length}, nil, llm.Answer{Reason: llm.Length}, llm.Empty},
		{"thoughts alone", scripted.Reply{Reasoning: "Gravity pulls.", Stop: scripted.Length}, nil, llm.Answer{Reason: llm.Length}, llm.Empty},
		{"refused", scripted.Reply{Refusal: "I would rather not."}, format(), llm.Answer{Reason: llm.Refused}, llm.Declined},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := a.open(t, scripted.Start(t, c.reply, c.reply), nil)
			r := question()
			r.Format, r.Partial = c.format, true
			answer, _ := must(t, p, r)
			if answer.Text != c.want.Text || answer.Reason != c.want.Reason || len(answer.Calls) > 0 || answer.Usage.Input <= 0 {
				t.Errorf("passed on, it is %+v, want %+v", answer, c.want)
			}
			r.Partial = false
			_, _, err := run(t, p, r)
			a.failed(t, err, c.failure)
		})
	}
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		r := question()
		r.Format, r.Partial = &llm.Format{Type: "json_object"}, true
		_, _, err := run(t, a.open(t, scripted.Start(t, scripted.Reply{Fault: scripted.Nothing}), nil), r)
		a.failed(t, err, llm.Empty)
	})
}

// again proves that a connection serves the next call once an answer is complete, though the response ends a little later
// than its last event. One that takes long to end is given up instead, so on a busy machine not every pair of calls shares
// theirs.
func (a Adapter) again(t *testing.T) {
	t.Parallel()
	const most = 50
	s := scripted.Start(t)
	p := a.open(t, s, nil)
	for range most {
		s.Then(scripted.Reply{Text: "So.", Trail: 4 * time.Millisecond})
		must(t, p, question())
		var calls []*scripted.Request
		for _, r := range s.Requests() {
			if r.Model != "" { // not one for a token
				calls = append(calls, r)
			}
		}
		if n := len(calls); n > 1 && calls[n-2].From == calls[n-1].From {
			return
		}
	}
	t.Errorf("none of %d calls used the connection of the one before", most)
}
