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
	"time"

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
		done, err := writeTurn(ctx, rows, no, 9, nil)
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
