package corpora_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// TestRaiseIndexBuild proves that the number of an index only rises, and that nothing else of the corpus changes.
func TestRaiseIndexBuild(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); raiseIndexBuild(t, store.Config{Dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); raiseIndexBuild(t, store.Config{URL: storetest.Postgres(t)}) })
}

func raiseIndexBuild(t *testing.T, cfg store.Config) {
	s := corpora.New(storetest.Open(t, cfg))
	want, err := s.Create(t.Context(), storetest.Corpus("c"))
	if err != nil || want.IndexBuild != 0 {
		t.Fatalf("a new corpus: build %d, %v", want.IndexBuild, err)
	}
	for _, step := range []struct{ to, becomes int64 }{{2, 2}, {2, 2}, {1, 2}, {3, 3}} {
		want.IndexBuild = step.becomes
		got, err := s.RaiseIndexBuild(t.Context(), want.No, step.to)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("raised to %d: %v (-want +got): %s", step.to, err, diff)
		}
		if read, err := s.Get(t.Context(), "c"); err != nil || cmp.Diff(want, read[0]) != "" {
			t.Errorf("read after %d: %+v, %v", step.to, read, err)
		}
	}
	if _, err := s.RaiseIndexBuild(t.Context(), want.No+1, 1); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("of no corpus: %v, want not found", err)
	}
}
