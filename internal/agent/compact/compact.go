// Package compact sums up what was said in a session: which events go, what the model that writes the summary reads of them, and
// the event that takes their place. How a compaction is asked for, written and recovered is in docs/design/agent-turn.md.
package compact

import (
	"slices"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/transcript"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// MaxMessage is how many characters the guidance of a summary has at most.
const MaxMessage = 10_000

// The fields of a request for a compaction, as faults name them.
const (
	AnchorField  = "compact_up_to_event_id"
	MessageField = "compaction_message"
)

// Due reports whether a session is to be summed up whose next call of the model takes so many tokens of its context.
func Due(c *agent.Compaction, tokens, context int) bool {
	return c.Enabled && context > 0 && tokens*100 >= c.Threshold*context
}

// Old returns those of the visible events of a session that are summed up if the last turns are kept; none if there are no
// more turns than that.
func Old(events []session.Event, keep int) []session.Event {
	turns := turnsOf(events)
	if keep = max(keep, 1); len(turns) <= keep {
		return nil
	}
	first := turns[len(turns)-keep]
	return pick(events, func(e *session.Event) bool { return e.Turn < first })
}

// UpTo returns those of the visible events of a session that are summed up with an anchor as the last one; none if that leaves
// nothing but a summary. An anchor that is not among the events is a fault.
func UpTo(events []session.Event, anchor id.Event) ([]session.Event, error) {
	at := slices.IndexFunc(events, func(e session.Event) bool { return e.ID == anchor })
	if at < 0 {
		return nil, NoAnchor(anchor)
	}
	return pick(events, func(e *session.Event) bool { return e.Ord <= events[at].Ord }), nil
}

// Wanted returns the events that a request sums up, and sets how to what it asks for. That there are none is a fault.
func Wanted(events []session.Event, w *session.Wish, how *agent.Compaction) (gone []session.Event, err error) {
	keep := 0
	if w.UpTo != "" {
		gone, err = UpTo(events, w.UpTo)
	} else {
		keep = max(how.KeepInputs, 1)
		gone = Old(events, keep)
	}
	if err == nil && len(gone) == 0 {
		err = nothing(keep)
	}
	if w.Message != "" {
		how.Message = w.Message
	}
	return gone, err
}

// Tokens returns about how many tokens the next call of the model takes: what the last one has taken, and what came since, unless
// events were hidden, shown or deleted since then. edits is of the session, as its visible events were read. A call that the model
// is not sent because it has more than context counts as estimated, whatever the provider has counted.
func Tokens(s *session.Session, events []session.Event, edits int64, next *llm.Request, context int) int {
	u, at := s.Usage, s.Measured
	estimate := next.Tokens() * 3 / 4 // the full one is too high by up to a third
	if u == nil || u.Input == 0 || at.Edits != edits || estimate > context {
		return estimate
	}
	return int(u.Input+u.Output) + llm.MessageTokens(transcript.Since(events, at.Ord)...)*3/4
}

// NoAnchor returns the fault of an anchor that is not among the visible events of a session.
func NoAnchor(anchor id.Event) error {
	return fault.InvalidField(AnchorField, "is %s, which is not among the visible events of this session", anchor)
}

// nothing returns the fault of a session in which nothing can be summed up; keep is 0 with an anchor.
func nothing(keep int) error {
	f := fault.Invalid()
	f.Text = "there is nothing to sum up: unless the last event to sum up is named, a session needs more turns than the last ones that are kept"
	if keep > 0 {
		return f
	}
	f.Text = "there is nothing to sum up before that event but an earlier summary, or a call that waits for its output"
	return f
}

// turnsOf returns the numbers of the turns that events are of, ascending. Summaries are of none.
func turnsOf(events []session.Event) (turns []int64) {
	for i := range events {
		if events[i].Type != session.Compaction {
			turns = append(turns, events[i].Turn)
		}
	}
	slices.Sort(turns)
	return slices.Compact(turns)
}

// pick returns the events that a rule selects, with all summaries, so that an output stays with its call and a call of the last turn
// without an output stays where it is.
func pick(events []session.Event, selected func(*session.Event) bool) []session.Event {
	answered, gone := map[string]bool{}, map[string]bool{}
	last := int64(0)
	for i := range events {
		e := &events[i]
		answered[e.CallID] = answered[e.CallID] || answers(e)
		if e.Type != session.Compaction {
			last = max(last, e.Turn)
		}
	}
	var out []session.Event
	for i := range events {
		e := &events[i]
		goes := selected(e) || e.Type == session.Compaction
		switch {
		case e.Type == session.ToolInput:
			goes = goes && (e.Turn < last || answered[e.CallID])
			gone[e.CallID] = goes
		case answers(e):
			goes = goes || gone[e.CallID]
		}
		if goes {
			out = append(out, *e)
		}
	}
	if len(turnsOf(out)) == 0 {
		return nil
	}
	return out
}

// answers reports whether an event closes a call.
func answers(e *session.Event) bool { return e.CallID != "" && e.Type != session.ToolInput }

// Event returns the event that takes the place of others.
func Event(e id.Event, text string, gone []session.Event) session.Event {
	return session.Event{ID: e, Type: session.Compaction, Body: session.Body{
		Text: text, Summed: &session.Summed{Turns: len(turnsOf(gone)), Events: len(gone), Key: id.NewSummary()},
	}}
}

// Commit returns what puts an event with a summary in the place of others.
func Commit(e id.Event, text string, gone []session.Event) session.Commit {
	return session.Commit{Events: []session.Event{Event(e, text, gone)}, Hide: Spans(gone)}
}

// Spans returns where events stand, in ranges without gaps.
func Spans(events []session.Event) (out []session.Span) {
	for i := range events {
		ord := events[i].Ord
		if n := len(out); n > 0 && out[n-1].To == ord-1 {
			out[n-1].To = ord
			continue
		}
		out = append(out, session.Span{From: ord, To: ord})
	}
	return out
}
