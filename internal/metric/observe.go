package metric

import (
	"time"

	"quarry/internal/trace"
)

var _ trace.Sink = (*Recorder)(nil)

// Recorded counts spans, as a trace.Sink. A trace counts with its entry, tokens with each call of a model, a tool by its own name,
// whatever its configuration is called.
func (r *Recorder) Recorded(spans []trace.Span) {
	for i := range spans {
		s := &spans[i]
		e := Event{At: s.Ended, Took: s.Ended.Sub(s.Started), Sums: []uint64{1, failed(s)}}
		agent := []string{s.Agent.Key}
		switch {
		case s.Operation == trace.InvokeAgent && s.Parent == "":
			e.Labels = [][]string{agent}
			r.Count(Traces, e)
		case s.Operation == trace.Chat && s.Chat != nil:
			e.Labels = [][]string{agent, {s.Chat.Model}}
			e.Sums = []uint64{tokens(s.Chat.InputTokens), tokens(s.Chat.OutputTokens)}
			r.Count(Tokens, e)
		case s.Operation == trace.ExecuteTool && s.Call != nil && !waits(s):
			e.Labels = [][]string{agent, {s.Call.Tool}}
			r.Count(Tools, e)
		}
	}
}

// waits reports whether a call has not ended, but waits for the client: it counts in the trace that goes on. Calls inside other tools
// have no events at all.
func waits(s *trace.Span) bool {
	return !s.Failed && s.Call.InputEvent != "" && s.Call.OutputEvent == ""
}

func failed(s *trace.Span) uint64 {
	if s.Failed {
		return 1
	}
	return 0
}

// tokens returns a number that a provider has told, which may be anything.
func tokens(n int64) uint64 { return uint64(max(0, n)) }

// Searched counts a query over corpora that took some time; see query.Observer.
func (r *Recorder) Searched(corpora []string, took time.Duration) {
	r.Count(Queries, Event{At: time.Now(), Labels: [][]string{corpora}, Sums: []uint64{1}, Took: took})
}
