package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/turn"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/opt"
)

// undescribed goes on with a session that waits for a description.
func (b *bench) undescribed(t *testing.T) {
	t.Helper()
	now := clock.Now()
	s, err := b.rows.Create(t.Context(), session.Session{
		Key: "ase_" + id.Text(8), AgentNo: b.agent.No, Name: "n", Metadata: json.RawMessage(`{}`), Enabled: true, Describe: true, Created: now, Updated: now,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.no = s.No
}

// described waits until the session waits for no description any more, and returns it.
func (b *bench) described(t *testing.T) string {
	t.Helper()
	for {
		s, err := b.rows.Load(t.Context(), b.no)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Describe {
			return s.Description
		}
		select {
		case <-t.Context().Done():
			t.Fatal("there is no description")
		case <-time.After(time.Millisecond):
		}
	}
}

// describer answers questions with "Fine.", and as a function says where it is asked for a description.
func describer(describe model) model {
	return func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if strings.HasPrefix(r.Messages[0].Plain(), "Describe in one sentence") {
			return describe(ctx, r, emit)
		}
		return says("Fine.")(ctx, r, emit)
	}
}

// TestDescriptions proves what a session is described by after its first turn: what the model says of question and answer, on a line;
// the question if the model fails, refuses, says nothing, or is the embedded one.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("why ", 100)
	asks := model(func(_ context.Context, r llm.Request, _ func(llm.Event) error) (llm.Answer, error) {
		return llm.Answer{Text: r.Messages[1].Plain()}, nil
	})
	for name, c := range map[string]struct {
		describe model
		embedded bool
		question string
		want     string
	}{
		"by the model":  {says("\n\"A talk about  pumps.\"\n"), false, "How are\nthe pumps?", "A talk about pumps."},
		"what it reads": {asks, false, "How are\nthe pumps?", "Question: How are the pumps? Answer: Fine."},
		"fails":         {replies(reply{err: &llm.Error{Failure: llm.TimedOut}}), false, "How are\nthe pumps?", "How are the pumps?"},
		"refuses":       {replies(reply{Answer: llm.Answer{Text: "no", Reason: llm.Refused}}), false, "How?", "How?"},
		"says nothing":  {says(" "), false, long, strings.TrimSpace(long)[:199] + "…"},
		"embedded":      {says("never"), true, "How?", "How?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &llm.Model{Provider: describer(c.describe), Name: "m", Embedded: c.embedded, Can: llm.Abilities{Context: 100_000}}
			b := begin(t, nil, func(cfg *turn.Config, _ *agent.Agent) { cfg.Models = llmtest.Only{Use: m} })
			b.undescribed(t)
			if _, err := b.ask(t, b.input(c.question)); err != nil {
				t.Fatal(err)
			}
			if got := b.described(t); got != c.want {
				t.Errorf("described as %q, want %q", got, c.want)
			}
		})
	}
}

// TestDescribedMeanwhile proves that a description which somebody sets while the model writes one stays, that turns don't wait for the
// model, and that one model is asked at a time.
func TestDescribedMeanwhile(t *testing.T) {
	t.Parallel()
	m, begun := slow("Late.", nil)
	b := begin(t, describer(m), nil)
	b.undescribed(t)
	if _, err := b.ask(t, b.input("one")); err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := b.ask(t, b.input("two")); err != nil { // while the first is still being asked
		t.Fatal(err)
	}
	if err := b.change(t, session.Change{Description: opt.Some("")}); err != nil {
		t.Fatal(err)
	}
	if err := b.rows.Describe(t.Context(), b.no, "Late."); err != nil {
		t.Fatal(err)
	}
	if got := b.described(t); got != "" || len(begun) != 0 {
		t.Errorf("described as %q, asked %d times more", got, len(begun))
	}
	b.stop() // does not wait for the model, which never answers
}

// TestNotDescribed proves that a process which stops leaves the description to the next turn, in whichever process.
func TestNotDescribed(t *testing.T) {
	t.Parallel()
	m, begun := slow("Late.", nil)
	b := begin(t, describer(m), nil)
	b.undescribed(t)
	if _, err := b.ask(t, b.input("one")); err != nil {
		t.Fatal(err)
	}
	<-begun
	b.stop()
	if s, err := b.rows.Load(t.Context(), b.no); err != nil || !s.Describe || s.Description != "" {
		t.Errorf("%+v, %v", s, err)
	}
	b.open(t, describer(says("About one.")), nil)
	if _, err := b.ask(t, b.input("two")); err != nil {
		t.Fatal(err)
	}
	if got := b.described(t); got != "About one." {
		t.Errorf("described as %q", got)
	}
}
