package subagent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool/subagent"
	"quarry/internal/usage"
)

// TestInterrupt proves that an interrupt of the first session ends all levels below before it returns, that each call has an
// output then, and that no other input of a session in between is touched.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	h := begin(t)
	all := h.chain(t, subagent.MaxDepth)
	n := h.start(t, true)
	s := h.session(t, &all[0])
	sent := n.send(t, s.No, nested(subagent.MaxDepth, "hold"))
	<-h.held
	if which, err := n.Interrupt(t.Context(), s.No); which == "" || err != nil {
		t.Errorf("%q, %v", which, err)
	}
	if left := n.Working(); left > 0 {
		t.Errorf("%d sessions are still worked on", left)
	}
	for i := range all {
		found := h.all(t, &all[i])
		log := h.events(t, found[len(found)-1].No)
		want := "output {\"error\":\"interrupted\"}"
		if i == len(all)-1 {
			want = "asked hold"
		}
		if len(found) != 1 || found[0].Running || log[len(log)-1] != want {
			t.Errorf("%s: %d sessions, running %v, %q", all[i].Key, len(found), found[0].Running, log)
		}
	}
	if lines := read(t, sent); lines[len(lines)-1] != "interrupted" {
		t.Errorf("shown %q", lines)
	}
}

// TestWithdrawn proves that a call that is given up while its message waits in the session of the agent takes the message back, and
// leaves the turn of somebody else in that session alone.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	h := begin(t)
	b := h.agent(t, "b", nil, nil)
	a := h.agent(t, "a", map[string]json.RawMessage{"ours": config("b", subagent.AgentScoped, "")}, nil)
	n := h.start(t, true)
	one, two := h.session(t, &a), h.session(t, &a)
	n.ask(t, one.No, calls("ours", tell("begin")))
	child := h.all(t, &b)[0]
	resume := func(message string) string {
		return calls("ours", map[string]any{"message": message, "session_key": child.Key})
	}
	first := n.send(t, one.No, resume("hold"))
	<-h.held
	second := n.send(t, two.No, resume("never"))
	until(t, "the message waits", func() bool {
		log := h.events(t, two.No)
		waits, err := h.rows.Awaited(t.Context(), child.No, subagent.InputOf(callOf(t, h, two.No)))
		return len(log) == 2 && waits && err == nil
	})
	if _, err := n.Interrupt(t.Context(), two.No); err != nil {
		t.Fatal(err)
	}
	read(t, second)
	close(h.free)
	if text, failed := failure(read(t, first)); failed {
		t.Errorf("the other call has failed: %s", text)
	}
	if log := strings.Join(h.events(t, child.No), "|"); log != "asked begin|says echo begin|asked hold|says echo hold" {
		t.Errorf("the log is %s", log)
	}
}

// callOf returns the event of the last call in a session, "" for none.
func callOf(t *testing.T, h *house, no int64) (out session.Event) {
	t.Helper()
	found, _, err := h.rows.Events(t.Context(), session.Page{Session: no, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		if e.Type == session.ToolInput {
			out = e
		}
	}
	return out
}

// TestDeleted proves that the deletion of the calling session, or of its agent, ends all that it has begun.
func TestDeleted(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*testing.T, *house, *node, *agent.Agent, int64) error{
		"session": func(t *testing.T, _ *house, n *node, _ *agent.Agent, no int64) error {
			return n.sessions.Delete(t.Context(), no)
		},
		"agent": func(t *testing.T, h *house, n *node, a *agent.Agent, _ int64) error {
			defer n.DropAgent(a.No)
			return h.agents.Delete(t.Context(), a.No, time.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := begin(t)
			all := h.chain(t, 3)
			n := h.start(t, true)
			s := h.session(t, &all[0])
			sent := n.send(t, s.No, nested(3, "hold"))
			defer sent.Close()
			<-h.held
			if err := remove(t, h, n, &all[0], s.No); err != nil {
				t.Fatal(err)
			}
			until(t, "nothing runs", func() bool { return n.Working() == 0 })
			h.idle(t, all[1:])
			if last := h.events(t, h.all(t, &all[2])[0].No); !strings.Contains(last[len(last)-1], "interrupted") {
				t.Errorf("the level in the middle ends with %q", last)
			}
		})
	}
}

// TestGone proves that the deletion of the agent that is called is an error that the model reads.
func TestGone(t *testing.T) {
	t.Parallel()
	h := begin(t)
	all := h.chain(t, 2)
	n := h.start(t, true)
	s := h.session(t, &all[0])
	sent := n.send(t, s.No, nested(2, "hold"))
	<-h.held
	if err := h.agents.Delete(t.Context(), all[2].No, time.Now()); err != nil {
		t.Fatal(err)
	}
	n.DropAgent(all[2].No)
	h.sweep(t)
	read(t, sent)
	if text, _ := failure(h.events(t, h.all(t, &all[1])[0].No)); !strings.Contains(text, "was deleted before there was an answer") {
		t.Errorf("%q", text)
	}
}

// TestPlaces proves that calls beyond the places for them are errors that the model reads, rather than turns that wait for one
// another.
func TestPlaces(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.places = usage.NewGate(usage.Bounds{PerCaller: 2, Total: 2, Noun: "turns"})
	all := h.chain(t, 4)
	n := h.start(t, true)
	s := h.session(t, &all[0])
	for range 3 { // the places are given back
		if lines := n.ask(t, s.No, nested(4, "hello")); lines[len(lines)-1] != "says done" {
			t.Errorf("shown %q", lines)
		}
		found := h.all(t, &all[2])
		if text, _ := failure(h.events(t, found[len(found)-1].No)); !strings.Contains(text, "too many turns of sub-agents") {
			t.Errorf("the third level: %q", text)
		}
	}
	if text, failed := failure(n.ask(t, s.No, nested(2, "hello"))); failed {
		t.Errorf("within the places: %s", text)
	}
}
