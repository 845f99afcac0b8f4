package documenttest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/fault"
)

// TestMemoryReplaces proves that the store in memory, which other tests trust, replaces documents and finds their kin as
// document.Store asks for, but that it keeps nothing of what was replaced.
func TestMemoryReplaces(t *testing.T) {
	t.Parallel()
	m := documenttest.New(corpus.Corpus{Key: "c"})
	put := func(docID, digest string, parts int) *document.Document {
		t.Helper()
		d := &document.Document{ID: docID, Digest: digest, Parts: make([]document.Part, parts)}
		for i := range d.Parts {
			d.Parts[i].Ord = i
		}
		before := m.Corpus.Seq
		if seq, err := m.Replace(t.Context(), m.Corpus.No, m.Corpus.Epoch, d); err != nil || seq != before+1 {
			t.Fatalf("Replace = %d, %v; want %d", seq, err, before+1)
		}
		return d
	}
	first := put("a", "gone", 4)
	a := put("a", "one", 2)
	put("b", "two", 1)
	newest := put("c", "two", 3)
	if a.No <= first.No || !a.Created.Equal(first.Created) || !a.Updated.After(first.Updated) {
		t.Errorf("replaced %+v by %+v", first, a)
	}
	for _, x := range []struct {
		id, digest string
		want       map[int64]int
	}{
		{"a", "one", map[int64]int{a.No: 2}},
		{"a", "two", map[int64]int{a.No: 2, newest.No: 3}},
		{"new", "two", map[int64]int{newest.No: 3}},
		{"new", "gone", map[int64]int{}},
		{"new", "", map[int64]int{}},
	} {
		got := map[int64]int{}
		former, err := m.Kin(t.Context(), m.Corpus.No, x.id, x.digest, func(no int64, p *document.Part) error {
			if p.Ord != got[no] {
				return fmt.Errorf("part %d of %d", p.Ord, no)
			}
			got[no]++
			return nil
		})
		if diff := cmp.Diff(x.want, got); diff != "" || err != nil || (former != nil) != (x.id == "a") {
			t.Errorf("%s, %s: %+v, %v (-want +got): %s", x.id, x.digest, former, err, diff)
		}
	}
	stop := errors.New("enough")
	if _, err := m.Kin(t.Context(), m.Corpus.No, "a", "", func(int64, *document.Part) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error of visit: %v", err)
	}
	if _, err := m.Replace(t.Context(), m.Corpus.No, m.Corpus.Epoch+1, a); !fault.Is(err, fault.KindConflict) {
		t.Errorf("in another life of the corpus: %v", err)
	}
}
