package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/turn"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/agent/turn/spans/spanstest"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/blobs"
	"quarry/internal/store/instructions"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
	"quarry/internal/store/traces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model answers as a function says.
type model func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error)

func (m model) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	return m(ctx, r, emit)
}

// says is a model that answers with a text, in words.
func says(text string) model {
	return func(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		for _, word := range strings.SplitAfter(text, " ") {
			if err := emit(llm.Event{Text: word}); err != nil {
				return llm.Answer{}, err
			}
		}
		return llm.Answer{Text: text, Reason: llm.Stop, Usage: llm.Usage{Input: 3, Output: 2}}, nil
	}
}

// one is the only agent.
type one struct {
	*agents.Store // of its secrets
	agent         *agent.Agent
}

func (o one) Revision(context.Context, int64, int64) (agent.Agent, error) { return *o.agent, nil }

// bench is an engine over a session of its own.
type bench struct {
	*turn.Engine
	dir    string // of the database
	db     *store.DB
	rows   *sessions.Store
	agents *agents.Store
	spans  *traces.Store
	tools  *catalog.Service
	texts  *instruction.Service
	hub    *feed.Hub
	agent  *agent.Agent
	no     int64
	stop   func() // ends the engine, which gives back what it works on
}

func plain() *agent.Agent {
	return &agent.Agent{Key: "a", Definition: agent.Definition{
		Name: "A", Model: agent.Model{Name: "m"}, Entry: "first_step", Steps: map[string]agent.Step{"first_step": {}}, Enabled: true,
	}}
}

// begin opens a session and an engine over it.
func begin(t *testing.T, m model, change func(*turn.Config, *agent.Agent)) *bench {
	t.Helper()
	b := prepare(t)
	b.open(t, m, change)
	return b
}

