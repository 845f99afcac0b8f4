package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/bench/service"
	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions"
	"quarry/internal/store/traces"
)

// tools are those of the turns that are written.
type tools struct{}

func (tools) Type(string) string { return "corpora_search" }
func (tools) Mask() *mask.Mask   { return nil }

// answers is a model that says one text.
type answers string

// Stream implements llm.Provider.
func (a answers) Stream(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	return llm.Answer{Text: string(a), Reason: llm.Stop}, emit(llm.Event{Text: string(a)})
}

// writeTurn writes an input and a turn of n more events, a reply with calls and their outputs, as the loop does, with the trace that r
// records; nil for none.
func writeTurn(ctx context.Context, rows *sessions.Store, no int64, n int, r *spans.Recorder) ([]session.Event, error) {
	l := session.Lease{Holder: id.Text(20), Node: "bench", Until: clock.Now().Add(time.Hour)}
	in := session.Input{Session: no, Event: id.NewEvent(), Parts: []session.Part{{Text: asked}}}
	begun, err := rows.Accept(ctx, in, l, clock.Now())
	if err != nil {
		return nil, err
	}
	l.Session = no
	say := func(what session.Type, body session.Body) session.Event {
		return session.Event{ID: id.NewEvent(), Type: what, Body: body}
	}
	desk, of := agent.Agent{Key: "quick", Definition: agent.Definition{Name: "Desk", Model: agent.Model{Name: "quick"}}}, session.Session{Key: "bench"}
	t := r.Begin(&begun.Run, false, func() spans.Turn {
		return spans.Turn{Agent: &desk, Session: &of, Step: "first_step", Instructions: "You help.", Tools: tools{}}
	})
	t.Recall([]session.Event{begun.Begun})
	ask := func() error {
		_, err := llm.Complete(ctx, t.Model(&llm.Model{Provider: answers("Every year."), Name: "quick"}), llm.Request{})
		return err
	}
	commit := func(c session.Commit) ([]session.Event, error) {
		t.Add(&c)
		done, err := rows.Commit(ctx, l, c, clock.Now())
		if err == nil {
			t.Committed(&done)
		}
		return done.Events, err
	}
	reply := []session.Event{say(session.Thinking, session.Body{Text: strings.Repeat("hm ", 40)}), say(session.AgentOutput, session.Body{Text: "I look."})}
	calls := (n - 3) / 2
	for i := range calls {
		reply = append(reply, say(session.ToolInput, session.Body{CallID: fmt.Sprint("c", i), Tool: "look", ToolName: "corpora_search", Arguments: json.RawMessage(`{"query":"the filter of a pump"}`)}))
	}
	if err := ask(); err != nil {
		return nil, err
	}
	if _, err := commit(session.Commit{Events: reply, Progress: &session.Progress{Calls: 1}}); err != nil {
		return nil, err
	}
	output, _ := json.Marshal(map[string]any{"search_results": []any{map[string]any{"text": strings.Repeat("Pump 7 is serviced every year. ", 30), "score": 0.5, "document_id": "d7"}}})
	for i := range calls {
		t.Call(&tool.Planned{Event: reply[2+i].ID}).End()
		if _, err := commit(session.Commit{Events: []session.Event{say(session.ToolOutput, session.Body{CallID: fmt.Sprint("c", i), Tool: "look", ToolName: "corpora_search", Output: output})}}); err != nil {
			return nil, err
		}
	}
	if err := ask(); err != nil {
		return nil, err
	}
	done, err := commit(session.Commit{Events: []session.Event{say(session.AgentOutput, session.Body{Text: "Every year."})}, End: &session.End{}})
	return append([]session.Event{begun.Begun}, done...), err
}

// written is what was written in some time.
type written struct {
	events, commits int64
	took, used      time.Duration
}

func (w written) rate() float64 { return float64(w.events) / w.took.Seconds() }

func (w *written) add(o written) {
	w.events, w.commits, w.took, w.used = w.events+o.events, w.commits+o.commits, w.took+o.took, w.used+o.used
}

// slicesOfTime is into how many the time for either way is cut, so that both see the same machine, and a database as full: it is
// fastest at first.
const slicesOfTime = 16

// durable measures events a second: 64 sessions at once, every turn an input, a reply of five events and three outputs, each a
// commit, and an answer; without traces and with them, by turns.
func (b *bench) durable() error {
	const at = 64
	for range at {
		if _, err := b.session("quick"); err != nil {
			return err
		}
	}
	b.Stop()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{Dir: b.dir})
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := store.Select(db.Reader(ctx), "sessions", store.One[int64], `SELECT no FROM sessions ORDER BY no DESC LIMIT $1`, at)
	if err != nil {
		return err
	}
	v, err := vault.Open(ctx, vault.Config{Rows: secrets.NewRows(db), File: seal.NewFile(filepath.Join(b.dir, "secret.key"))})
	if err != nil {
		return err
	}
	rows := sessions.New(db, nil)
	rows.Spans = traces.New(db, secrets.New(db, v.Keyring()))
	var plain, traced written
	for range slicesOfTime {
		for _, way := range []struct {
			to *written
			r  *spans.Recorder
		}{{&plain, nil}, {&traced, &spans.Recorder{Content: true}}} {
			one, err := b.write(ctx, rows, found, way.r)
			if err != nil {
				return err
			}
			way.to.add(one)
		}
	}
	fmt.Printf("Durable events over %d sessions, ten to a turn of six commits, %.0f s each, by turns:\n\n| | events a second | commits a second | processor time an event |\n|---|---|---|---|\n", at, plain.took.Seconds())
	for name, w := range map[string]written{"without traces (bar: 5,000)": plain, "with traces, texts included": traced} {
		fmt.Printf("| %s | **%.0f** | %.0f | %.0f µs |\n", name, w.rate(), float64(w.commits)/w.took.Seconds(), 1e6*w.used.Seconds()/float64(w.events))
	}
	fmt.Printf("\nWith traces over without: **%.2f** (bar: 0.8)\n\n", traced.rate()/plain.rate())
	return nil
}

// write writes turns to sessions for a slice of the time.
func (b *bench) write(ctx context.Context, rows *sessions.Store, found []int64, r *spans.Recorder) (out written, err error) {
	var events, commits atomic.Int64
	var failed error
	var once sync.Once
	var group sync.WaitGroup
	used, err := service.OwnTime()
	if err != nil {
		return out, err
	}
	began := time.Now()
	for _, no := range found {
		group.Go(func() {
			for time.Since(began) < b.writing/slicesOfTime {
				if _, err := writeTurn(ctx, rows, no, 9, r); err != nil {
					once.Do(func() { failed = err })
					return
				}
				events.Add(10)
				commits.Add(6)
			}
		})
	}
	group.Wait()
	out = written{events: events.Load(), commits: commits.Load(), took: time.Since(began)}
	now, err := service.OwnTime()
	if err != nil {
		return out, err
	}
	out.used = now - used
	return out, failed
}
