// Command agent measures turns of agents with the scripted provider: the program's own time in a turn, durable events, reading
// a long session and resuming it, interrupts, and turns that go on after a kill. It needs a built binary. The results are for
// docs/benchmarks.md; a thousand streamed turns are measured by bench/stream.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"quarry/bench/service"
	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
)

func main() {
	o := options{}
	flag.StringVar(&o.binary, "binary", "./quarry", "the program")
	flag.StringVar(&o.parts, "parts", "turn,interrupt,long,kill,events,fork,files,parked,below,index,delete,mcp,servers,sync", "what to measure")
	flag.IntVar(&o.rounds, "rounds", 400, "turns for the program's own time")
	flag.IntVar(&o.events, "events", 10_000, "events of the long session")
	flag.IntVar(&o.waiting, "waiting", 1_000, "sessions that wait for their client")
	flag.IntVar(&o.batches, "batches", 20, "batches that an agent indexes")
	flag.IntVar(&o.deleted, "deleted", 10_000, "documents that an agent deletes in one call")
	flag.IntVar(&o.registered, "servers", 100, "tool servers that are idle")
	flag.IntVar(&o.killed, "killed", 200, "turns that are killed together")
	flag.DurationVar(&o.writing, "writing", 5*time.Second, "time for which events are written")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, parts                   string
	rounds, events, killed, waiting int
	batches, deleted, registered    int
	writing                         time.Duration
}

// bench is the running program and the provider that it calls.
type bench struct {
	options
	*service.Process
	dir      string
	provider *scripted.Server
	at       string // of the provider
	client   *http.Client
}

