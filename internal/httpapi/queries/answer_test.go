package queries_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"quarry/internal/answer/generate"
	"quarry/internal/corpus"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/queries"
	"quarry/internal/identity/authz"
	"quarry/internal/llm"
	"quarry/internal/query"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
	"quarry/internal/query/rewrite"
	"quarry/internal/usage"
)

// finder finds one passage and keeps what it was asked.
type finder struct{ asked chan retrieve.Query }

func (f finder) Run(_ context.Context, q retrieve.Query) (retrieve.Answer, error) {
	f.asked <- q
	return retrieve.Answer{Save: true, Results: []retrieve.Result{{
		Text: "Every 500 hours.", DocumentID: "d1", DocumentMetadata: json.RawMessage(`{}`), PartMetadata: json.RawMessage(`{}`),
	}}}, nil
}

func (finder) Check(context.Context, retrieve.Query) ([]corpus.Corpus, error) {
	return []corpus.Corpus{{Key: "a", Attributes: []corpus.Attribute{{Name: "n", Level: "document", Type: "integer"}}}}, nil
}

// keeper keeps what is saved.
type keeper chan history.Record

func (k keeper) Save(ctx context.Context, r history.Record) {
	if ctx.Err() == nil {
		k <- r
	}
}

// waiting is a model that sends one word and then waits for goOn or the end of its call.
type waiting struct {
	embedded bool
	said     chan struct{} // after the first word
	goOn     chan struct{}
	ended    chan error
}

func (waiting) Find(context.Context, string) (generate.Preset, error) {
	return generate.Preset{Template: "$vectaraQuery"}, nil
}

func (m waiting) Model(context.Context, string) (*llm.Model, error) {
	return &llm.Model{Provider: m, Name: "waiting", Embedded: m.embedded, Can: llm.Abilities{Context: 10_000}}, nil
}

func (m waiting) Stream(ctx context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if err := emit(llm.Event{Text: "Every [1] "}); err != nil {
		return llm.Answer{}, err
	}
	m.said <- struct{}{}
	select {
	case <-m.goOn:
		return llm.Answer{}, emit(llm.Event{Text: "hour."})
	case <-ctx.Done():
		m.ended <- context.Cause(ctx)
		return llm.Answer{}, context.Cause(ctx)
	}
}

// fixture is a server over one model.
type fixture struct {
	*httptest.Server
	model  waiting
	finder finder
	kept   keeper
}

func newRig(t *testing.T, embedded bool, l httpapi.Limits) *fixture {
	t.Helper()
	d := &fixture{
		model:  waiting{embedded, make(chan struct{}, 9), make(chan struct{}), make(chan error, 9)},
		finder: finder{make(chan retrieve.Query, 9)}, kept: make(keeper, 9),
	}
	answers := generate.New(d.model, d.model, nil, slog.New(slog.DiscardHandler))
	server, err := httpapi.New(httpapi.Config{
		Authenticate: func(context.Context, httpapi.Credential) (authz.Principal, error) {
			return authz.Principal{Kind: authz.User, ID: "u1", APIRoles: []string{"owner"}}, nil
		},
		Areas: []httpapi.Area{queries.New(query.New(query.Config{
			Searcher: d.finder, Rewriter: rewrite.New(d.model, slog.New(slog.DiscardHandler)), Planner: answers, History: d.kept, Models: d.model,
		}))},
		Limits: l,
		Log:    slog.New(slog.DiscardHandler), MaxJSON: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Server = httptest.NewServer(server)
	t.Cleanup(d.Close)
	return d
}

const question = `{"query":"how often?","search":{"corpora":[{"corpus_key":"a"}]},"generation":{},"stream_response":`

func (d *fixture) ask(ctx context.Context, t *testing.T, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+"/v2/query", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "x")
	r.Header.Set("Content-Type", "application/json")
	res, err := d.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TestFirstWord proves that a stream shows the first word of a model before the second is there, and what is kept of it.
func TestFirstWord(t *testing.T) {
	t.Parallel()
	d := newRig(t, false, httpapi.Limits{})
	events := bufio.NewReader(d.ask(t.Context(), t, question+"true}").Body)
	var seen []string
	for len(seen) == 0 || !strings.Contains(seen[len(seen)-1], "generation_chunk") {
		line, err := events.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "event:") {
			line, _ = events.ReadString('\n')
			seen = append(seen, line)
		}
	}
	close(d.model.goOn)
	rest, err := io.ReadAll(events)
	if err != nil || len(seen) != 3 || !strings.Contains(seen[0], `"search_results":[{`) || !strings.Contains(seen[1], `"rendered_prompt":"how often?"`) {
		t.Errorf("%v: %q", err, seen)
	}
	if !strings.HasSuffix(string(rest), "event:generation_end\ndata:{\"type\":\"generation_end\"}\n\nevent:end\ndata:{\"type\":\"end\"}\n\n") {
		t.Errorf("the stream ends with %q", rest)
	}
	r := <-d.kept
	if r.Generation == nil || *r.Generation != "Every [1] hour." || len(r.Spans) != 1 || r.Spans[0].Prompt != "how often?" {
		t.Errorf("kept: %+v", r)
	}
}

// TestClientLeaves proves that the call of the model ends when the client leaves, streamed or not, and that the history
// keeps what there was by then.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"true", "false"} {
		d := newRig(t, false, httpapi.Limits{})
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+"/v2/query", strings.NewReader(question+stream+"}"))
			r.Header.Set("X-Api-Key", "x")
			r.Header.Set("Content-Type", "application/json")
			res, err := d.Client().Do(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}()
		<-d.model.said
		leave()
		if err := <-d.model.ended; err == nil {
			t.Error("the call ended by itself")
		}
		if r := <-d.kept; r.Generation == nil || *r.Generation != "Every [1]" {
			t.Errorf("streamed %s: kept %+v", stream, r)
		}
		<-left
	}
}

