package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"quarry/internal/provider/scripted"
)

// fork measures forks of a long session, what inputs of other sessions take meanwhile, and compactions of 500 events by the
// embedded generator.
func (b *bench) fork() error {
	b.provider.Model("quick", scripted.Reply{Text: "Every year."})
	path, err := b.session("quick")
	if err != nil {
		return err
	}
	if _, err := b.fill(path, b.events); err != nil {
		return err
	}
	source := strings.Split(path, "/")[5]
	const senders, watched = 4, 10 * time.Second
	idle, _, err := b.inputs(senders, watched, nil)
	if err != nil {
		return err
	}
	var forks []time.Duration
	beside, during, err := b.inputs(senders, watched, func() (time.Duration, error) {
		began := time.Now()
		_, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents/quick/sessions", map[string]any{"from_session": map[string]any{"session_key": source}})
		forks = append(forks, time.Since(began))
		return time.Since(began), err
	})
	if err != nil {
		return err
	}
	fmt.Printf("Forks of a session of %d events, one a second (bar: 1 s), and inputs of %d other sessions, one after another each:\n\n| | p50 | p95 | most |\n|---|---|---|---|\n", b.events, senders)
	most("a fork", forks)
	most("an input, nothing beside", idle)
	most("an input, with the forks beside", beside)
	most("those of them that a fork was under way with", during)
	fmt.Println()
	return b.compact()
}

// inputs sends inputs for a time, while beside is called once a second, and returns what each took, and those that were under way with
// a call of beside.
func (b *bench) inputs(senders int, watched time.Duration, beside func() (time.Duration, error)) (all, during []time.Duration, err error) {
	type span struct{ from, to time.Time }
	var mu sync.Mutex
	var sent, calls []span
	var group sync.WaitGroup
	end := time.Now().Add(watched)
	fail := func(e error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			err = e
		}
	}
	for range senders {
		path, e := b.session("quick")
		if e != nil {
			return nil, nil, e
		}
		group.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				began := time.Now()
				if _, e := b.Must(http.StatusCreated, http.MethodPost, path, input(fmt.Sprint(i), "", false)); e != nil {
					fail(e)
					return
				}
				mu.Lock()
				sent = append(sent, span{began, time.Now()})
				mu.Unlock()
			}
		})
	}
	for beside != nil && time.Now().Before(end) {
		began := time.Now()
		took, e := beside()
		if e != nil {
			fail(e)
			break
		}
		calls = append(calls, span{began, began.Add(took)})
		time.Sleep(time.Second - took)
	}
	group.Wait()
	for _, s := range sent {
		all = append(all, s.to.Sub(s.from))
		for _, c := range calls {
			if s.from.Before(c.to) && s.to.After(c.from) {
				during = append(during, s.to.Sub(s.from))
				break
			}
		}
	}
	return all, append(during, 0), err
}

// compact measures compactions of 500 events by the embedded generator, each of a fork of the same session.
func (b *bench) compact() error {
	const rounds, events = 20, 500
	if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents", map[string]any{"key": "own", "name": "own", "model": map[string]any{"name": "extractive-1.0"}}); err != nil {
		return err
	}
	path, err := b.session("own")
	if err != nil {
		return err
	}
	if _, err := b.fill(path, events); err != nil {
		return err
	}
	var whole []time.Duration
	for range rounds {
		raw, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents/own/sessions", map[string]any{"from_session": map[string]any{"session_key": strings.Split(path, "/")[5]}})
		if err != nil {
			return err
		}
		var made struct{ Key string }
		if err := json.Unmarshal(raw, &made); err != nil {
			return err
		}
		began := time.Now()
		if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents/own/sessions/"+made.Key+"/events", map[string]any{"type": "compact"}); err != nil {
			return err
		}
		whole = append(whole, time.Since(began))
	}
	fmt.Printf("Compactions of %d events by the embedded generator, %d (bar: 1 s):\n\n| | p50 | p95 | most |\n|---|---|---|---|\n", events, rounds)
	most("from the request to its answer", whole)
	fmt.Println()
	return nil
}
