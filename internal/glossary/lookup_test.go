package glossary_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"quarry/internal/glossary"
)

// rows are glossaries in memory; only what a Lookup asks for is there.
type rows struct {
	glossary.Store

	mu    sync.Mutex
	all   map[string]*kept // by key
	asked []string         // what Since was asked for
	err   error
}

// kept is a glossary whose entries are those of its last version, with the version that each was written with.
type kept struct {
	glossary.Glossary
	entries map[string]string
	changed map[string]int64
	floor   int64
}

func (r *rows) Find(_ context.Context, keys []string) (out []glossary.Glossary, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		if k := r.all[key]; k != nil {
			out = append(out, k.Glossary)
		}
	}
	return out, nil
}

func (r *rows) Since(_ context.Context, g glossary.Glossary, version int64) (glossary.Changes, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, fmt.Sprint(g.Key, " ", version))
	k := r.all[g.Key]
	if r.err != nil || k == nil {
		return glossary.Changes{}, cmp.Or(r.err, glossary.Missing(g.Key))
	}
	c := glossary.Changes{Version: k.Version, Whole: version < k.floor}
	for term, expansion := range k.entries {
		if c.Whole || k.changed[term] > version {
			c.Entries = append(c.Entries, glossary.Entry{Term: term, Expansion: expansion})
		}
	}
	return c, nil
}

// put writes an entry, remove removes one.
func (r *rows) put(key, term, expansion string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.all[key]
	if k == nil {
		k = &kept{Glossary: glossary.Glossary{No: int64(len(r.all)) + 1, Key: key}, entries: map[string]string{}, changed: map[string]int64{}}
		r.all[key] = k
	}
	k.Version++
	k.entries[term], k.changed[term] = expansion, k.Version
}

func (r *rows) remove(key, term string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.all[key]
	k.Version++
	k.floor = k.Version
	delete(k.entries, term)
}

// reads returns what was read since the last call.
func (r *rows) reads() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.asked)
	out := strings.Join(r.asked, ", ")
	r.asked = nil
	return out
}

// said returns what the glossaries of keys say of a text, without the heading.
func said(t *testing.T, l *glossary.Lookup, text string, keys ...string) string {
	t.Helper()
	words, err := l.Open(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, key := range keys {
		if w := words[key]; w != nil {
			if _, note, found := strings.Cut(w.Note(text), "\n"); found {
				out = append(out, note)
			}
		}
	}
	return strings.Join(out, "|")
}

// TestLookup proves that a glossary is opened as it is now, and that only what was changed is read: all of it where terms were removed.
func TestLookup(t *testing.T) {
	t.Parallel()
	r := &rows{all: map[string]*kept{}}
	l := glossary.NewLookup(r, 0)
	r.put("a", "x", "1")
	r.put("b", "x", "2")
	for _, step := range []struct {
		do          func()
		said, reads string
	}{
		{func() {}, "x: 1|x: 2", "a 0, b 0"},
		{func() {}, "x: 1|x: 2", ""},
		{func() { r.put("a", "y", "3"); r.put("a", "x", "4") }, "x: 4\ny: 3|x: 2", "a 1"},
		{func() { r.remove("a", "x"); r.put("a", "z", "5") }, "y: 3\nz: 5|x: 2", "a 3"},
		{func() { r.remove("b", "x") }, "y: 3\nz: 5", "b 1"},
		{func() { delete(r.all, "a") }, "", ""},
	} {
		step.do()
		if got := said(t, l, "x y z", "a", "b", "none"); got != step.said {
			t.Errorf("said %q, want %q", got, step.said)
		}
		if got := r.reads(); got != step.reads {
			t.Errorf("read %q, want %q", got, step.reads)
		}
	}
}

// TestLookupBounded proves that the glossaries that were used longest ago are forgotten when all of them take too much, and that one alone
// that does is read anew each time.
func TestLookupBounded(t *testing.T) {
	t.Parallel()
	r := &rows{all: map[string]*kept{}}
	l := glossary.NewLookup(r, 2500)
	for _, key := range []string{"a", "b", "c", "huge"} {
		r.put(key, key, strings.Repeat(key, 1000))
	}
	for _, step := range []struct{ open, reads string }{
		{"a", "a 0"}, {"b", "b 0"}, {"a", ""}, {"c", "c 0"}, {"a", ""}, {"b", "b 0"}, {"c", "c 0"}, {"huge", "huge 0"}, {"huge", "huge 0"}, {"c", "c 0"}, {"c", ""},
	} {
		if got := said(t, l, step.open, step.open); !strings.HasPrefix(got, step.open+": ") {
			t.Errorf("%s: said %q", step.open, got)
		}
		if got := r.reads(); got != step.reads {
			t.Errorf("%s: read %q, want %q", step.open, got, step.reads)
		}
	}
}

// TestLookupAtOnce proves that many who open a glossary at once read it once, and that a change which was made before a call is seen by it,
// whoever else is reading.
func TestLookupAtOnce(t *testing.T) {
	t.Parallel()
	r := &rows{all: map[string]*kept{}}
	l := glossary.NewLookup(r, 0)
	r.put("a", "x", "0")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { said(t, l, "x", "a") })
	}
	group.Wait()
	if got := r.reads(); got != "a 0" {
		t.Errorf("read %q", got)
	}
	for i := range 8 {
		group.Go(func() {
			term := fmt.Sprint("t", i)
			for n := range 50 {
				want := fmt.Sprint(n)
				r.put("a", term, want)
				if got := said(t, l, term, "a"); got != term+": "+want {
					t.Errorf("said %q, want %s", got, want)
				}
			}
		})
	}
	group.Wait()
}

