package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/bench/service"
	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
	"quarry/internal/store"
	"quarry/internal/store/sessions"
)

// long measures a session of many events: its pages, and the first frame of who resumes it while a turn is running.
func (b *bench) long() error {
	path, err := b.session("held")
	if err != nil {
		return err
	}
	last, err := b.fill(path, b.events)
	if err != nil {
		return err
	}
	if err := b.pages(path); err != nil {
		return err
	}
	gate := scripted.NewGate()
	defer gate.Open()
	came := make(chan struct{}, 1)
	b.provider.Respond("held", func(*transcript.Transcript) scripted.Reply {
		came <- struct{}{}
		return scripted.Reply{Text: "Every year.", Held: gate}
	})
	began := time.Now()
	go func() { _, _, _ = b.Call(http.MethodPost, path, input("x", "", false)) }() // until the gate opens
	<-came
	prompt := time.Since(began)
	var start, end []time.Duration
	for range 100 {
		for _, one := range []struct {
			since string
			times *[]time.Duration
		}{{"start", &start}, {last, &end}} {
			began := time.Now()
			s, err := b.stream(path, input("x", one.since, true))
			if err != nil {
				return err
			}
			if err := s.until(""); err != nil {
				return err
			}
			*one.times = append(*one.times, time.Since(began))
			s.close()
		}
	}
	fmt.Printf("A resume of a session of %d events while a turn is running, until its first frame (bar: 20 ms):\n\n| since | p50 | p95 | most |\n|---|---|---|---|\n", b.events)
	most("start", start)
	most("the last event before the turn", end)
	fmt.Printf("\nA turn of it calls its model after %s.\n\n", ms(prompt))
	return nil
}

// fill writes the events of a session while the program is stopped, in turns of ten, and returns the last one.
func (b *bench) fill(path string, events int) (last string, err error) {
	b.Stop()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{Dir: b.dir})
	if err != nil {
		return "", err
	}
	key := strings.Split(path, "/")[5]
	rows := sessions.New(db, nil)
	var no int64
	if err := db.Reader(ctx).QueryRow(`SELECT no FROM sessions WHERE key = $1`, key).Scan(&no); err != nil {
		return "", err
	}
	for range events / 10 {
		done, err := writeTurn(ctx, rows, no, 9)
		if err != nil {
			return "", err
		}
		last = string(done[len(done)-1].ID)
	}
	if err := db.Close(); err != nil {
		return "", err
	}
	return last, b.start()
}

// writeTurn writes an input and a turn of n more events, a reply with calls and their outputs.
func writeTurn(ctx context.Context, rows *sessions.Store, no int64, n int) ([]session.Event, error) {
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
	reply := []session.Event{say(session.Thinking, session.Body{Text: strings.Repeat("hm ", 40)}), say(session.AgentOutput, session.Body{Text: "I look."})}
	calls := (n - 3) / 2
	for i := range calls {
		reply = append(reply, say(session.ToolInput, session.Body{CallID: fmt.Sprint("c", i), Tool: "look", ToolName: "corpora_search", Arguments: json.RawMessage(`{"query":"the filter of a pump"}`)}))
	}
	commit := func(c session.Commit) ([]session.Event, error) {
		done, err := rows.Commit(ctx, l, c, clock.Now())
		return done.Events, err
	}
	if _, err := commit(session.Commit{Events: reply, Progress: &session.Progress{Calls: 1}}); err != nil {
		return nil, err
	}
	output, _ := json.Marshal(map[string]any{"search_results": []any{map[string]any{"text": strings.Repeat("Pump 7 is serviced every year. ", 30), "score": 0.5, "document_id": "d7"}}})
	for i := range calls {
		if _, err := commit(session.Commit{Events: []session.Event{say(session.ToolOutput, session.Body{CallID: fmt.Sprint("c", i), Tool: "look", ToolName: "corpora_search", Output: output})}}); err != nil {
			return nil, err
		}
	}
	done, err := commit(session.Commit{Events: []session.Event{say(session.AgentOutput, session.Body{Text: "Every year."})}, End: &session.End{}})
	return append([]session.Event{begun.Begun}, done...), err
}

// pages reads the session twice, in pages of the default size and of the largest.
func (b *bench) pages(path string) error {
	fmt.Printf("Pages of a session of %d events (bar: 10 ms):\n\n| events | pages | p50 | p95 | most |\n|---|---|---|---|---|\n", b.events)
	for _, limit := range []int{20, 100} {
		var all []time.Duration
		first := fmt.Sprintf("%s?limit=%d", path, limit)
		for next := first; next != ""; {
			began := time.Now()
			raw, err := b.Must(http.StatusOK, http.MethodGet, next, nil)
			if err != nil {
				return err
			}
			all = append(all, time.Since(began))
			var page struct {
				Metadata struct {
					Key string `json:"page_key"`
				}
			}
			if err := json.Unmarshal(raw, &page); err != nil {
				return err
			}
			if next = ""; page.Metadata.Key != "" {
				next = first + "&page_key=" + url.QueryEscape(page.Metadata.Key)
			}
		}
		fmt.Printf("| %d | %d | %s | %s | %s |\n", limit, len(all), ms(at(all, 0.5)), ms(at(all, 0.95)), ms(at(all, 1)))
	}
	fmt.Println()
	return nil
}

// durable measures events a second: 64 sessions at once, every turn an input, a reply of five events and three outputs, each a
// commit, and an answer.
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
	rows := sessions.New(db, nil)
	var events, commits atomic.Int64
	var failed error
	var once sync.Once
	var group sync.WaitGroup
	used, err := service.OwnTime()
	if err != nil {
		return err
	}
	began := time.Now()
	for _, no := range found {
		group.Go(func() {
			for time.Since(began) < b.writing {
				if _, err := writeTurn(ctx, rows, no, 9); err != nil {
					once.Do(func() { failed = err })
					return
				}
				events.Add(10)
				commits.Add(6)
			}
		})
	}
	group.Wait()
	took := time.Since(began).Seconds()
	now, err := service.OwnTime()
	if err != nil {
		return err
	}
	fmt.Printf("Durable events over %d sessions, ten to a turn of six commits, %.0f s: **%.0f a second** (bar: 5,000), %.0f commits a second, %.0f µs of processor time an event\n\n",
		at, took, float64(events.Load())/took, float64(commits.Load())/took, 1e6*(now-used).Seconds()/float64(events.Load()))
	return failed
}

// stream is the frames of a turn.
type stream struct {
	res   *http.Response
	lines *bufio.Scanner
}

func (b *bench) stream(path string, body map[string]any) (*stream, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+b.Address()+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("x-api-key", b.Key())
	req.Header.Set("Content-Type", "application/json")
	res, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusCreated {
		defer res.Body.Close()
		return nil, fmt.Errorf("a turn answers %s", res.Status)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{res, lines}, nil
}

func (s *stream) close() { s.res.Body.Close() }

// until reads to a frame of a type, "" for any.
func (s *stream) until(kind string) error {
	for s.lines.Scan() {
		if bytes.HasPrefix(s.lines.Bytes(), []byte(`data: {"type":"`+kind)) {
			return nil
		}
	}
	return errors.Join(s.lines.Err(), fmt.Errorf("the stream has ended without %s", kind))
}