func run(o options) error {
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b := &bench{
		options: o, dir: dir, provider: scripted.New(), at: "http://" + listener.Addr().String() + "/v1/chat/completions",
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	web := &http.Server{Handler: b.provider}
	go func() { _ = web.Serve(listener) }() // until it is closed
	defer func() { _ = web.Close() }()
	if err := b.start(); err != nil {
		return err
	}
	defer func() { b.Stop() }()
	for _, model := range []string{"quick", "patient", "held"} {
		if err := b.agent(model); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{{"turn", b.turn}, {"interrupt", b.interrupt}, {"long", b.long}, {"kill", b.kill}, {"events", b.durable}, {"fork", b.fork}, {"files", b.files}, {"parked", b.parked}, {"below", b.below}, {"index", b.index}, {"delete", b.delete}, {"mcp", b.mcp}, {"servers", b.servers}, {"sync", b.sync}} {
		if !slices.Contains(strings.Split(o.parts, ","), part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func (b *bench) start() (err error) {
	b.Process, err = service.Start(b.binary, b.dir)
	return err
}

// agent makes an agent and its model, both named by how the provider answers.
func (b *bench) agent(model string) error {
	if _, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": model, "model": model, "uri": b.at, "capabilities": map[string]any{"context_limit": 2_000_000},
	}); err != nil {
		return err
	}
	_, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents", map[string]any{"key": model, "name": model, "model": map[string]any{"name": model}})
	return err
}

// session opens a session with an agent and returns the path of its events.
func (b *bench) session(agent string) (string, error) {
	raw, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/agents/"+agent+"/sessions", map[string]any{})
	if err != nil {
		return "", err
	}
	var made struct{ Key string }
	err = json.Unmarshal(raw, &made)
	return "/v2/agents/" + agent + "/sessions/" + made.Key + "/events", err
}

const asked = "How often is the filter of a pump serviced?"

func input(external, since string, stream bool) map[string]any {
	body := map[string]any{"stream_response": stream, "messages": []any{map[string]any{"type": "text", "content": asked, "external_id": external}}}
	if since != "" {
		body["since"] = since
	}
	return body
}

// turn measures whole turns beside calls of the provider itself, in turns. A session has twenty of them.
func (b *bench) turn() error {
	b.provider.Model("quick", scripted.Reply{Text: "Every year."})
	var direct, whole []time.Duration
	path := ""
	for i := range b.rounds + b.rounds/10 {
		began := time.Now()
		res, err := b.client.Post(b.at, "application/json", strings.NewReader(`{"model":"quick","stream":true,"messages":[{"role":"user","content":"`+asked+`"}]}`))
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		res.Body.Close()
		called := time.Since(began)
		if i%20 == 0 {
			if path, err = b.session("quick"); err != nil {
				return err
			}
		}
		began = time.Now()
		if _, err := b.Must(http.StatusCreated, http.MethodPost, path, input(fmt.Sprint(i), "", false)); err != nil {
			return err
		}
		if took := time.Since(began); i >= b.rounds/10 { // before that it warms up
			direct, whole = append(direct, called), append(whole, took)
		}
	}
	fmt.Printf("Turns without tools, %d, one after another, 20 to a session:\n\n| | p50 | p95 |\n|---|---|---|\n", b.rounds)
	row("the provider, called directly", direct)
	row("a turn, from its request to its answer", whole)
	fmt.Printf("\nOur own, two commits included: %s p50 (bar: 5 ms)\n\n", ms(at(whole, 0.5)-at(direct, 0.5)))
	return nil
}

// interrupt measures interrupts of streamed turns: until they are answered, and until the provider is told.
func (b *bench) interrupt() error {
	b.provider.Model("patient", scripted.Reply{Text: strings.Repeat("word ", 2000), Pace: 20 * time.Millisecond})
	const rounds = 100
	var answered, told, ended []time.Duration
	for range rounds {
		path, err := b.session("patient")
		if err != nil {
			return err
		}
		s, err := b.stream(path, input("x", "", true))
		if err != nil {
			return err
		}
		if err := s.until("streaming_agent_output"); err != nil {
			return err
		}
		call := b.provider.Last()
		began, over := time.Now(), make(chan error, 1)
		var took time.Duration
		go func() {
			err := s.until("session_interrupted")
			took = time.Since(began)
			over <- err
		}()
		if _, err := b.Must(http.StatusCreated, http.MethodPost, path, map[string]any{"type": "interrupt"}); err != nil {
			return err
		}
		answered = append(answered, time.Since(began))
		select {
		case <-call.Gone:
			told = append(told, time.Since(began))
		case <-time.After(10 * time.Second):
			return errors.New("the call to the provider was not cancelled within ten seconds")
		}
		if err := <-over; err != nil {
			return err
		}
		ended = append(ended, took)
		s.close()
	}
	fmt.Printf("Interrupts of streamed turns, %d (bar: 100 ms):\n\n| until | p50 | p95 | most |\n|---|---|---|---|\n", rounds)
	most("the interrupt is answered, and the turn has ended", answered)
	most("the stream has session_interrupted", ended)
	most("the provider is told", told)
	fmt.Println()
	return nil
}

// kill measures how soon turns that were killed together call their model again.
func (b *bench) kill() error {
	gate := scripted.NewGate()
	came := make(chan string, 4*b.killed)
	b.provider.Respond("held", func(t *transcript.Transcript) scripted.Reply {
		came <- t.Question()
		return scripted.Reply{Text: "Every year.", Held: gate}
	})
	paths := make([]string, b.killed)
	for i := range paths {
		var err error
		if paths[i], err = b.session("held"); err != nil {
			return err
		}
		go func() { _, _, _ = b.Call(http.MethodPost, paths[i], input("x", "", false)) }() // ends with the program
	}
	await := func() {
		for range b.killed {
			<-came
		}
	}
	await()
	b.Kill()
	if err := b.start(); err != nil {
		return err
	}
	up := b.Took
	await()
	fmt.Printf("%d turns that were killed together: the program answers %.2f s after its start, and all have called their model again after **%.2f s** (bar: 5 s)\n",
		b.killed, up.Seconds(), time.Since(b.Began).Seconds())
	gate.Open()
	for _, path := range paths {
		raw, err := b.Must(http.StatusCreated, http.MethodPost, path, input("x", "start", false))
		if err != nil {
			return err
		}
		if !strings.Contains(string(raw), "Every year.") {
			return fmt.Errorf("a turn has come to %s", raw)
		}
	}
	fmt.Printf("All have their answer %.2f s after the start.\n\n", time.Since(b.Began).Seconds())
	return nil
}

// at returns a quantile of all, which it sorts.
func at(all []time.Duration, share float64) time.Duration {
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1e3) }

func row(name string, all []time.Duration) {
	fmt.Printf("| %s | %s | %s |\n", name, ms(at(all, 0.5)), ms(at(all, 0.95)))
}

func most(name string, all []time.Duration) {
	fmt.Printf("| %s | %s | %s | %s |\n", name, ms(at(all, 0.5)), ms(at(all, 0.95)), ms(at(all, 1)))
}
