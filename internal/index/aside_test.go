package index_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/compact"
	"quarry/internal/index/segment"
	"quarry/internal/search"
)

// updates gives documents a new year.
func updates(from int64, nos ...int64) (out []index.Change) {
	for i, no := range nos {
		out = append(out, index.Change{Seq: from + int64(i), Op: index.Update, No: no, Doc: &index.Document{No: no, Values: []filter.Value{filter.Text("new"), filter.Int(no)}}})
	}
	return out
}

// TestWritesDontWaitForValues proves that while the values of a segment are being written, after many updates and after other
// attributes have taken the place of the old ones, changes are applied and shown, rows sealed among them, and that in the end
// files have everything.
func TestWritesDontWaitForValues(t *testing.T) {
	t.Parallel()
	for _, retyped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			gate, reached := make(chan struct{}), false
			schema := newSchema(t)
			cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: schema, Dim: dim, Dimensions: 1,
				Merges: compact.NewScheduler(time.Hour), Notify: func(event string, err error) { t.Errorf("%s: %v", event, err) }}
			cfg.Files.Before = func(step segment.Step, path string) error {
				if step == segment.Write && strings.Contains(path, ".col.") && !reached {
					reached = true
					<-gate
				}
				return nil
			}
			x, err := index.Open(cfg)
			must(t, err)
			x.SealAt(40, 0)
			docs := sampleDocs(1, 61)
			must(t, x.Replace(60, once(docs)))
			synctest.Wait()
			if retyped {
				r := x.Retype(newSchema(t))
				must(t, r.Add(docs))
				must(t, r.Prepare())
				must(t, r.Swap(1))
				cfg.SchemaVersion = 1
			} else {
				var nos []int64
				for no := range int64(60) {
					nos = append(nos, no+1)
				}
				for i := range int64(4) {
					must(t, x.Apply(updates(61+60*i, nos...)))
				}
			}
			synctest.Wait() // the values are at the gate
			if !reached {
				t.Fatal("nothing was written beside")
			}
			seq := x.Applied()
			for no := range int64(100) {
				must(t, x.Apply([]index.Change{{Seq: seq + 1 + no, Op: index.Put, No: 100 + no, Doc: &sampleDocs(100+no, 101+no)[0]}}))
			}
			must(t, x.Apply([]index.Change{{Seq: seq + 101, Op: index.Delete, No: 5}}))
			must(t, x.Apply(updates(seq+102, 6, 100, 150)))
			if st := x.Stats(); st.Documents != 159 || st.Segments < 2 {
				t.Errorf("%+v while values are written", st)
			}
			want := sortedHits(t, x, search.Query{Terms: sampleQuery(t).Terms, Vector: sampleQuery(t).Vector, K: 50, Filter: "doc.dept = 'new'", Schema: cfg.SchemaVersion})
			close(gate)
			synctest.Wait()
			if seq, ok := index.Saved(cfg.Dir); !ok || seq < 60+60 && !retyped {
				t.Errorf("files are of change %d", seq)
			}
			check := func(when string) {
				t.Helper()
				got := sortedHits(t, x, search.Query{Terms: sampleQuery(t).Terms, Vector: sampleQuery(t).Vector, K: 50, Filter: "doc.dept = 'new'", Schema: cfg.SchemaVersion})
				if !slices.Equal(got, want) || len(got) == 0 {
					t.Errorf("%s: got %+v\nwant %+v", when, got, want)
				}
			}
			check("saved")
			must(t, x.Close())
			cfg.Files.Before = nil
			x, err = index.Open(cfg)
			must(t, err)
			if x.Applied() != seq+104 || x.Partial() || x.SchemaVersion() != cfg.SchemaVersion {
				t.Errorf("opened again: %d applied, want %d; partial %v, attributes %d", x.Applied(), seq+104, x.Partial(), x.SchemaVersion())
			}
			check("opened again")
			must(t, x.Close())
		})
	}
}

// TestUnsavedAside proves that what can't be saved beside writers is told once, tried again at growing distances, and saved when it
// can be.
func TestUnsavedAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		var tried, told atomic.Int64
		cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1, Merges: compact.NewScheduler(time.Hour)}
		cfg.Notify = func(event string, err error) {
			if told.Add(1); event != index.EventUnsaved || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: %v", event, err)
			}
		}
		cfg.Files.Before = func(step segment.Step, path string) error {
			if full.Load() && step == segment.Sync && strings.Contains(path, ".col.") {
				tried.Add(1)
				return syscall.ENOSPC
			}
			return nil
		}
		x, err := index.Open(cfg)
		must(t, err)
		x.SealAt(40, 0)
		must(t, x.Replace(60, once(sampleDocs(1, 61))))
		synctest.Wait()
		full.Store(true)
		var nos []int64
		for no := range int64(60) {
			nos = append(nos, no+1)
		}
		must(t, x.Apply(updates(61, slices.Concat(nos, nos, nos, nos)...)))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := tried.Load(); n < 24 || n > 35 || told.Load() != 1 {
			t.Errorf("%d attempts in a day, %d told", n, told.Load())
		}
		if names := slices.Sorted(maps.Keys(files(t, cfg.Dir))); slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, ".col.") }) {
			t.Errorf("files %v", names)
		}
		full.Store(false)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if seq, ok := index.Saved(cfg.Dir); !ok || seq != 300 {
			t.Errorf("files are of change %d, want 300", seq)
		}
		must(t, x.Close())
	})
}

