package traces_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/trace"
)

// kept is a trace as the model has it: the entry's span last.
type kept struct {
	no    int64 // by the order of ends
	spans []trace.Span
}

func (k *kept) entry() *trace.Span { return &k.spans[len(k.spans)-1] }

// world is what random traces are made of.
type world struct {
	r      *rand.Rand
	agents []trace.Subject
	next   int64 // number of the next session
}

func one[T any](w *world, all []T) T { return all[w.r.IntN(len(all))] }

// random returns a trace of nested turns.
func (w *world) random() kept {
	at := began.Add(time.Duration(w.r.Int64N(40)) * time.Hour).Add(time.Duration(w.r.Int64N(3)) * time.Microsecond)
	k := kept{}
	w.turn(&k, trace.NewID(at), "", at, 0)
	return k
}

// turn appends the spans of a turn, itself last.
func (w *world) turn(k *kept, id, parent string, at time.Time, depth int) {
	w.next++
	agent, session := one(w, w.agents), trace.Subject{No: w.next, Key: "ase_" + strconv.Itoa(w.r.IntN(9))}
	entry := trace.Span{
		Trace: id, ID: trace.NewSpanID(), Parent: parent, Operation: trace.InvokeAgent, Started: at, Agent: agent, Session: session,
		Invocation: &trace.InvocationAttributes{Depth: depth, ChatAttributes: trace.ChatAttributes{InputTokens: 1000}},
	}
	entry.Ended = at.Add(one(w, []time.Duration{0, time.Duration(w.r.Int64N(int64(time.Hour))), time.Duration(w.r.Int64N(5000)) * time.Microsecond, time.Second}).Truncate(time.Microsecond))
	if entry.Failed = w.r.IntN(4) == 0; entry.Failed && w.r.IntN(2) == 0 {
		entry.Class = one(w, trace.Classes)
	}
	for range w.r.IntN(5) {
		s := trace.Span{
			Trace: id, ID: trace.NewSpanID(), Parent: entry.ID, Operation: one(w, trace.Operations[1:]), Started: at.Add(time.Duration(w.r.Int64N(5)) * time.Microsecond),
			Agent: agent, Session: session, Step: one(w, []string{"", "first"}),
		}
		s.Ended = s.Started.Add(time.Millisecond)
		if s.Failed = w.r.IntN(3) == 0; s.Failed {
			s.Message, s.Class = "it failed \x00", one(w, trace.Classes)
		}
		switch s.Operation {
		case trace.Chat:
			s.Chat = &trace.ChatAttributes{Model: "m", InputTokens: w.r.Int64N(100), OutputTokens: w.r.Int64N(100), FinishReasons: []string{"stop"}}
		case trace.ExecuteTool:
			s.Call = &trace.CallAttributes{Tool: one(w, []string{"web_get", "corpora_search", "ask", "ask/2", "ask%"}), Key: "k", Corpora: []string{"a"}}
			if s.Failed {
				s.Class = one(w, trace.ToolClasses)
			}
		}
		if s.Operation == trace.ExecuteTool && depth < 2 && w.r.IntN(2) == 0 {
			w.turn(k, id, s.ID, s.Started, depth+1)
		}
		k.spans = append(k.spans, s)
	}
	k.spans = append(k.spans, entry)
}

// matches is the naive filter.
func (k *kept) matches(l *trace.List, live map[int64]bool) bool {
	e := k.entry()
	some := func(match func(*trace.Span) bool) bool {
		return slices.ContainsFunc(k.spans, func(s trace.Span) bool { return match(&s) })
	}
	ms := e.Ended.Sub(e.Started).Milliseconds()
	return (l.Reader.All || live[e.Agent.No] && slices.Contains(l.Reader.Agents, e.Agent.Key)) &&
		(l.Agent == "" || l.Agent == e.Agent.Key) && (l.Session == "" || l.Session == e.Session.Key) && (l.Failed == nil || *l.Failed == e.Failed) &&
		(l.Class == "" || some(func(s *trace.Span) bool { return s.Operation != trace.ExecuteTool && s.Class == l.Class })) &&
		(l.Operation == "" || some(func(s *trace.Span) bool { return s.Operation == l.Operation })) &&
		(l.Tool == "" || some(func(s *trace.Span) bool { return s.Call != nil && s.Call.Tool == l.Tool })) &&
		(l.ToolClass == "" || some(func(s *trace.Span) bool { return s.Operation == trace.ExecuteTool && s.Class == l.ToolClass })) &&
		(l.StartedAfter.IsZero() || e.Started.After(l.StartedAfter)) && (l.StartedBefore.IsZero() || e.Started.Before(l.StartedBefore)) &&
		(l.Shortest == nil || ms >= *l.Shortest) && (l.Longest == nil || ms <= *l.Longest)
}