// TestPlaces proves that a query which waits for a model elsewhere keeps no other query out, and one whose model is
// embedded does; and that vectors are asked for where they are of use.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, embedded := range []bool{false, true} {
		one := func() *usage.Gate { return usage.NewGate(usage.Bounds{PerCaller: 1, Total: 1, Noun: "calls"}) }
		d := newRig(t, embedded, httpapi.Limits{Calls: one(), Remote: one()})
		waits := d.ask(t.Context(), t, question+"true}")
		<-d.model.said
		if q := <-d.finder.asked; q.Vectors != embedded {
			t.Errorf("embedded %v: vectors asked for: %v", embedded, q.Vectors)
		}
		plain := d.ask(t.Context(), t, `{"query":"x","search":{"corpora":[{"corpus_key":"a"}]}}`)
		if want := map[bool]int{false: 200, true: 429}[embedded]; plain.StatusCode != want {
			t.Errorf("embedded %v: the other query gets %d, want %d", embedded, plain.StatusCode, want)
		}
		close(d.model.goOn)
		if _, err := io.ReadAll(waits.Body); err != nil {
			t.Error(err)
		}
	}
}

// TestRewritingPlaces proves that a query keeps no other query out while a model elsewhere rewrites it, that it takes a place
// among those that wait meanwhile, that it searches behind that, and that it ends with its client without a search.
func TestRewritingPlaces(t *testing.T) {
	t.Parallel()
	calls := usage.NewGate(usage.Bounds{PerCaller: 1, Total: 1, Noun: "calls"})
	remote := usage.NewGate(usage.Bounds{PerCaller: 1, Total: 1, Noun: "calls"})
	d := newRig(t, false, httpapi.Limits{Calls: calls, Remote: remote})
	const plain = `{"query":"x","search":{"corpora":[{"corpus_key":"a"}]},"save_history":true`
	rewritten := plain + `,"intelligent_query_rewriting":true}`
	status := make(chan int)
	begin := func(ctx context.Context) {
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+"/v2/query", strings.NewReader(rewritten))
		r.Header.Set("X-Api-Key", "x")
		r.Header.Set("Content-Type", "application/json")
		res, err := d.Client().Do(r)
		if err != nil {
			status <- 0
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}
	ctx, leave := context.WithCancel(t.Context())
	go begin(ctx)
	<-d.model.said
	leave()
	if got := <-status; got != 0 || <-d.model.ended == nil {
		t.Errorf("the client that leaves gets %d", got)
	}
	for calls.Load() != (usage.Load{}) || remote.Load() != (usage.Load{}) { // the handler ends after its client
		runtime.Gosched()
	}
	go begin(t.Context())
	<-d.model.said
	if len(d.finder.asked) > 0 || calls.Load().Held != 0 || remote.Load().Held != 1 {
		t.Errorf("while it is rewritten: %d searches, %+v at work, %+v wait", len(d.finder.asked), calls.Load(), remote.Load())
	}
	if got := d.ask(t.Context(), t, plain+"}").StatusCode; got != http.StatusOK {
		t.Errorf("the other query gets %d", got)
	}
	if got := d.ask(t.Context(), t, rewritten).StatusCode; got != http.StatusTooManyRequests {
		t.Errorf("another one that waits gets %d", got)
	}
	close(d.model.goOn)
	if got := <-status; got != http.StatusOK || len(d.finder.asked) != 2 {
		t.Errorf("%d after %d searches", got, len(d.finder.asked))
	}
	if first, second := <-d.kept, <-d.kept; len(first.Spans) != 0 || len(second.Spans) != 1 || second.Spans[0].Warnings[0] != "failure" { // what it says is no JSON
		t.Errorf("kept: %+v, %+v", first.Spans, second.Spans)
	}
}