// TestLookupFails proves that what can't be read is an error, and is there when it can be read again; one that was deleted just now is none.
func TestLookupFails(t *testing.T) {
	t.Parallel()
	r := &rows{all: map[string]*kept{}, err: errors.New("broken")}
	l := glossary.NewLookup(r, 0)
	r.put("a", "x", "1")
	if _, err := l.Open(t.Context(), []string{"a"}); !errors.Is(err, r.err) {
		t.Errorf("broken: %v", err)
	}
	broken := r.err
	r.err = glossary.Missing("a")
	if words, err := l.Open(t.Context(), []string{"a"}); err != nil || len(words) != 0 {
		t.Errorf("deleted just now: %v, %v", words, err)
	}
	r.err = nil
	if got := said(t, l, "x", "a"); got != "x: 1" {
		t.Errorf("after %v it says %q", broken, got)
	}
}

// TestNote proves how a model is told: a heading, a line each, in the order of the text, whatever breaks of lines the expansions have, and
// a hundred of them at most.
func TestNote(t *testing.T) {
	t.Parallel()
	r := &rows{all: map[string]*kept{}}
	l := glossary.NewLookup(r, 0)
	r.put("a", "HPU", " hydraulic \r\n\n power\u2028unit\u0085")
	r.put("a", "p\u2029m", "${x}\t#foreach: y")
	words, err := l.Open(t.Context(), []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	want := "What terms of this message stand for, by the glossary:\np m: ${x}\t#foreach: y\nHPU: hydraulic power unit"
	if got := words["a"].Note("P M, hpu"); got != want {
		t.Errorf("it says %q", got)
	}
	if got := words["a"].Note("nothing"); got != "" {
		t.Errorf("of nothing it says %q", got)
	}
	var text strings.Builder
	for i := range 150 {
		term := fmt.Sprint("t", i)
		r.put("b", term, "x")
		text.WriteString(term + " ")
	}
	got := said(t, l, text.String(), "b")
	if n := strings.Count(got, "\n") + 1; n != 100 || !strings.HasSuffix(got, "\nt99: x") {
		t.Errorf("%d terms are told: %s", n, got)
	}
}

// TestWrong proves which entries are refused, and why.
func TestWrong(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("ü", n) }
	for _, c := range []struct{ term, expansion, want string }{
		{long(200), long(1000), ""}, {"C++", "a\n\tb\r\n", ""}, {"…", "x", ""},
		{long(201), "x", "the term must be at most 200 characters long, it has 201"},
		{"a", long(1001), "must be at most 1000 characters long, it has 1001"},
		{"", "x", "the term must have a character that can be seen"}, {" \u00a0\u200b", "x", "the term must have a character that can be seen"},
		{"a\tb", "x", "the term must not have control characters, it has U+0009"}, {"a", "\u0085", "must not be empty"}, {"a", "b\a", "must not have control characters, it has U+0007"},
	} {
		if got := glossary.Wrong(glossary.Entry{Term: c.term, Expansion: c.expansion}); got != c.want {
			t.Errorf("%q: %q, want %q", c.term, got, c.want)
		}
	}
}
