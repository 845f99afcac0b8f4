package replica_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/replica"
	"quarry/internal/search"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
)

// TestReplaced proves that a search shows a document in the place of the one that it replaced, also when the replica
// sees several replacements of one document together, or opens after them.
func TestReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.replace("a", "one", 2)
	w.want("stands", "a:2")
	w.replace("a", "two", 3)
	w.want("stands", "a:3")
	w.want("one", "")
	for _, word := range []string{"three", "four", "five"} {
		w.replace("a", word, 1)
	}
	w.put("b", 1)
	w.want("stands", "a:1 b:1")
	w.want("five", "a:1")
	w.remove("a")
	w.restart()
	w.replace("a", "six", 1)
	w.want("stands", "a:1 b:1")
}

func (w *fixture) replace(name, word string, parts int) {
	w.t.Helper()
	c := w.corpus()
	if _, err := w.documents.Replace(context.Background(), c.No, c.Epoch, w.document(name, word, parts)); err != nil {
		w.t.Fatal(err)
	}
}

// TestReplacedOnTheWay proves that a search that asks for an earlier state than the present one does not see the gap that
// a later replacement has left in it: of the first change the document can't be read any more.
func TestReplacedOnTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.replace("a", "one", 1)
	then := w.corpus()
	w.replace("a", "two", 2)
	found, err := w.set.Search(t.Context(), then, search.Query{Terms: []string{"stand"}, K: 10})
	if err != nil || len(found.Hits) != 2 {
		t.Errorf("%d hits, %v; want the 2 parts of the second version", len(found.Hits), err)
	}
}

// TestReplacedMeanwhile proves that searches beside replacements see every document exactly once, in one version, and can
// read its text, whichever way their replica came to its state: by following, by reading all rows, from files.
func TestReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		w := newWorldOn(t, config(t))
		const names, hot, rounds = 150, 12, 20 // three pages of a rebuild; those at both ends change
		c := w.corpus()
		var docs [names][4]*document.Document
		for i := range names {
			for v := range docs[i] {
				docs[i][v] = w.document(fmt.Sprintf("d%03d", i), fmt.Sprint("version", v), 1+v)
			}
			w.insert(c, docs[i][0])
		}
		stop := make(chan struct{})
		var writers, readers sync.WaitGroup
		for n := range 3 {
			writers.Go(func() {
				random := rand.New(rand.NewPCG(uint64(n), 1))
				for range rounds * hot {
					at := random.IntN(hot)
					if at%2 == 1 {
						at = names - at
					}
					d := *docs[at][random.IntN(4)]
					if _, err := w.documents.Replace(context.Background(), c.No, c.Epoch, &d); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		var searches atomic.Int64
		for n := range 3 {
			readers.Go(func() {
				set := w.set
				for i := 0; ; i++ {
					select {
					case <-stop:
						if i > 0 { // at least once
							return
						}
					default:
					}
					if n > 0 { // reads all rows each time
						set = replica.New(replica.Config{Documents: w.documents, Corpora: w.corpora, Encoders: w.encoders})
					}
					if err := w.once(set, names); err != nil {
						t.Error(err)
						return
					}
					searches.Add(1)
				}
			})
		}
		writers.Wait()
		close(stop)
		readers.Wait()
		if err := w.once(w.set, names); err != nil {
			t.Error("at the end:", err)
		}
		t.Logf("%d searches", searches.Load())
	})
}

func (w *fixture) insert(c corpus.Corpus, d *document.Document) {
	w.t.Helper()
	one := *d
	if _, err := w.documents.Insert(context.Background(), c.No, c.Epoch, &one); err != nil {
		w.t.Fatal(err)
	}
}

// once searches for a word that every part has and reports what is not one whole version of each document.
func (w *fixture) once(set *replica.Set, names int) error {
	ctx := context.Background()
	all, err := w.corpora.Get(ctx, w.key)
	if err != nil {
		return err
	}
	found, err := set.Search(ctx, all[0], search.Query{Terms: []string{"stand"}, K: 10_000})
	if err != nil {
		return err
	}
	nos, parts := map[string]int64{}, map[string]int{}
	refs := make([]document.Ref, len(found.Hits))
	for i, h := range found.Hits {
		if no, known := nos[h.ID]; known && no != h.No {
			return fmt.Errorf("%s is shown as %d and as %d", h.ID, no, h.No)
		}
		nos[h.ID] = h.No
		parts[h.ID]++
		refs[i] = document.Ref{No: h.No, Ord: h.Ord}
	}
	if len(nos) != names {
		return fmt.Errorf("%d documents are shown, want %d", len(nos), names)
	}
	passages, err := w.documents.Passages(ctx, all[0].No, refs, document.Window{Whole: true})
	if err != nil || len(passages) != len(refs) {
		return fmt.Errorf("%d of %d passages: %w", len(passages), len(refs), err)
	}
	for _, p := range passages {
		if n := parts[p.Document.ID]; len(p.Parts) != n || p.Parts[0].Text != fmt.Sprintf("version%d stands here", n-1) {
			return fmt.Errorf("%s is shown with %d parts, its text is %q", p.Document.ID, n, p.Parts[0].Text)
		}
	}
	return nil
}
