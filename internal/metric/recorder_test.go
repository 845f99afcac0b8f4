package metric_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/metric"
	"quarry/internal/store"
	"quarry/internal/store/metrics"
	"quarry/internal/store/storetest"
	"quarry/internal/trace"
)

// TestRecorded proves what of the spans of a run counts: the entry as a trace, each chat once with the agent that it was of, each call
// of a tool by the tool's own name, one that the client makes once it has ended, and nothing else.
func TestRecorded(t *testing.T) {
	t.Parallel()
	n := open(t)
	ended := time.Now()
	span := func(op trace.Operation, parent, agent string, failed bool) trace.Span {
		return trace.Span{Operation: op, Parent: parent, Agent: trace.Subject{Key: agent}, Failed: failed, Started: ended.Add(-2 * time.Second), Ended: ended}
	}
	entry, below := span(trace.InvokeAgent, "", "desk", true), span(trace.InvokeAgent, "c1", "helper", true)
	chat, inner, broken := span(trace.Chat, "e", "desk", false), span(trace.Chat, "b", "helper", false), span(trace.Chat, "e", "desk", true)
	chat.Chat = &trace.ChatAttributes{Model: "m1", InputTokens: 100, OutputTokens: 7}
	inner.Chat = &trace.ChatAttributes{Model: "m2", InputTokens: 30, OutputTokens: 2}
	broken.Chat = &trace.ChatAttributes{Model: "m1", InputTokens: 50, OutputTokens: -1}
	entry.Invocation = &trace.InvocationAttributes{ChatAttributes: trace.ChatAttributes{InputTokens: 150, OutputTokens: 7}}
	call, wrong := span(trace.ExecuteTool, "e", "desk", false), span(trace.ExecuteTool, "b", "helper", true)
	call.Call = &trace.CallAttributes{Tool: "corpora_search", Key: "find"}
	wrong.Call = &trace.CallAttributes{Tool: "web_get", Key: "find"}
	call.Call.InputEvent, call.Call.OutputEvent = "aev_1", "aev_2"
	handed, back, within := span(trace.ExecuteTool, "e", "desk", false), span(trace.ExecuteTool, "e2", "desk", false), span(trace.ExecuteTool, "c1", "desk", false)
	handed.Call = &trace.CallAttributes{Tool: "ask", Key: "ask", InputEvent: "aev_3"}
	back.Call = &trace.CallAttributes{Tool: "ask", Key: "ask", InputEvent: "aev_3", OutputEvent: "aev_4"}
	within.Call = &trace.CallAttributes{Tool: "web_search", Key: "search"}
	n.Recorded([]trace.Span{chat, inner, call, wrong, handed, back, within, below, broken, span(trace.Thinking, "e", "desk", false), span(trace.Compaction, "e", "desk", true), entry})
	for _, c := range []struct {
		name   string
		labels map[string][]string
		want   uint64
	}{
		{"agent.trace.count", nil, 1},
		{"agent.trace.count", map[string][]string{"agent_keys": {"desk"}}, 1},
		{"agent.trace.count", map[string][]string{"agent_keys": {"helper"}}, 0},
		{"agent.trace.error_count", nil, 1},
		{"agent.trace.input_tokens", nil, 180},
		{"agent.trace.output_tokens", nil, 9},
		{"agent.trace.input_tokens", map[string][]string{"agent_keys": {"helper"}}, 30},
		{"agent.trace.input_tokens", map[string][]string{"agent_keys": {"desk", "helper"}, "model_names": {"m2"}}, 30},
		{"agent.trace.input_tokens", map[string][]string{"agent_keys": {"desk"}, "model_names": {"m2"}}, 0},
		{"agent.tool.call_count", nil, 4},
		{"agent.tool.call_count", map[string][]string{"tool_names": {"ask"}}, 1},
		{"agent.tool.call_count", map[string][]string{"tool_names": {"web_search"}}, 1},
		{"agent.tool.error_count", nil, 1},
		{"agent.tool.call_count", map[string][]string{"tool_names": {"find"}}, 0},
		{"agent.tool.call_count", map[string][]string{"tool_names": {"corpora_search"}}, 1},
		{"agent.tool.error_count", map[string][]string{"tool_names": {"corpora_search"}}, 0},
		{"query.count", nil, 0},
	} {
		if got := n.sum(t, c.name, c.labels); got != c.want {
			t.Errorf("%s %v: %d, want %d", c.name, c.labels, got, c.want)
		}
	}
	took := n.series(t, "agent.trace.duration_ms", metric.Ask{Start: ended.Add(-time.Hour), End: ended.Add(time.Minute), Bins: 1}).Points
	if len(took) != 1 || len(took[0].Percentiles) != 4 || took[0].Percentiles[0] < 1980 || took[0].Percentiles[0] > 2020 {
		t.Errorf("durations %+v, want 2000 ms", took)
	}
}

