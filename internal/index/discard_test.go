package index_test

import (
	"errors"
	"testing"

	"quarry/internal/index"
)

// TestDiscard proves that an index that is discarded leaves no file and takes no change, while a search on a snapshot goes on.
func TestDiscard(t *testing.T) {
	t.Parallel()
	cfg, _, want := saved(t)
	x, err := index.Open(cfg)
	must(t, err)
	s := x.Snapshot()
	defer s.Release()
	if before := s.Stats(); before.MappedBytes == 0 || before.Live == 0 {
		t.Fatalf("%+v has no files", before)
	}
	must(t, x.Discard())
	if left := files(t, cfg.Dir); len(left) > 0 {
		t.Errorf("%d files remain", len(left))
	}
	if got, err := s.Search(t.Context(), sampleQuery(t)); err != nil || len(got.Hits) != len(want) {
		t.Errorf("on the snapshot %d hits, %v; want %d", len(got.Hits), err, len(want))
	}
	if after := x.Stats(); after.Live != 0 || after.Segments != 0 {
		t.Errorf("afterwards it has %+v", after)
	}
	if err := x.Apply(puts(1, 2)); !errors.Is(err, index.ErrClosed) {
		t.Errorf("a change: %v", err)
	}
	if err := errors.Join(x.Close(), x.Discard()); err != nil {
		t.Error(err)
	}
}

// TestStats proves that figures of segments add up to those of the index, whether they have files, lists, deletes or none.
func TestStats(t *testing.T) {
	t.Parallel()
	docs := crowd(t, 600)
	x := listed(t, docs, 2)
	defer x.Close()
	s := x.Stats()
	if s.Segments != 2 || len(s.Each) != 2 || s.Live == 0 {
		t.Fatalf("%+v", s)
	}
	rows, live := 0, 0
	var bytes int64
	for _, one := range s.Each {
		rows, live, bytes = rows+one.Rows, live+one.Live, bytes+one.Bytes
		if one.Lists < 1 || !(one.Share > 0 && one.Share <= 1) || one.Bytes < int64(one.Rows) {
			t.Errorf("%+v", one)
		}
	}
	if rows != s.Rows || live != s.Live || bytes > s.MappedBytes+s.HeapBytes {
		t.Errorf("segments have %d rows, %d live and %d bytes, the index %+v", rows, live, bytes, s)
	}
	empty, err := index.Open(index.Config{Dir: t.TempDir()})
	must(t, err)
	defer empty.Close()
	if s := empty.Stats(); s.MappedBytes+s.HeapBytes != 0 || len(s.Each) != 0 {
		t.Errorf("an empty index: %+v", s)
	}
}
