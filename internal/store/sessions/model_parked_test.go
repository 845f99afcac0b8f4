package sessions_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/id"
)

// park is commit of a turn that waits for the client.
func (m *memory) park(c *session.Park, out *session.Committed) {
	switch {
	case m.run.Interrupted:
	case len(m.queue) == 0:
		run := *m.run
		run.Lease, run.Recovered, run.Trace = session.Lease{Session: m.no}, 0, c.Trace
		if run.Resolved.Secret {
			run.Resolved.Text = m.resolved
		}
		m.parked, m.run = &session.Parked{Run: run, Park: *c}, nil
		out.Ended, out.Parked = true, true
	default:
		out.Events = append(out.Events, m.superseded(m.run.Turn, c.Calls)...)
		if m.steering() > 0 {
			m.steer(out)
			return
		}
		m.end(&session.End{}, out)
	}
}

// superseded writes outputs of the calls of a turn that are open, whose ids the store makes.
func (m *memory) superseded(turn int64, calls []session.Pending) []session.Event {
	var events []session.Event
	for _, e := range m.events {
		if e.Turn == turn {
			events = append(events, e)
		}
	}
	out := session.Superseded(events, calls)
	for i := range out {
		out[i].ID = ""
	}
	return m.append(turn, out...)
}

// unanswered returns the calls that a fork leaves out: those of its last turn that have no output in it, also where there was one
// that was deleted or is hidden.
func (m *memory) unanswered(c session.Copy) (out []int64) {
	var seen []session.Event
	turn, done := int64(0), map[string]bool{}
	for _, e := range m.events {
		if e.Hidden == "" && e.Ord >= c.From && e.Ord <= cmp.Or(c.To, m.last) {
			seen, turn = append(seen, e), e.Turn
		}
	}
	for _, e := range seen {
		if e.Turn == turn && e.Answers() {
			done[e.CallID] = true
		}
	}
	for _, e := range seen {
		if e.Turn == turn && e.Type == session.ToolInput && !done[e.CallID] {
			out = append(out, e.Ord)
		}
	}
	return out
}

// supersede ends a parked turn, if there is one.
func (m *memory) supersede() {
	if m.parked != nil {
		m.superseded(m.parked.Run.Turn, m.parked.Calls)
		m.parked = nil
	}
}

func (m *memory) answer(a session.Answers, l session.Lease, now time.Time) (out session.Answered, err error) {
	switch {
	case m.deleted:
		return out, conflict("session_not_found")
	case m.parked == nil || m.parked.Run.Turn != a.Turn:
		return out, session.ErrAnswered
	case m.disabled:
		return out, conflict("session_disabled")
	}
	left := slices.Clone(m.parked.Calls)
	for _, e := range a.Calls {
		i := slices.IndexFunc(left, func(c session.Pending) bool { return c.Event == e })
		if i < 0 {
			return out, session.ErrAnswered
		}
		left = slices.Delete(left, i, i+1)
	}
	out.Events = m.append(a.Turn, slices.Clone(a.Outputs)...)
	if m.parked.Calls = left; len(left) > 0 {
		return out, nil
	}
	run := m.parked.Run
	run.Lease, run.Trace.Began = l, now.UTC().Truncate(time.Microsecond)
	m.parked, m.run = nil, &run
	was := run
	was.Resolved, run.Resolved = m.stored(was.Resolved), m.stored(run.Resolved)
	out.Run = &was
	return out, nil
}

// calls returns calls that a turn parks with.
func (p *player) calls() *session.Park {
	out := &session.Park{}
	for range 1 + p.r.IntN(3) {
		out.Calls = append(out.Calls, session.Pending{
			Event: id.NewEvent(), CallID: id.Text(8), Tool: "ask", ToolName: "dialog", Overrides: json.RawMessage(`{"pin":"****"}`),
			Delivery: session.Delivery{Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d,"pin":"tell-nobody"}`, p.r.IntN(100))), Secrets: []string{"tell-nobody"}},
		})
	}
	return out
}

// answer gives outputs for some or all calls that wait, sometimes for one that doesn't, or for another turn.
func (p *player) answer(m *memory) {
	a := session.Answers{Session: m.no, Turn: m.turn}
	if m.parked != nil {
		a.Turn = m.parked.Run.Turn
		for _, c := range m.parked.Calls {
			if p.r.IntN(3) > 0 {
				a.Calls = append(a.Calls, c.Event)
			}
		}
	}
	if len(a.Calls) == 0 || p.r.IntN(10) == 0 {
		a.Calls = append(a.Calls, append(p.answered, "aev_none")[p.r.IntN(len(p.answered)+1)])
	}
	if p.r.IntN(15) == 0 {
		a.Turn++
	}
	for _, e := range a.Calls {
		call := ""
		if i := m.find(e); i >= 0 {
			call = m.events[i].CallID
		}
		a.Outputs = append(a.Outputs, session.Event{ID: id.NewEvent(), Type: session.ToolOutput, Body: session.Body{
			CallID: call, Tool: "ask", ToolName: "dialog", Output: json.RawMessage(`{"ok":true}`),
		}})
	}
	l := lease(m.no, "a")
	got, err := p.b.Answer(p.t.Context(), a, l, p.now)
	want, refused := m.answer(a, l, p.now)
	p.same("answer", refused, err)
	p.equal("answered", want, got)
	if err == nil {
		p.answered = append(p.answered, a.Calls...)
	}
	if got.Run != nil {
		m.leases = append(m.leases, l)
	}
	p.wantParked(m)
}

// adopt takes over the ids that the store has made for superseded calls.
func (p *player) adopt(m *memory) {
	if m.deleted || m.find("") < 0 {
		return
	}
	log := p.b.log(p.t, m.no)
	for i := range m.events {
		if m.events[i].ID == "" && i < len(log) {
			m.events[i].ID = log[i].ID
		}
	}
}

// wantParked fails unless the same calls wait, with their arguments.
func (p *player) wantParked(m *memory) {
	got, err := p.b.Parked(p.t.Context(), m.no)
	p.same("parked", nil, err)
	if m.deleted { // what is left of it goes with the sweep
		return
	}
	p.equal("parked", m.parked, got)
}

// stored returns what is read of a run's Resolved with the run.
func (m *memory) stored(k tool.Kept) tool.Kept {
	if k.Secret {
		k.Text = ""
	}
	return k
}

// wantResolved fails unless there is a sealed text as long as a turn has one, and no longer.
func (p *player) wantResolved(m *memory) {
	want := ""
	if m.run != nil && m.run.Resolved.Secret || m.parked != nil && m.parked.Run.Resolved.Secret {
		want = m.resolved
	}
	got, err := p.b.Resolved(p.t.Context(), m.no)
	p.same("resolved", nil, err)
	p.equal("resolved", want, got)
}