// flaky is a store that fails while it is told to.
type flaky struct {
	*metrics.Store
	fails atomic.Bool
	torn  bool // it fails behind a write that has been made
}

var errGone = errors.New("the disk is full")

func (f *flaky) Add(ctx context.Context, b metric.Batch) error {
	if !f.fails.Load() {
		return f.Store.Add(ctx, b)
	}
	if f.torn {
		return errors.Join(f.Store.Add(ctx, b), errGone)
	}
	return errGone
}

// TestOutage proves that what is counted while nothing can be written waits and counts once, also where the outcome of a write was
// unknown, and that beyond a bound it is dropped and the number is logged.
func TestOutage(t *testing.T) {
	t.Parallel()
	for _, torn := range []bool{false, true} {
		var log bytes.Buffer
		f := &flaky{Store: metrics.New(storetest.Open(t, store.Config{Dir: t.TempDir()})), torn: torn}
		r := metric.NewRecorder(f, slog.New(slog.NewTextHandler(&log, nil)))
		n := node{r, metric.New(catalogue, f, r), f.Store}
		r.Searched([]string{"a"}, time.Second)
		f.fails.Store(true)
		for range 3 {
			if err := r.Flush(t.Context()); !errors.Is(err, errGone) {
				t.Errorf("Flush = %v, want %v", err, errGone)
			}
			r.Searched([]string{"a"}, time.Second)
		}
		f.fails.Store(false)
		if got := n.sum(t, "query.count", nil); got != 4 {
			t.Errorf("torn %t: %d queries, want 4", torn, got)
		}
		f.fails.Store(true)
		now := time.Now()
		for i := range 300_000 { // a cell and a bucket each
			r.Count(metric.Queries, metric.Event{At: now.Add(-time.Duration(i+60) * time.Minute), Labels: [][]string{{"a"}}, Sums: []uint64{1}, Took: time.Second})
		}
		_ = r.Flush(t.Context())
		r.Searched([]string{"a"}, time.Second)
		f.fails.Store(false)
		r.Close()
		if text := log.String(); !strings.Contains(text, "events=50000") {
			t.Errorf("the log says %q, want 50,000 events dropped", text)
		}
		if got := n.sum(t, "query.count", nil); got != 5 {
			t.Errorf("torn %t: %d queries of the last hour, want 5", torn, got)
		}
	}
}

// TestCombinations proves that combinations beyond the bound of an hour count without their labels, and that this is logged once.
func TestCombinations(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := metrics.New(storetest.Open(t, store.Config{Dir: t.TempDir()}))
	r := metric.NewRecorder(s, slog.New(slog.NewTextHandler(&log, nil)))
	n := node{r, metric.New(catalogue, s, r), s}
	for range 2 { // the hour may change once
		for i := range 4010 {
			r.Searched([]string{fmt.Sprint("c", i)}, time.Second)
		}
	}
	if got := n.sum(t, "query.count", nil); got != 8020 {
		t.Errorf("%d queries, want 8020", got)
	}
	if got := n.sum(t, "query.count", map[string][]string{"corpus_keys": {"c1"}}); got != 2 {
		t.Errorf("%d queries of the second corpus, want 2", got)
	}
	if got := n.sum(t, "query.count", map[string][]string{"corpus_keys": {"c4009"}}); got != 0 {
		t.Errorf("%d queries of the last corpus, want none told apart", got)
	}
	if n := strings.Count(log.String(), "without labels"); n < 1 || n > 2 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

// TestNodes proves on both databases that several processes count into the same minutes while each of them merges and packs, and
// that nothing is lost or counted twice.
func TestNodes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(_ *testing.T, db *store.DB) *store.DB { return db }, map[string]func(*testing.T, *store.DB){"nodes": func(t *testing.T, db *store.DB) {
		now := time.Now()
		done := make(chan error)
		const nodes, rounds, each = 4, 15, 20
		for i := range nodes {
			n := newNode(db)
			go func() {
				var errs []error
				for round := range rounds {
					for j := range each {
						n.Count(metric.Queries, metric.Event{
							At: now.Add(-time.Duration(j%3) * time.Minute), Labels: [][]string{{fmt.Sprint("c", (i+j)%5)}}, Sums: []uint64{1}, Took: time.Duration(round) * time.Millisecond,
						})
					}
					_, merged := n.store.Merge(context.Background(), time.Now().Add(time.Hour))
					_, packed := n.store.Pack(context.Background(), time.Now().Add(48*time.Hour))
					errs = append(errs, n.Flush(context.Background()), merged, packed)
				}
				n.Close()
				done <- errors.Join(errs...)
			}()
		}
		for range nodes {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		n := newNode(db)
		if got := n.sum(t, "query.count", nil); got != nodes*rounds*each {
			t.Errorf("%d queries, want %d", got, nodes*rounds*each)
		}
		if got := n.sum(t, "query.count", map[string][]string{"corpus_keys": {"c0", "c3"}}); got != nodes*rounds*each*2/5 {
			t.Errorf("%d queries of two of five corpora, want %d", got, nodes*rounds*each*2/5)
		}
	}})
}

