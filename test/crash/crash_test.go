// Package crash kills the real program in the middle of a mixed load, again and again, and compares what was
// acknowledged with the store and the index after each restart. It holds tests alone.
package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"testing"

	"quarry/internal/testkit"
)

var replay = flag.Uint64("seed", 0, "the seed of a run that failed, as it was logged; 0 for a new one")

// seeded returns the seed of a random test, which a failing run shows.
func seeded(t *testing.T) uint64 {
	seed := *replay
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	return seed
}

// rounds is few for a run of every test; make soak asks for more.
var rounds = flag.Int("rounds", 9, "how often the program is killed; where a kill is long, a third of it")

// state is what the test knows of a document.
type state int

const (
	absent  state = iota // acknowledged as deleted, or never created
	present              // acknowledged as created
	unknown              // a write was in flight when the program died
)

const (
	corpus  = "/v2/corpora/crash"
	workers = 4
	ids     = 60
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// load is the mixed load of one round. Each worker owns its own documents, so that what it knows is exact.
type load struct {
	client *testkit.Client
	mu     sync.Mutex
	left   int                 // acknowledgements until the kill; guarded by mu
	kill   func()              // guarded by mu
	known  [workers][ids]state // known[w] belongs to worker w
}

// TestKill proves that no acknowledged write is lost, none is half there, and the index agrees with the rows, however
// the program dies.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	l := &load{}
	for round := range *rounds {
		p := testkit.StartBinary(t, dir)
		l.client = p.Client()
		if round == 0 {
			l.client.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{
				"key": "crash", "filter_attributes": []any{map[string]any{"name": "slot", "level": "document", "type": "integer"}},
			})
		}
		l.verify(t, round)
		l.left, l.kill = 3+r.IntN(80), p.Kill
		var group sync.WaitGroup
		for w := range workers {
			worker := rand.New(rand.NewPCG(seed, uint64(round*workers+w+1)))
			group.Go(func() { l.work(w, worker) })
		}
		group.Wait()
	}
	p := testkit.StartBinary(t, dir)
	l.client = p.Client()
	l.verify(t, *rounds)
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}

// work writes until the program is dead.
func (l *load) work(w int, r *rand.Rand) {
	for {
		i := r.IntN(ids)
		id := docID(w, i)
		var err error
		var status int
		before := l.known[w][i]
		l.known[w][i] = unknown
		switch {
		case before == present && r.IntN(3) > 0:
			_, _, err = l.client.Do("POST", corpus+"/query", query(w, i))
			l.known[w][i] = before
		case before == present:
			status, _, err = l.client.Do("DELETE", corpus+"/documents/"+id, nil)
			if err == nil && status == http.StatusNoContent {
				l.known[w][i] = absent
			}
		default:
			status, _, err = l.client.Do("POST", corpus+"/documents", core(w, i))
			if err == nil && (status == http.StatusCreated || status == http.StatusConflict) {
				l.known[w][i] = present
			}
		}
		if err != nil {
			return // the program is gone
		}
		l.acknowledged()
	}
}

// acknowledged counts down to the kill.
func (l *load) acknowledged() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left--; l.left == 0 {
		l.kill()
	}
}

func docID(w, i int) string { return fmt.Sprintf("w%d-%d", w, i) }

// word is a term that only this document has.
func word(w, i int) string { return fmt.Sprintf("zeta%dx%dq", w, i) }

func core(w, i int) map[string]any {
	return map[string]any{
		"type": "core", "id": docID(w, i), "metadata": map[string]any{"slot": w*ids + i},
		"document_parts": []any{
			map[string]any{"text": "The " + word(w, i) + " valve opens at three bar."},
			map[string]any{"text": "Its seal is changed every year."},
		},
	}
}

func query(w, i int) map[string]any {
	return map[string]any{"query": word(w, i), "search": map[string]any{
		"lexical_interpolation": 1, "limit": 1, "reranker": map[string]any{"type": "none"},
	}}
}

// verify compares what is known with the rows and with the index, and settles what was unknown.
func (l *load) verify(t *testing.T, round int) {
	t.Helper()
	stored := l.stored(t)
	for w := range workers {
		for i := range ids {
			id := docID(w, i)
			parts, there := stored[id]
			if there && parts != 2 {
				t.Fatalf("round %d: document %s has %d parts, want 2", round, id, parts)
			}
			switch l.known[w][i] {
			case present:
				if !there {
					t.Fatalf("round %d: document %s was acknowledged and is gone", round, id)
				}
			case absent:
				if there {
					t.Fatalf("round %d: document %s was deleted and is back", round, id)
				}
			}
			l.known[w][i] = absent
			if there {
				l.known[w][i] = present
			}
		}
	}
	l.verifyIndex(t, round, stored)
}

// stored lists the documents with their number of parts, from the rows.
func (l *load) stored(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	answer := l.client.Must(t, http.StatusOK, "GET", corpus+"/documents?limit=1000", nil)
	for _, d := range answer["documents"].([]any) {
		id := d.(map[string]any)["id"].(string)
		whole := l.client.Must(t, http.StatusOK, "GET", corpus+"/documents/"+id, nil)
		out[id] = len(whole["parts"].([]any))
	}
	return out
}

// verifyIndex asks by meaning with a filter that passes everything, which returns every part there is, and by the
// document's own term.
func (l *load) verifyIndex(t *testing.T, round int, stored map[string]int) {
	t.Helper()
	answer := l.client.Must(t, http.StatusOK, "POST", corpus+"/query", map[string]any{
		"query": "valve", "search": map[string]any{"metadata_filter": "doc.slot >= 0", "lexical_interpolation": 0, "limit": 1000},
	})
	found := map[string]int{}
	for _, r := range answer["search_results"].([]any) {
		found[r.(map[string]any)["document_id"].(string)]++
	}
	for id, parts := range stored {
		if found[id] != parts {
			t.Fatalf("round %d: the index shows %d parts of %s, the rows %d", round, found[id], id, parts)
		}
	}
	if len(found) != len(stored) {
		t.Fatalf("round %d: the index shows %d documents, the rows %d", round, len(found), len(stored))
	}
	for w := range workers {
		i := (round * 7) % ids
		answer := l.client.Must(t, http.StatusOK, "POST", corpus+"/query", query(w, i))
		hits := answer["search_results"].([]any)
		if want := l.known[w][i] == present; (len(hits) == 1) != want {
			t.Fatalf("round %d: the term of %s gives %d results; stored: %t", round, docID(w, i), len(hits), want)
		}
	}
}
