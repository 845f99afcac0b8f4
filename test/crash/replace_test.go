package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

const (
	swap    = "/v2/corpora/swap"
	swapped = 9 // documents
)

// swaps replaces documents again and again. Every version of one has a word of its own in each part, and the number of
// its parts follows from the number of the version.
type swaps struct {
	client *testkit.Client
	acked  [swapped]atomic.Int64 // the last version that was acknowledged
	tried  [swapped]atomic.Int64 // the last that was sent
	left   atomic.Int64          // acknowledgements until the kill
}

// TestReplaceKill proves that while documents are replaced every query, read and list shows each of them exactly once, in a
// version between the last that was acknowledged before it and the last that was sent, and whole; and that whenever the
// program is killed, the old document or the new one is there, whole, and the index shows the same.
func TestReplaceKill(t *testing.T) {
	t.Parallel()
	replaceAndKill(t, max(3, *rounds/3))
}

// TestReplaceKillPostgres proves the same on PostgreSQL.
func TestReplaceKillPostgres(t *testing.T) {
	t.Parallel()
	replaceAndKill(t, max(2, *rounds/9), "--database", storetest.Postgres(t))
}

func replaceAndKill(t *testing.T, kills int, args ...string) {
	t.Helper()
	dir := t.TempDir()
	seed := seeded(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := &swaps{}
	for round := range kills + 1 {
		p := testkit.StartBinary(t, dir, args...)
		s.client = p.Client()
		if round == 0 {
			s.client.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{
				"key": "swap", "filter_attributes": []any{map[string]any{"name": "version", "level": "document", "type": "integer"}},
			})
			for i := range swapped {
				s.client.Must(t, http.StatusCreated, "POST", swap+"/documents", swapVersion(i, 0))
			}
		}
		s.settle(t, round)
		if round == kills {
			if err := p.Stop(); err != nil {
				t.Errorf("the last stop: %v\n%s", err, p.Log())
			}
			return
		}
		s.left.Store(int64(20 + r.IntN(100)))
		var group sync.WaitGroup
		for w := range 3 {
			group.Go(func() { s.write(w, p.Kill) })
			group.Go(func() {
				for n := w; ; n++ {
					if gone, err := s.look(n); gone {
						return
					} else if err != nil {
						t.Errorf("round %d: %v", round, err)
						p.Kill()
						return
					}
				}
			})
		}
		group.Wait()
		if t.Failed() {
			return
		}
	}
}

// write replaces every third document until the program is dead.
func (s *swaps) write(w int, kill func()) {
	for i := w; ; i = (i + 3) % swapped {
		v := s.tried[i].Add(1)
		status, answer, err := s.client.Do("POST", swap+"/documents?on_conflict=replace", swapVersion(i, v))
		if err != nil {
			return
		}
		if status != http.StatusCreated {
			panic(fmt.Sprintf("a replacement answers %d: %v", status, answer))
		}
		s.acked[i].Store(v)
		if s.left.Add(-1) == 0 {
			kill()
		}
	}
}

// look reads in one of three ways; gone reports that the program is dead.
func (s *swaps) look(n int) (gone bool, err error) {
	var before [swapped]int64
	for i := range swapped {
		before[i] = s.acked[i].Load()
	}
	var shown map[int][]string
	switch n % 3 {
	case 0:
		shown, err = s.ask(n % 2)
	case 1:
		i := n % swapped
		shown, err = s.read(i)
		for other := range swapped {
			if other != i {
				before[other] = -1
			}
		}
	default:
		return s.list()
	}
	if err != nil {
		return !errors.As(err, new(refused)), err
	}
	for i, least := range before {
		if least < 0 {
			continue
		}
		if err := whole(i, shown[i], least, s.tried[i].Load()); err != nil {
			return false, err
		}
	}
	return false, nil
}

