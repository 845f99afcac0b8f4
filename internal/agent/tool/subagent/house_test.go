package subagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/subagent"
	"quarry/internal/agent/turn"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/agent/turn/spans/spanstest"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/blobs"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
	"quarry/internal/store/traces"
	"quarry/internal/usage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is agents and sessions over one database, and the engines that work on them. Its model does as the message says: a JSON list is
// the replies to give, one after the other, hold waits, fail fails, and everything else is repeated.
type house struct {
	db     *store.DB
	rows   *sessions.Store
	spans  *traces.Store
	agents *agents.Store
	tools  *catalog.Service
	meter  *usage.Meter // nil: nothing is counted
	held   chan string  // has the message of a call of the model that waits
	free   chan struct{}

	log    session.Log // of the next engine
	store  session.Store
	places *usage.Gate
}

// node is one engine with what belongs to it.
type node struct {
	*turn.Engine
	hub      *feed.Hub
	sessions *session.Service
	files    *artifact.Service
	stop     func()
}

// everything is the identities of agents that may call all that their configurations name.
type everything struct{}

// Acting implements turn.Identities.
func (everything) Acting(_ context.Context, agentNo int64) (permit.Identity, error) {
	return permit.Identity{ClientID: fmt.Sprint("agc_", agentNo), Rights: permit.Rights{UseAll: true}}, nil
}

func open(t *testing.T, db *store.DB) *house {
	t.Helper()
	sealed := storetest.Secrets(t, db)
	h := &house{db: db, rows: sessions.New(db, sealed), spans: traces.New(db, sealed), agents: agents.New(db), held: make(chan string, 100), free: make(chan struct{})}
	var err error
	if h.tools, err = catalog.New(tools.New(db), tool.Kit{}); err != nil {
		t.Fatal(err)
	}
	h.log, h.store = h.rows, h.rows
	h.rows.Spans = h.spans
	t.Cleanup(func() { spanstest.Check(t, h.db, h.rows, h.spans) })
	return h
}

func begin(t *testing.T) *house {
	t.Helper()
	return open(t, storetest.Open(t, store.Config{Dir: t.TempDir()}))
}

// Model implements llm.Models.
func (h *house) Model(context.Context, string) (*llm.Model, error) {
	return &llm.Model{Provider: h, Name: "m", Can: llm.Abilities{Tools: true, Structured: true, Context: 100_000}}, nil
}

var own = usage.Account{Scope: "model", Name: "model"}

// Admit implements llm.Admitter.
func (h *house) Admit(ctx context.Context) error {
	if h.meter == nil {
		return nil
	}
	return h.meter.Admit(ctx, own)
}

// round is one reply.
type round struct {
	Text  string `json:"text"`
	Calls []struct {
		Tool string `json:"tool"`
		Args any    `json:"args"`
	} `json:"calls"`
}