// TestMergeOrder proves that cells merged in any order are the same bytes.
func TestMergeOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		var all []metric.Cell
		for range 1 + random.IntN(30) {
			c := metric.Cell{Minute: 1000 + random.Int64N(10), Sums: []uint64{random.Uint64N(1 << 40), 1}}
			for bucket := random.IntN(5); bucket < 1393; bucket += 1 + random.IntN(400) {
				c.Counts = append(c.Counts, metric.Count{Bucket: bucket, N: 1 + random.Uint64N(300)})
			}
			all = append(all, c)
		}
		encode := func() metric.Block { return metric.Encode(990, 2, metric.Merge(append([]metric.Cell(nil), all...))) }
		want := encode()
		for range 5 {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if got := encode(); !bytes.Equal(got, want) {
				t.Fatal("another order gives other bytes")
			}
			half := random.IntN(len(all) + 1) // in two steps
			cells, err := metric.Encode(990, 2, metric.Merge(append([]metric.Cell(nil), all[:half]...))).Decode(990)
			if err != nil {
				t.Fatal(err)
			}
			if got := metric.Encode(990, 2, metric.Merge(append(cells, all[half:]...))); !bytes.Equal(got, want) {
				t.Fatal("two steps give other bytes than one")
			}
		}
	}
}

// FuzzBlock proves that a damaged block is an error or cells, whatever its bytes.
func FuzzBlock(f *testing.F) {
	f.Add([]byte(metric.Encode(7, 2, []metric.Cell{{Minute: 9, Sums: []uint64{1, 300}, Counts: []metric.Count{{3, 1}, {700, 5}}}, {Minute: 12, Sums: []uint64{0, 0}}})))
	f.Add([]byte{})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 127, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		cells, err := metric.Block(raw).Decode(7)
		if err == nil && len(raw) > 0 && len(cells) > len(raw) {
			t.Errorf("%d cells in %d bytes", len(cells), len(raw))
		}
	})
}

// silent is a store that tells when it is written to.
type silent struct {
	metric.Store
	added  chan time.Time
	merged chan time.Time
}

func (s silent) Add(context.Context, metric.Batch) error {
	s.added <- time.Now()
	return nil
}

func (s silent) Merge(_ context.Context, before time.Time) (bool, error) {
	s.merged <- before
	return false, nil
}

func (silent) Pack(context.Context, time.Time) (bool, error)   { return false, nil }
func (silent) Expire(context.Context, time.Time) (bool, error) { return false, nil }

// TestRun proves that counts are written within a second, that nothing is written while nothing is counted, that rows are merged
// every minute, two minutes old, and that Close writes what is left.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := silent{added: make(chan time.Time, 9), merged: make(chan time.Time, 9)}
		r := metric.NewRecorder(s, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		begun := time.Now()
		go func() {
			defer close(done)
			r.Run(ctx)
		}()
		if first, second := <-s.merged, <-s.merged; first.Sub(begun) != -2*time.Minute || second.Sub(begun) != -time.Minute {
			t.Errorf("merged what is older than %v and %v", first, second)
		}
		for range 2 {
			counted := time.Now()
			r.Searched([]string{"a"}, time.Second)
			r.Searched([]string{"b"}, time.Second)
			if wrote := <-s.added; wrote.Sub(counted) > time.Second {
				t.Errorf("written %v later", wrote.Sub(counted))
			}
			time.Sleep(10 * time.Second) // of the bubble's clock
		}
		r.Searched([]string{"a"}, time.Second)
		cancel()
		<-done
		r.Close()
		if len(s.added) != 1 {
			t.Errorf("%d writes at the end, want one", len(s.added))
		}
	})
}
