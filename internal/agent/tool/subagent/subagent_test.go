package subagent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool/subagent"
)

// TestLevels proves that the deepest answer comes up through all levels, that the stream of the first one has the events of all below
// between call and output, once each, and that one level too many is an error that the model reads.
func TestLevels(t *testing.T) {
	t.Parallel()
	h := begin(t)
	all := h.chain(t, subagent.MaxDepth+1)
	n := h.start(t, true)
	s := h.session(t, &all[0])
	in := input(s.No, nested(2, "hello"))
	in.Whole = false
	sent, err := n.Send(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(read(t, sent), "|")
	got = strings.ReplaceAll(strings.ReplaceAll(got, nested(2, "hello"), "2"), nested(1, "hello"), "1")
	for _, at := range all[1:3] {
		for _, x := range h.all(t, &at) {
			got = strings.ReplaceAll(got, x.Key, at.Key)
		}
	}
	want := "asked 2|calls down|consumed|activity down: asked 1|activity down: calls down|activity down: asked hello|activity down: says echo hello|" +
		`activity down: output {"session_key":"a2","sub_agent_response":"echo hello"}|activity down: says done|output {"session_key":"a1","sub_agent_response":"done"}|` +
		"text done|text ends|consumed"
	if got != want {
		t.Errorf("shown %s\nwant  %s", got, want)
	}
	if text, _ := failure(n.ask(t, s.No, nested(subagent.MaxDepth, "hello"))); text != "" {
		t.Errorf("at the last level that is allowed: %s", text)
	}
	n.ask(t, s.No, nested(subagent.MaxDepth+1, "hello"))
	deepest := h.all(t, &all[subagent.MaxDepth])
	if text, _ := failure(h.events(t, deepest[len(deepest)-1].No)); !strings.Contains(text, "5 levels deep") {
		t.Errorf("one level more: %q", text)
	}
	if below := h.all(t, &all[subagent.MaxDepth+1]); len(below) > 0 {
		t.Errorf("%d sessions are too deep", len(below))
	}
}

// TestOrder proves that calls of one reply run at once, and those to one session one after the other in their order.
func TestOrder(t *testing.T) {
	t.Parallel()
	h := begin(t)
	b := h.agent(t, "b", nil, nil)
	a := h.agent(t, "a", map[string]json.RawMessage{"one": config("b", subagent.Persistent, ""), "each": config("b", subagent.Ephemeral, "")}, nil)
	n := h.start(t, true)
	s := h.session(t, &a)
	sent := n.send(t, s.No, calls("each", tell("hold 1"), tell("hold 2"), tell("hold 3")))
	for range 3 {
		<-h.held // all of them, before one is let go
	}
	close(h.free)
	read(t, sent)
	for round := range 5 {
		var args []map[string]any
		for i := range 8 {
			args = append(args, tell(fmt.Sprint(round, "-", i)))
		}
		if text, failed := failure(n.ask(t, s.No, calls("one", args...))); failed {
			t.Fatal(text)
		}
	}
	found := h.all(t, &b)
	log := h.events(t, found[len(found)-1].No)
	for i := range 40 {
		if want := fmt.Sprintf("asked %d-%d", i/8, i%8); log[2*i] != want {
			t.Errorf("message %d is %q, want %q", i, log[2*i], want)
		}
	}
	if len(found) != 4 || len(log) != 80 {
		t.Errorf("%d sessions, %d events", len(found), len(log))
	}
}

// TestEnds proves what the model reads of an agent that has no answer: that it failed, was disabled, interrupted or deleted, and
// with its time limit.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message, more string
		meanwhile     func(*testing.T, *house, *node, *agent.Agent)
		want          string
	}{
		{"fail", "", nil, "has failed: the language model did not answer in time"},
		{"hold", "", func(t *testing.T, h *house, n *node, b *agent.Agent) {
			if _, err := n.Interrupt(t.Context(), h.all(t, b)[0].No); err != nil {
				t.Error(err)
			}
		}, "was interrupted before it had answered"},
		{"hold", "", func(t *testing.T, h *house, n *node, b *agent.Agent) {
			if err := n.sessions.Delete(t.Context(), h.all(t, b)[0].No); err != nil {
				t.Error(err)
			}
		}, "was deleted before there was an answer"},
		{"hold", `,"max_execution_time_seconds":1`, func(*testing.T, *house, *node, *agent.Agent) {}, "took too long"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			h := begin(t)
			b := h.agent(t, "b", nil, nil)
			a := h.agent(t, "a", map[string]json.RawMessage{"down": config("b", subagent.Ephemeral, c.more)}, nil)
			n := h.start(t, true)
			s := h.session(t, &a)
			sent := n.send(t, s.No, calls("down", tell(c.message)))
			if c.meanwhile != nil {
				<-h.held
				c.meanwhile(t, h, n, &b)
			}
			lines := read(t, sent)
			if text, _ := failure(lines); !strings.Contains(text, c.want) {
				t.Errorf("%q, want %q", text, c.want)
			}
			if last := lines[len(lines)-1]; last != "says done" {
				t.Errorf("the turn has ended with %q", last)
			}
			h.idle(t, []agent.Agent{a, b})
		})
	}
}

// TestShared proves that files are copied into the session of the agent under their ids, once, and told to its model.
func TestShared(t *testing.T) {
	t.Parallel()
	h := begin(t)
	b := h.agent(t, "b", nil, nil)
	a := h.agent(t, "a", map[string]json.RawMessage{"one": config("b", subagent.Persistent, "")}, nil)
	n := h.start(t, true)
	s := h.session(t, &a)
	made, err := n.files.Put(t.Context(), artifact.New{Filename: "plan.txt", Description: "the plan"}, strings.NewReader("a plan"))
	if err != nil {
		t.Fatal(err)
	}
	in := input(s.No, "here")
	in.Files, in.Upload = []artifact.Artifact{made}, "aev_up"
	sent, err := n.Send(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	read(t, sent)
	n.files.Release(t.Context(), made)
	files, _, err := n.files.Find(t.Context(), artifact.List{Session: s.No, Limit: 10})
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	ask := map[string]any{"message": "read it", "artifact_ids": []string{files[0].ID}}
	for range 2 {
		if text, failed := failure(n.ask(t, s.No, calls("one", ask))); failed {
			t.Fatal(text)
		}
	}
	child := h.all(t, &b)[0]
	copies, _, err := n.files.Find(t.Context(), artifact.List{Session: child.No, Limit: 10})
	if err != nil || len(copies) != 1 || copies[0].ID != files[0].ID || copies[0].Sum != files[0].Sum || copies[0].Description != "the plan" {
		t.Errorf("%v, %+v", err, copies)
	}
	if log := strings.Join(h.events(t, child.No), "|"); log != "files 1|asked read it|says echo read it|files 1|asked read it|says echo read it" {
		t.Errorf("the log is %s", log)
	}
	if err := n.sessions.Delete(t.Context(), s.No); err != nil {
		t.Fatal(err)
	}
	if _, content, err := n.files.Workspace(child.No, "x").Open(t.Context(), files[0].ID); err != nil {
		t.Errorf("the copy has gone with the session that it came from: %v", err)
	} else if err := content.Close(); err != nil {
		t.Error(err)
	}
}
