// Command stream measures streamed queries, completions and turns of the running program with the scripted provider: the program's
// share of the time to the first token, the time from a client's disconnect to the cancellation of the provider's call, and a
// thousand concurrent streams. It needs a built binary. The results are for docs/benchmarks.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"quarry/bench/service"
	"quarry/internal/provider/scripted"
)

func main() {
	o := options{}
	flag.StringVar(&o.binary, "binary", "./quarry", "the program")
	flag.StringVar(&o.of, "of", "query,completion,turn", "the operations to measure")
	flag.StringVar(&o.parts, "parts", "first,leave,many", "what to measure of each")
	flag.IntVar(&o.rounds, "rounds", 400, "calls for the time to the first token")
	flag.IntVar(&o.streams, "streams", 1000, "concurrent streams")
	flag.IntVar(&o.rate, "rate", 20, "tokens per second of each stream, a divisor of 1,000")
	flag.DurationVar(&o.ramp, "ramp", 30*time.Second, "time over which the streams are started")
	flag.DurationVar(&o.together, "together", 15*time.Second, "time for which all streams run")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "stream:", err)
		os.Exit(1)
	}
}

type options struct {
	binary         string
	of, parts      string
	rounds         int
	streams, rate  int
	ramp, together time.Duration
}

// bench is the program under measurement and the provider that it calls.
type bench struct {
	options
	operation
	*service.Process
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
	p, err := service.Start(o.binary, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b := &bench{
		options: o, Process: p, provider: scripted.New(), at: "http://" + listener.Addr().String(),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}},
	}
	web := &http.Server{Handler: b.provider}
	go func() { _ = web.Serve(listener) }() // until it is closed
	defer func() { _ = web.Close() }()
	if err := b.fill(); err != nil {
		return err
	}
	for _, b.operation = range operations {
		if !slices.Contains(strings.Split(o.of, ","), b.noun) {
			continue
		}
		for _, part := range []struct {
			name string
			run  func() error
		}{{"first", b.first}, {"leave", b.leave}, {"many", b.many}} {
			if part.name == "leave" && b.path == "" {
				continue // a turn goes on without its reader
			}
			if !slices.Contains(strings.Split(o.parts, ","), part.name) {
				continue
			}
			if err := part.run(); err != nil {
				return fmt.Errorf("%s of a %s: %w", part.name, b.noun, err)
			}
		}
	}
	return nil
}

// operation is a way to be answered in a stream.
type operation struct {
	noun, path  string // the path of a turn is that of its session
	status      int
	body        func(model string) string
	found       string // begins the line before which the program itself works; "" is the start of the call
	token       string // is in the line of each token, before its text
	end         string // begins the line that ends the stream
	bar, memory string // for the report
}

var operations = []operation{
	{"query", "/v2/corpora/" + corpus + "/query", http.StatusOK, query, "event:search_results", `"generation_chunk":"`, "event:end", "3 ms", "500 MB"},
	{"completion", "/v1/chat/completions", http.StatusOK, completion, "", `"content":"`, "data: [DONE]", "2 ms", "400 MB"},
	{"turn", "", http.StatusCreated, turn, "", `"type":"streaming_agent_output","content":"`, `data: {"type":"end"}`, "5 ms", "600 MB"},
}

// prompt is the user's message of a completion and of a call of the provider itself.
var prompt = strings.Repeat("a passage of the prompt ", 60)

// completion returns the body of a streamed completion.
func completion(model string) string {
	return fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":%q}]}`, model, prompt)
}

// turn returns the body of a streamed turn, whose model is its agent's.
func turn(string) string {
	return fmt.Sprintf(`{"stream_response":true,"messages":[{"type":"text","content":%q}]}`, prompt)
}

const corpus = "b"

// fill creates a corpus of 500 passages.
func (b *bench) fill() error {
	_, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/corpora", map[string]any{"key": corpus})
	for i := 0; i < 50 && err == nil; i++ {
		parts := make([]map[string]any, 10)
		for j := range parts {
			parts[j] = map[string]any{"text": fmt.Sprintf("Pump %d is serviced every %d hours, its filter after %d; close the inlet valve before and tell the control room.", i, 100+i*j, 50+j)}
		}
		_, err = b.Must(http.StatusCreated, http.MethodPost, "/v2/corpora/"+corpus+"/documents", map[string]any{"type": "core", "id": fmt.Sprint("d", i), "document_parts": parts})
	}
	return err
}

// model registers a model of the provider, whose behaviour is determined by script, and returns its name.
func (b *bench) model(name, script string) (string, error) { return b.modelAt(b.at, name, script) }

func (b *bench) modelAt(address, name, script string) (string, error) {
	name += " for a " + b.noun
	_, err := b.Must(http.StatusCreated, http.MethodPost, "/v2/llms", map[string]any{
		"type": "openai-compatible", "name": name, "model": script, "uri": address + "/v1/chat/completions",
		"auth": map[string]any{"type": "bearer", "token": "sk-bench-0123456789"},
	})
	if err == nil && b.path == "" {
		_, err = b.Must(http.StatusCreated, http.MethodPost, "/v2/agents", map[string]any{"key": key(name), "name": name, "model": map[string]any{"name": name}})
	}
	return name, err
}

// key is that of the agent of a model.
func key(model string) string { return strings.ReplaceAll(model, " ", "-") }

// place returns the path of the next call: that of a turn is of a session of its own.
func (b *bench) place(model string) (string, error) {
	if b.path != "" {
		return b.path, nil
	}
	sessions := "/v2/agents/" + key(model) + "/sessions"
	raw, err := b.Must(http.StatusCreated, http.MethodPost, sessions, map[string]any{})
	if err != nil {
		return "", err
	}
	var made struct{ Key string }
	err = json.Unmarshal(raw, &made)
	return sessions + "/" + made.Key + "/events", err
}

// query returns the body of a streamed query. The consistency score is disabled, since the answers are not real text.
func query(model string) string {
	return fmt.Sprintf(`{"query":"How often is the filter of a pump serviced?","search":{"limit":5},"stream_response":true,
		"generation":{"model_parameters":{"llm_name":%q},"enable_factual_consistency_score":false}}`, model)
}

// ask calls the operation and returns the response, whose body is a stream.
func (b *bench) ask(model string) (*http.Response, error) {
	path, err := b.place(model)
	if err != nil {
		return nil, err
	}
	return b.askAt(path, model)
}

func (b *bench) askAt(path, model string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+b.Address()+path, strings.NewReader(b.body(model)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("x-api-key", b.Key())
	req.Header.Set("Content-Type", "application/json")
	res, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != b.status || res.Header.Get("Content-Type") != "text/event-stream" {
		defer res.Body.Close()
		return nil, fmt.Errorf("a %s answers %s as %s", b.noun, res.Status, res.Header.Get("Content-Type"))
	}
	return res, nil
}

// at returns a quantile of all, which it sorts.
func at(all []time.Duration, share float64) time.Duration {
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1e3) }

var errShort = errors.New("the stream ended too early")