// prepare opens a session.
func prepare(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	db := storetest.Open(t, store.Config{Dir: dir})
	sealed := storetest.Secrets(t, db)
	rows := sessions.New(db, sealed)
	b := &bench{dir: dir, db: db, rows: rows, spans: traces.New(db, sealed), agent: plain(), texts: instruction.New(instructions.New(db))}
	var err error
	if b.tools, err = catalog.New(tools.New(db), tool.Kit{}); err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ('a', 1, TRUE, 1, 1, 0) RETURNING no`).Scan(&b.agent.No)
	})
	if err != nil {
		t.Fatal(err)
	}
	rows.Spans = b.spans
	t.Cleanup(func() { spanstest.Check(t, b.db, b.rows, b.spans) })
	now := clock.Now()
	s, err := rows.Create(t.Context(), session.Session{
		Key: "ase_" + id.Text(8), AgentNo: b.agent.No, Name: "n", Metadata: json.RawMessage(`{"plan":"gold"}`), Enabled: true, Created: now, Updated: now,
		Compaction: agent.DefaultCompaction,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.no, b.agents = s.No, agents.New(db).Sealing(sealed)
	return b
}

// open starts an engine over the session, which ends with the test.
func (b *bench) open(t *testing.T, m model, change func(*turn.Config, *agent.Agent)) {
	t.Helper()
	c := turn.Config{
		Log: b.rows, Sessions: b.rows, Agents: one{b.agents, b.agent}, Alone: true, Logger: slog.New(slog.DiscardHandler), MaxTransitions: 500, MaxCalls: 100,
		Models: llmtest.Only{Use: &llm.Model{Provider: m, Name: "m", Can: llm.Abilities{Tools: true, Structured: true, Context: 100_000}}},
		Trace:  &spans.Recorder{Content: true},
		Kit:    tool.Kit{Log: slog.New(slog.DiscardHandler)}, Tools: b.tools, Instructions: b.texts,
		Files: artifact.NewService(artifact.Config{Store: b.rows, Blobs: blobs.NewPieces(b.db), Most: 50 << 20, Log: slog.New(slog.DiscardHandler)}),
	}
	if change != nil {
		change(&c, b.agent)
	}
	b.hub = feed.New(struct {
		session.Store
		session.Log
	}{c.Sessions, c.Log})
	c.Hub = b.hub
	b.Engine = turn.New(c)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	b.stop = func() {
		stop()
		<-done
	}
	end := b.stop
	hub := b.hub
	t.Cleanup(func() {
		end()
		if n := hub.Sessions(); n > 0 {
			t.Errorf("%d sessions are still read or worked on", n)
		}
	})
}

func (b *bench) input(text string) turn.Input {
	return turn.Input{Input: session.Input{Session: b.no, Event: id.NewEvent(), Parts: []session.Part{{Text: text}}}, Whole: true}
}

// told reads to the end and returns what was shown, a line each.
func told(t *testing.T, s *turn.Sent) (out []string, err error) {
	t.Helper()
	if s == nil {
		return nil, nil
	}
	defer s.Close()
	for {
		f, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, line(f))
	}
}

func line(f feed.Frame) string {
	switch f.Shape {
	case feed.Stored:
		return string(f.Event.Type) + ": " + content(f.Event)
	case feed.Text, feed.Thought:
		return map[feed.Shape]string{feed.Text: "text: ", feed.Thought: "thought: "}[f.Shape] + f.Text
	case feed.TextEnd:
		return "text ends"
	case feed.ThoughtEnd:
		return "thought ends"
	}
	if f.Note.Kind == feed.Pending {
		return fmt.Sprint("pending ", len(f.Note.Calls))
	}
	if f.Note.Err != nil {
		return "error: " + f.Note.Err.Error()
	}
	return map[feed.Kind]string{feed.Consumed: "consumed", feed.CompactionStarted: "compaction started", feed.ContextLimit: "context limit", feed.TransitionLimit: "transition limit", feed.Interrupted: "interrupted"}[f.Note.Kind]
}

func content(e session.Event) string {
	switch e.Type {
	case session.InputMessage:
		return e.Parts[0].Text
	case session.ToolInput:
		return e.Tool + string(e.Arguments)
	case session.ToolOutput:
		return e.Tool + string(e.Output)
	case session.StructuredOutput:
		return string(e.Content)
	case session.StepTransition:
		return e.From + " > " + e.To
	}
	return e.Text
}

// queue sends an input that waits behind the turn in progress, and reads from the beginning.
func (b *bench) queue(t *testing.T, text string) *turn.Sent {
	t.Helper()
	in, since := b.input(text), int64(0)
	in.Since, in.Queue = &since, true
	sent, err := b.Send(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// log returns the events of the session, a line each.
func (b *bench) log(t *testing.T) (out []string) {
	t.Helper()
	found, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1000, Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		out = append(out, string(e.Type)+": "+content(e))
	}
	return out
}

// ask sends an input and reads what follows.
func (b *bench) ask(t *testing.T, in turn.Input) ([]string, error) {
	t.Helper()
	s, err := b.Send(t.Context(), in)
	if err != nil {
		return nil, err
	}
	return told(t, s)
}

// TestPlain proves what a turn without tools shows and stores, whole and streamed.
func TestPlain(t *testing.T) {
	t.Parallel()
	b := begin(t, says("It is fine."), nil)
	got, err := b.ask(t, b.input("How is it?"))
	if err != nil || strings.Join(got, "|") != "input_message: How is it?|agent_output: It is fine." {
		t.Errorf("%v, %q", err, got)
	}
	in := b.input("And now?")
	in.Whole = false
	got, err = b.ask(t, in)
	text := strings.ReplaceAll(strings.Join(got, "|"), "|text: ", "")
	if err != nil || text != "input_message: And now?It is fine.|text ends|consumed" {
		t.Errorf("%v, %q", err, got)
	}
	if log := strings.Join(b.log(t), "|"); log != "input_message: How is it?|agent_output: It is fine.|input_message: And now?|agent_output: It is fine." {
		t.Errorf("the log is %q", log)
	}
}

func TestQuestionBehindTransitions(t *testing.T) {
	// Proves that the model is told in every step which input the turn answers, also where the last message is that of a transition.
	t.Parallel()
	var asked []string
	m := model(func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		asked = append(asked, r.Question)
		return says("yes")(ctx, r, emit)
	})
	b := begin(t, m, func(_ *turn.Config, a *agent.Agent) {
		a.Steps = map[string]agent.Step{"first_step": {Next: []agent.Transition{{Step: "second"}}, Reentry: "first_step"}, "second": {Reentry: "first_step"}}
	})
	for _, text := range []string{"Why?", "And how?"} {
		if _, err := b.ask(t, b.input(text)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"Why?", "Why?", "And how?", "And how?"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