// shown returns what a list shows of a trace.
func (k *kept) shown() string {
	e := k.entry()
	var in, out int64
	for _, s := range k.spans {
		if s.Chat != nil {
			in, out = in+s.Chat.InputTokens, out+s.Chat.OutputTokens
		}
	}
	return fmt.Sprint(e.Trace, " ", e.Agent, " ", e.Session, " ", e.Started, " ", e.Ended.Sub(e.Started), " ", e.Failed, " ", in, " ", out)
}

func shown(t *trace.Trace) string {
	return fmt.Sprint(t.ID, " ", t.Agent, " ", t.Session, " ", t.Started, " ", t.Duration, " ", t.Failed, " ", t.Input, " ", t.Output)
}

// list returns random conditions: each is there once in a while, all together too.
func (w *world) list(often int) (l trace.List) {
	some := func() bool { return w.r.IntN(often) == 0 }
	l.Reader.All = true
	if some() {
		l.Reader = trace.Reader{}
		for _, a := range w.agents {
			if w.r.IntN(2) == 0 {
				l.Reader.Agents = append(l.Reader.Agents, a.Key)
			}
		}
	}
	if some() {
		l.Agent = one(w, []string{"desk", "des", "night", "gone", "nobody"})
	}
	if some() {
		l.Session = "ase_" + strconv.Itoa(w.r.IntN(9))
	}
	if some() {
		l.Failed = new(w.r.IntN(2) == 0)
	}
	if some() {
		l.Class = one(w, trace.Classes)
	}
	if some() {
		l.Operation = one(w, trace.Operations)
	}
	if some() {
		l.Tool = one(w, []string{"web_get", "ask", "as", "ask%", "none"})
	}
	if some() {
		l.ToolClass = one(w, trace.ToolClasses)
	}
	at := func() time.Time {
		return began.Add(time.Duration(w.r.Int64N(40)) * time.Hour).Add(time.Duration(w.r.Int64N(2500)))
	}
	if some() {
		l.StartedAfter = at()
	}
	if some() {
		l.StartedBefore = at()
	}
	ms := func() *int64 {
		return new(one(w, []int64{-1, 0, 1, 2, 3, 4, 5, 7, 999, 1000, 1001, 60_000, 2_000_000, 1 << 62, w.r.Int64N(3_600_000)}))
	}
	if some() {
		l.Shortest = ms()
	}
	if some() {
		l.Longest = ms()
	}
	return l
}

// all reads a list page by page.
func all(t *testing.T, b bench, l trace.List) (out []string) {
	t.Helper()
	for {
		found, more, err := b.List(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			out = append(out, shown(&found[i]))
		}
		if !more {
			return out
		}
		if len(found) != l.Limit {
			t.Fatalf("a page of %d with more behind it, want %d", len(found), l.Limit)
		}
		l.After = found[len(found)-1].Place()
	}
}

