package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

const vocabulary = "/v2/glossaries/crash"

// wording is a change of the entries of the glossary.
type wording struct {
	method string
	body   map[string]any
	apply  func(entries map[string]string)
}

// wordingOf returns the n-th change: two of three write ten new terms and one that all of them write, the third removes some of those.
func wordingOf(n int) wording {
	if n%3 == 2 {
		var terms []string
		for i := range 15 { // some are gone by then, and some never were there
			terms = append(terms, fmt.Sprintf("t%d-%d", n-1-i%2, i/2), "none")
		}
		return wording{"DELETE", map[string]any{"terms": terms}, func(entries map[string]string) {
			for _, term := range terms {
				delete(entries, term)
			}
		}}
	}
	written := map[string]string{"last": fmt.Sprint(n)}
	for i := range 10 {
		written[fmt.Sprintf("t%d-%d", n, i)] = fmt.Sprint("of ", n)
	}
	return wording{"POST", map[string]any{"entries": written}, func(entries map[string]string) {
		for term, expansion := range written {
			entries[term] = expansion
		}
	}}
}

// after returns the entries that a number of changes leave.
func after(changes int) map[string]string {
	out := map[string]string{}
	for n := range changes {
		wordingOf(n).apply(out)
	}
	return out
}

// TestKillGlossary proves that no change of a glossary that was answered is lost when the program dies, that one in flight is there as a
// whole or not at all, and that the terms are counted exactly.
func TestKillGlossary(t *testing.T) {
	t.Parallel()
	killGlossary(t, max(2, *rounds/3))
}

// TestKillGlossaryPostgres proves the same over PostgreSQL.
func TestKillGlossaryPostgres(t *testing.T) {
	t.Parallel()
	killGlossary(t, max(1, *rounds/10), "--database", storetest.Postgres(t))
}

func killGlossary(t *testing.T, kills int, args ...string) {
	t.Helper()
	dir, seed := t.TempDir(), rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	made := 0 // changes that were answered
	for round := 0; ; round++ {
		p := testkit.StartBinary(t, dir, args...)
		c := p.Client()
		if round == 0 {
			c.Must(t, http.StatusCreated, "POST", "/v2/glossaries", map[string]any{"key": "crash", "name": "crash"})
		}
		made = verifyGlossary(t, c, made)
		if round == kills {
			if err := p.Stop(); err != nil {
				t.Errorf("the last stop: %v\n%s", err, p.Log())
			}
			return
		}
		left, soon := 1+r.IntN(20), make(chan struct{})
		dead := make(chan struct{})
		go func() {
			defer close(dead)
			<-soon
			p.Kill()
		}()
		for alive := true; alive; {
			w := wordingOf(made)
			status, answer, err := c.Do(w.method, vocabulary+"/entries", w.body)
			switch {
			case err != nil:
				alive = false
			case status != http.StatusNoContent:
				t.Fatalf("change %d answers %d: %v", made, status, answer)
			default:
				made++
			}
			if left--; left == 0 {
				close(soon)
			}
		}
		<-dead
	}
}

// verifyGlossary compares what is stored with what so many changes have left, or one more, and returns how many were made.
func verifyGlossary(t *testing.T, c *testkit.Client, made int) int {
	t.Helper()
	got := map[string]string{}
	for page := ""; ; {
		answer := c.Must(t, http.StatusOK, "GET", vocabulary+"/entries?limit=1000&page_key="+page, nil)
		for _, e := range answer["entries"].([]any) {
			entry := e.(map[string]any)
			got[entry["term"].(string)] = entry["expansion"].(string)
		}
		var more bool
		if page, more = answer["metadata"].(map[string]any)["page_key"].(string); !more {
			break
		}
	}
	if counted := c.Must(t, http.StatusOK, "GET", vocabulary, nil)["num_entries"].(float64); int(counted) != len(got) {
		t.Errorf("%v terms are counted, and %d are there", counted, len(got))
	}
	diff := cmp.Diff(after(made), got)
	if diff == "" {
		return made
	}
	if cmp.Diff(after(made+1), got) != "" {
		t.Fatalf("behind %d changes (-want +got): %s", made, diff)
	}
	return made + 1
}