// TestFilledAtOnce proves that what was read from rows is merged at once, into one segment, and other segments only at rest.
func TestFilledAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1,
			Merges: compact.NewScheduler(time.Hour), Notify: func(event string, err error) { t.Errorf("%s: %v", event, err) }}
		x, err := index.Open(cfg)
		must(t, err)
		x.SealAt(40, 0)
		docs := sampleDocs(1, 301)
		must(t, x.Replace(300, func() (out []index.Document, err error) {
			out, docs = docs[:min(10, len(docs))], docs[min(10, len(docs)):]
			return out, nil
		}))
		synctest.Wait()
		if st := x.Stats(); st.Segments != 1 || st.Documents != 300 {
			t.Errorf("%+v after filling", st)
		}
		for _, c := range puts(301, 401) {
			must(t, x.Apply([]index.Change{c}))
		}
		synctest.Wait()
		if st := x.Stats(); st.Segments == 1 {
			t.Errorf("%+v before it was at rest", st)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if st := x.Stats(); st.Segments != 1 || st.Documents != 400 {
			t.Errorf("%+v at rest", st)
		}
		must(t, x.Close())
	})
}

// TestFewRowsAtRest proves that a few new rows at rest have a large index written anew only when that takes a small share of the
// time, and then do.
func TestFewRowsAtRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1,
			Merges: compact.NewScheduler(10 * time.Minute), Notify: func(event string, err error) { t.Errorf("%s: %v", event, err) }}
		var merges atomic.Int64
		cfg.Files.Before = func(step segment.Step, _ string) error {
			if step == segment.Room {
				merges.Add(1)
				time.Sleep(2 * time.Minute)
			}
			return nil
		}
		x, err := index.Open(cfg)
		must(t, err)
		x.SealAt(40, 0)
		must(t, x.Replace(60, once(sampleDocs(1, 61))))
		for no := range int64(24) { // a document an hour
			must(t, x.Apply([]index.Change{{Seq: 61 + no, Op: index.Put, No: 100 + no, Doc: &sampleDocs(100+no, 101+no)[0]}}))
			time.Sleep(time.Hour)
		}
		if n := merges.Load(); n < 10 || n > 16 {
			t.Errorf("%d merges in a day", n)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if st := x.Stats(); st.Segments != 1 || st.Documents != 84 {
			t.Errorf("%+v at rest", st)
		}
		must(t, x.Close())
	})
}

// TestWritesAfterFilling proves that an index that was just filled is merged into one segment at once, and not again and again while
// rows are written one by one.
func TestWritesAfterFilling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1,
			Merges: compact.NewScheduler(10 * time.Minute), Notify: func(event string, err error) { t.Errorf("%s: %v", event, err) }}
		var merges atomic.Int64
		cfg.Files.Before = func(step segment.Step, _ string) error {
			if step == segment.Room {
				merges.Add(1)
				time.Sleep(10 * time.Second)
			}
			return nil
		}
		x, err := index.Open(cfg)
		must(t, err)
		x.SealAt(40, 0)
		batches := slices.Collect(slices.Chunk(sampleDocs(1, 201), 40))
		must(t, x.Replace(200, func() (docs []index.Document, err error) {
			if len(batches) > 0 {
				docs, batches = batches[0], batches[1:]
			}
			return docs, nil
		}))
		if n := x.Stats().Segments; n != 5 {
			t.Fatalf("filled with %d segments", n)
		}
		for no := range int64(30) {
			must(t, x.Apply([]index.Change{{Seq: 201 + no, Op: index.Put, No: 300 + no, Doc: &sampleDocs(300+no, 301+no)[0]}}))
			time.Sleep(5 * time.Second)
		}
		synctest.Wait()
		// The first merge takes what was filled; further ones take what was written, a tier at a time.
		if each := x.Stats().Each; merges.Load() > 3 || each[0].Rows < 400 || len(each) > 16 {
			t.Errorf("%d merges lead to %+v", merges.Load(), each)
		}
		must(t, x.Close())
	})
}

// TestFillingPauses proves that an index which is filled beside another one pauses again and again, and that an error of a pause
// ends the filling and changes nothing.
func TestFillingPauses(t *testing.T) {
	t.Parallel()
	stop, pauses, last := errors.New("stop"), 0, 0
	cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1}
	cfg.Pause = func() error {
		if pauses++; last > 0 && pauses >= last {
			return stop
		}
		return nil
	}
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(40, 0)
	must(t, x.Replace(60, once(sampleDocs(1, 61))))
	if pauses < 5 {
		t.Errorf("%d pauses", pauses)
	}
	for all, at := pauses, 1; at <= all; at++ {
		pauses, last = 0, at
		if err := x.Replace(80, once(sampleDocs(1, 62))); !errors.Is(err, stop) || x.Applied() != 60 || x.Stats().Documents != 60 {
			t.Fatalf("%v at pause %d of %d; %+v", err, at, all, x.Stats())
		}
	}
	must(t, x.Close())
}