// agents makes agents, and one whose key another one has had before.
func (b bench) agents(t *testing.T) (out []trace.Subject, live map[int64]bool) {
	t.Helper()
	live = map[int64]bool{}
	err := b.db.Write(t.Context(), func(tx *store.Tx) error {
		for _, a := range []struct {
			key  string
			gone bool
		}{{"desk", true}, {"gone", true}, {"desk", false}, {"night", false}, {"des", false}} {
			s := trace.Subject{Key: a.key}
			row, deleted := new(a.key), 0
			if a.gone {
				row, deleted = nil, 1
			}
			if err := tx.QueryRow(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ($1, 1, TRUE, 1, 1, $2) RETURNING no`, row, deleted).Scan(&s.No); err != nil {
				return err
			}
			out, live[s.No] = append(out, s), !a.gone
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, live
}

// TestLists proves that lists find what a naive filter finds, in order and page by page, with every combination of conditions.
func TestLists(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){"at random": func(t *testing.T, b bench) {
		w := &world{r: rand.New(rand.NewPCG(1, 2))}
		var live map[int64]bool
		w.agents, live = b.agents(t)
		var model []kept
		for i := range 300 {
			k := w.random()
			k.no = int64(i)
			cut := w.r.IntN(len(k.spans))
			b.write(t, k.spans[:cut]...)
			b.write(t, k.spans[cut:]...)
			model = append(model, k)
		}
		slices.SortFunc(model, func(a, b kept) int {
			return cmp.Or(b.entry().Started.Compare(a.entry().Started), cmp.Compare(b.no, a.no))
		})
		some := 0
		for i := range 600 {
			l := w.list(2 + i%8)
			var want []string
			for j := range model {
				if model[j].matches(&l, live) {
					want = append(want, model[j].shown())
				}
			}
			l.Limit = 1 + w.r.IntN(100)
			if len(want) < 30 {
				l.Limit = 1 + w.r.IntN(7)
			}
			if got := all(t, b, l); !slices.Equal(got, want) {
				t.Fatalf("%+v (-want +got):\n%s", l, gocmp.Diff(want, got))
			}
			if len(want) > 0 {
				some++
			}
		}
		if some < 100 {
			t.Errorf("%d lists of 600 found something, too few to prove anything", some)
		}
	}})
}

// children returns whether spans have children, and which belong to the entry's turn.
func (k *kept) tree() (parental, own map[string]bool) {
	parental, own = map[string]bool{}, map[string]bool{}
	by := map[string]*trace.Span{}
	for i := range k.spans {
		by[k.spans[i].ID] = &k.spans[i]
		parental[k.spans[i].Parent] = true
	}
	for id := range by {
		own[id] = true
		for s := by[id]; s.Parent != ""; s = by[s.Parent] {
			if s.Operation == trace.InvokeAgent {
				own[id] = false
			}
		}
	}
	return parental, own
}

// TestSpans proves that the spans of a trace are read whole, in order and page by page, with every combination of conditions.
func TestSpans(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){"at random": func(t *testing.T, b bench) {
		w := &world{r: rand.New(rand.NewPCG(3, 4))}
		w.agents, _ = b.agents(t)
		for range 60 {
			k := w.random()
			b.write(t, k.spans...)
			parental, own := k.tree()
			sorted := slices.Clone(k.spans)
			slices.SortFunc(sorted, func(a, b trace.Span) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
			for range 8 {
				l := trace.Spans{Trace: k.entry().Trace, Limit: 1 + w.r.IntN(9), Reader: trace.Reader{All: true}, Own: w.r.IntN(2) == 0}
				if w.r.IntN(3) == 0 {
					l.Operation = one(w, trace.Operations)
				}
				if w.r.IntN(3) == 0 {
					l.Parent = one(w, k.spans).ID
				}
				var want []trace.Shown
				for _, s := range sorted {
					if (l.Operation == "" || s.Operation == l.Operation) && (l.Parent == "" || s.Parent == l.Parent) && (!l.Own || own[s.ID]) {
						s.Message = cleaned(s.Message)
						want = append(want, trace.Shown{Span: s, Parental: parental[s.ID]})
					}
				}
				if diff := gocmp.Diff(want, spans(t, b, l)); diff != "" {
					t.Fatalf("%+v (-want +got):\n%s", l, diff)
				}
			}
			for _, s := range k.spans {
				got, err := b.Span(t.Context(), trace.Reader{All: true}, s.Trace, s.ID, true)
				s.Message = cleaned(s.Message)
				if diff := gocmp.Diff(trace.Shown{Span: s, Parental: parental[s.ID]}, got); diff != "" || err != nil {
					t.Fatal(err, diff)
				}
			}
		}
	}})
}

func cleaned(s string) string { return store.Text(s) }

// spans reads spans page by page.
func spans(t *testing.T, b bench, l trace.Spans) (out []trace.Shown) {
	t.Helper()
	for {
		found, more, err := b.Spans(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
		if !more {
			return out
		}
		l.After = found[len(found)-1].Place()
	}
}

// TestPagesWhileTracesEnd proves that a list that is read page by page while traces end misses none that were there, and shows none twice.
func TestPagesWhileTracesEnd(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, bench){"writers": func(t *testing.T, b bench) {
		w := &world{r: rand.New(rand.NewPCG(5, 6))}
		w.agents, _ = b.agents(t)
		there := map[string]bool{}
		for range 60 {
			k := w.random()
			b.write(t, k.spans...)
			there[k.entry().Trace] = true
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			for range 300 {
				if ctx.Err() != nil {
					break
				}
				k := w.random()
				if err := b.db.Write(ctx, func(tx *store.Tx) error { b.Write(tx, k.spans); return nil }); err != nil && ctx.Err() == nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		seen := map[string]bool{}
		for after := (*page.Position)(nil); ; {
			found, more, err := b.List(t.Context(), trace.List{Limit: 3, After: after, Reader: trace.Reader{All: true}})
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range found {
				if seen[one.ID] {
					t.Errorf("%s is shown twice", one.ID)
				}
				seen[one.ID] = true
				delete(there, one.ID)
			}
			if !more {
				break
			}
			after = found[len(found)-1].Place()
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(there) > 0 {
			t.Errorf("%d traces are missing", len(there))
		}
	}})
}