// Stream implements llm.Provider.
func (h *house) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if h.meter != nil {
		h.meter.Count(ctx, own, usage.Tokens{Input: 3, Output: 2})
	}
	rounds, said := 0, ""
	for _, m := range r.Messages {
		switch m.Role {
		case llm.User:
			rounds, said = 0, m.Plain()
		case llm.Assistant:
			rounds++
		}
	}
	switch {
	case strings.HasPrefix(said, "hold"):
		h.held <- said
		select {
		case <-h.free:
		case <-ctx.Done():
			return llm.Answer{}, context.Cause(ctx)
		}
	case said == "fail":
		return llm.Answer{}, &llm.Error{Failure: llm.TimedOut}
	}
	answer := llm.Answer{Text: "echo " + said, Reason: llm.Stop, Usage: llm.Usage{Input: 3, Output: 2}}
	var replies []round
	if json.Unmarshal([]byte(said), &replies) == nil {
		reply := replies[min(rounds, len(replies)-1)]
		answer.Text = reply.Text
		for i, c := range reply.Calls {
			raw, err := json.Marshal(c.Args)
			if err != nil {
				return answer, err
			}
			answer.Reason = llm.Calls
			answer.Calls = append(answer.Calls, llm.ToolCall{ID: fmt.Sprintf("c%d-%d", rounds, i), Name: c.Tool, Arguments: raw})
		}
	}
	if answer.Text != "" {
		if err := emit(llm.Event{Text: answer.Text}); err != nil {
			return answer, err
		}
	}
	for i := range answer.Calls {
		if err := emit(llm.Event{Call: &answer.Calls[i]}); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

// calls returns a message that has the model call a tool once with each of these arguments at once, and then say done.
func calls(name string, args ...map[string]any) string {
	first := []any{}
	for _, a := range args {
		first = append(first, map[string]any{"tool": name, "args": a})
	}
	raw, _ := json.Marshal([]any{map[string]any{"calls": first}, map[string]any{"text": "done"}}) // always encodes
	return string(raw)
}

// tell returns the arguments of a call with a message.
func tell(message string) map[string]any { return map[string]any{"message": message} }

// config returns the configuration of a tool that calls an agent.
func config(key, mode, more string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"sub_agent","sub_agent_configuration":{"agent_key":%q,"session_mode":%q}%s}`, key, mode, more))
}

// agent makes an agent with tools.
func (h *house) agent(t *testing.T, key string, tools map[string]json.RawMessage, change func(*agent.Definition)) agent.Agent {
	t.Helper()
	now := clock.Now()
	a := agent.Agent{Key: key, Created: now, Updated: now, Definition: agent.Definition{
		Name: key, Model: agent.Model{Name: "m"}, Entry: "s", Steps: map[string]agent.Step{"s": {}}, Enabled: true, Metadata: json.RawMessage(`{}`), Tools: tools,
		Compaction: agent.DefaultCompaction,
	}}
	if change != nil {
		change(&a.Definition)
	}
	a, err := h.agents.Create(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// chain makes agents a0 to an, each but the last with a tool down that calls the next.
func (h *house) chain(t *testing.T, n int) (all []agent.Agent) {
	t.Helper()
	for i := range n + 1 {
		var tools map[string]json.RawMessage
		if i < n {
			tools = map[string]json.RawMessage{"down": config(fmt.Sprint("a", i+1), subagent.Ephemeral, "")}
		}
		all = append(all, h.agent(t, fmt.Sprint("a", i), tools, nil))
	}
	return all
}

// nested returns the message by which n agents of a chain call the next one, the last of which is told something.
func nested(n int, last string) string {
	for range n {
		last = calls("down", tell(last))
	}
	return last
}

// start starts an engine, which ends with the test.
func (h *house) start(t *testing.T, alone bool) *node {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	asking, err := subagent.New()
	if err != nil {
		t.Fatal(err)
	}
	kit := tool.Kit{Types: map[string]tool.Type{subagent.Name: asking.Type}, Log: quiet}
	n := &node{files: artifact.NewService(artifact.Config{Store: h.rows, Blobs: blobs.NewPieces(h.db), Most: 1 << 20, Log: quiet})}
	n.hub = feed.New(struct {
		session.Store
		session.Log
	}{h.store, h.log})
	n.Engine = turn.New(turn.Config{
		Log: h.log, Sessions: h.store, Agents: h.agents, Identities: everything{}, Alone: alone, Logger: quiet, MaxTransitions: 500, MaxCalls: 100, Models: h, Kit: kit, Tools: h.tools,
		Trace: &spans.Recorder{Content: true},
		Files: n.files, Hub: n.hub,
	})
	n.sessions = session.New(session.Config{Store: h.store, Stop: n.Drop, Log: quiet})
	asking.Join(subagent.Config{Agents: h.agents, Sessions: n.sessions, Turns: n.Engine, Places: h.places, Log: quiet})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); n.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		stop()
		<-done
	})
	t.Cleanup(func() {
		n.stop()
		if left := n.hub.Sessions(); left > 0 {
			t.Errorf("%d sessions are still read or worked on", left)
		}
	})
	return n
}

// session opens a session with an agent.
func (h *house) session(t *testing.T, a *agent.Agent) session.Session {
	t.Helper()
	s, err := session.New(session.Config{Store: h.rows}).Create(t.Context(), a, session.Draft{Description: new(string), Metadata: json.RawMessage(`{"team":"blue","n":7}`)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func input(no int64, text string) turn.Input {
	return turn.Input{Whole: true, Input: session.Input{
		Session: no, Event: id.NewEvent(), Parts: []session.Part{{Text: text}}, Caller: session.Caller{Rights: permit.Rights{UseAll: true}},
	}}
}

// send sends a message to a session.
func (n *node) send(t *testing.T, no int64, text string) *turn.Sent {
	t.Helper()
	sent, err := n.Send(t.Context(), input(no, text))
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// ask sends a message and returns what follows, a line each.
func (n *node) ask(t *testing.T, no int64, text string) []string {
	t.Helper()
	return read(t, n.send(t, no, text))
}

func read(t *testing.T, s *turn.Sent) (out []string) {
	t.Helper()
	defer s.Close()
	for {
		f, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			return append(out, "refused: "+err.Error())
		}
		out = append(out, line(f))
	}
}

func line(f feed.Frame) string {
	switch {
	case f.Shape == feed.Stored:
		return content(f.Event)
	case f.Shape == feed.Text:
		return "text " + f.Text
	case f.Shape == feed.TextEnd:
		return "text ends"
	case f.Note.Kind == feed.Activity && f.Note.Acted.Event != nil:
		return "activity " + f.Note.Acted.Tool + ": " + content(f.Note.Acted.Event.Event)
	case f.Note.Kind == feed.Activity:
		return "activity " + f.Note.Acted.Tool + ": " + f.Note.Text
	case f.Note.Err != nil:
		return "error " + f.Note.Err.Error()
	}
	return map[feed.Kind]string{feed.Consumed: "consumed", feed.Interrupted: "interrupted"}[f.Note.Kind]
}

func content(e session.Event) string {
	switch e.Type {
	case session.InputMessage:
		return "asked " + e.Parts[0].Text
	case session.ToolInput:
		return "calls " + e.Tool
	case session.ToolOutput:
		return "output " + string(e.Output)
	case session.ArtifactUpload:
		return "files " + fmt.Sprint(len(e.Files))
	}
	return "says " + e.Text
}

// all returns the sessions of an agent, oldest first.
func (h *house) all(t *testing.T, a *agent.Agent) []session.Session {
	t.Helper()
	found, _, err := h.rows.List(t.Context(), session.List{AgentNo: a.No, Oldest: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// events returns the log of a session, a line each.
func (h *house) events(t *testing.T, no int64) (out []string) {
	t.Helper()
	found, _, err := h.rows.Events(t.Context(), session.Page{Session: no, Limit: 1000, Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		out = append(out, content(e))
	}
	return out
}

// logs returns the logs of all sessions of agents, in an order that doesn't depend on when they were made.
func (h *house) logs(t *testing.T, of []agent.Agent) (out []string) {
	t.Helper()
	for i := range of {
		var logs []string
		for _, s := range h.all(t, &of[i]) {
			logs = append(logs, of[i].Key+": "+strings.Join(h.events(t, s.No), "|"))
		}
		slices.Sort(logs)
		out = append(out, logs...)
	}
	return out
}

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for !so() {
		select {
		case <-t.Context().Done():
			t.Fatal("it never is so: " + what)
		case <-time.After(time.Millisecond):
		}
	}
}

// idle waits until no session of these agents is worked on.
func (h *house) idle(t *testing.T, of []agent.Agent) {
	t.Helper()
	until(t, "all sessions are idle", func() bool {
		return !slices.ContainsFunc(of, func(a agent.Agent) bool {
			return slices.ContainsFunc(h.all(t, &a), func(s session.Session) bool { return s.Running })
		})
	})
}

// failure returns what a call has failed with; ok is false if none has.
func failure(lines []string) (text string, ok bool) {
	for _, l := range lines {
		if raw, is := strings.CutPrefix(l, "output "); is {
			var out struct {
				Error string `json:"error"`
			}
			if json.Unmarshal([]byte(raw), &out) == nil && out.Error != "" {
				return out.Error, true
			}
		}
	}
	return "", false
}

// sweep removes the rows of what was deleted.
func (h *house) sweep(t *testing.T) {
	t.Helper()
	for more := true; more; {
		err := h.db.Write(t.Context(), func(tx *store.Tx) (err error) {
			more, err = sessions.Sweeper{}.Sweep(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