// whole reports whether texts are all parts of one version of a document, at least and at most of these numbers.
func whole(i int, texts []string, least, most int64) error {
	texts = slices.Sorted(slices.Values(texts)) // by the numbers of the parts
	for v := least; v <= most; v++ {
		var want []string
		for _, p := range swapVersion(i, v)["document_parts"].([]any) {
			want = append(want, p.(map[string]any)["text"].(string))
		}
		if len(want) == len(texts) && strings.Contains(texts[0], want[0]) {
			for _, text := range texts {
				if !strings.Contains(text, versionWord(i, v)) {
					return fmt.Errorf("document %d is shown in two versions: %q", i, texts)
				}
			}
			return nil
		}
	}
	return fmt.Errorf("document %d is in none of the versions %d to %d: %q", i, least, most, texts)
}

// refused is the error of a call that was answered, and not as it should be.
type refused struct{ error }

func (s *swaps) call(method, path string, body any) (map[string]any, error) {
	status, answer, err := s.client.Do(method, path, body)
	if err == nil && status != http.StatusOK {
		err = refused{fmt.Errorf("%s %s answers %d: %v", method, path, status, answer)}
	}
	return answer, err
}

// ask returns the parts of all documents by a query for the word that every part has, or by meaning with a filter that every
// document passes.
func (s *swaps) ask(lambda int) (map[int][]string, error) {
	answer, err := s.call("POST", swap+"/query", map[string]any{"query": "granite", "search": map[string]any{
		"lexical_interpolation": lambda, "metadata_filter": "doc.version >= 0", "limit": 1000, "reranker": map[string]any{"type": "none"}, "context_configuration": map[string]any{},
	}})
	if err != nil {
		return nil, err
	}
	out := map[int][]string{}
	for _, r := range answer["search_results"].([]any) {
		var i int
		hit := r.(map[string]any)
		if _, err := fmt.Sscanf(hit["document_id"].(string), "doc-%d", &i); err != nil {
			return nil, refused{err}
		}
		out[i] = append(out[i], hit["text"].(string))
	}
	return out, nil
}

// read returns the parts of one document.
func (s *swaps) read(i int) (map[int][]string, error) {
	answer, err := s.call("GET", fmt.Sprint(swap, "/documents/doc-", i), nil)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, p := range answer["parts"].([]any) {
		texts = append(texts, p.(map[string]any)["text"].(string))
	}
	return map[int][]string{i: texts}, nil
}

// list checks that all documents are listed, each once.
func (s *swaps) list() (gone bool, err error) {
	answer, err := s.call("GET", swap+"/documents?limit=100", nil)
	if err != nil {
		return !errors.As(err, new(refused)), err
	}
	if n := len(answer["documents"].([]any)); n != swapped {
		return false, fmt.Errorf("%d documents are listed, want %d", n, swapped)
	}
	return false, nil
}

// settle compares what is there after a start with what was acknowledged and sent, and takes it for acknowledged.
func (s *swaps) settle(t *testing.T, round int) {
	t.Helper()
	shown, err := s.ask(round % 2)
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for i := range swapped {
		stored, err := s.read(i)
		if err != nil {
			t.Fatal(err)
		}
		v, most := s.acked[i].Load(), s.tried[i].Load()
		for whole(i, stored[i], v, v) != nil && v < most {
			v++
		}
		for name, texts := range map[string][]string{"the rows": stored[i], "the index": shown[i]} {
			if err := whole(i, texts, v, v); err != nil {
				t.Fatalf("in %s %v; %d was acknowledged", name, err, s.acked[i].Load())
			}
		}
		s.acked[i].Store(v)
		s.tried[i].Store(v)
		parts += len(stored[i])
	}
	limits := s.client.Must(t, http.StatusOK, "GET", swap, nil)["limits"].(map[string]any)
	if limits["used_docs"] != float64(swapped) || limits["used_parts"] != float64(parts) {
		t.Fatalf("the corpus counts %v documents and %v parts; there are %d and %d", limits["used_docs"], limits["used_parts"], swapped, parts)
	}
}

func versionWord(i int, v int64) string { return fmt.Sprintf("zeta%dv%dq", i, v) }

func swapVersion(i int, v int64) map[string]any {
	parts := []any{}
	for n := range 1 + v%3 {
		parts = append(parts, map[string]any{"text": fmt.Sprintf("Part %d of %s is granite.", n, versionWord(i, v))})
	}
	return map[string]any{"type": "core", "id": fmt.Sprint("doc-", i), "metadata": map[string]any{"version": v}, "document_parts": parts}
}
