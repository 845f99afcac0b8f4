package index_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/compact"
	"quarry/internal/index/manifest"
	"quarry/internal/index/segment"
	"quarry/internal/search"
)

// merged does what is due by now; with rest, as of an index at rest.
func merged(t testing.TB, x *index.Index, rest bool) {
	t.Helper()
	for done := true; done; {
		var err error
		done, err = x.Merge(nil, rest)
		must(t, err)
	}
}

// scene is a folder whose segments are about to be merged, with deletes and other values in files of their own, and changes
// that come before and during the merge. What comes when depends on the seed.
type scene struct {
	cfg    index.Config
	seed   uint64
	log    []index.Change
	filed  int // changes that are in files
	before int // those before the merge
	asked  []search.Query
	want   [][]search.Hit // the answers of an index that was never merged
}

// staged opens an index of a scene: nothing is saved unasked, and what is merged of all has lists of vectors.
func staged(cfg index.Config) (*index.Index, error) {
	x, err := index.Open(cfg)
	if err == nil {
		x.SealAt(1<<30, 0)
		x.ListsFrom(40, 4)
	}
	return x, err
}

// newScene returns a scene with its folder.
func newScene(t *testing.T, seed uint64) *scene {
	t.Helper()
	s := planned(t, seed)
	x, err := staged(s.cfg)
	must(t, err)
	for from := 0; from < s.filed; from += 10 {
		must(t, x.Apply(s.log[from:min(from+10, s.filed)]))
		must(t, x.Flush())
	}
	must(t, x.Close())
	cfg := s.cfg
	cfg.Dir = ""
	want, err := index.Open(cfg)
	must(t, err)
	must(t, want.Apply(s.log))
	for i, q := range keptQueries(t) {
		if i < 6 || i%4 == 0 {
			s.asked, s.want = append(s.asked, q), append(s.want, sortedHits(t, want, q))
		}
	}
	must(t, want.Close())
	return s
}

// planned returns a scene without its folder.
func planned(t *testing.T, seed uint64) *scene {
	t.Helper()
	s := &scene{seed: seed, cfg: index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), SchemaVersion: 4,
		Dim: dim, Dimensions: 1, Notify: func(event string, err error) { t.Errorf("seed %d: %s: %v", seed, event, err) }}}
	rng := rand.New(rand.NewPCG(seed, 3))
	s.log = puts(1, 41)
	add := func(op index.Op, no int64, doc *index.Document) {
		s.log = append(s.log, index.Change{Seq: int64(len(s.log) + 1), Op: op, No: no, Doc: doc})
	}
	some := func(n int) {
		for range n {
			no := 1 + rng.Int64N(40)
			add(index.Delete, no, nil)
			no = 1 + rng.Int64N(40)
			add(index.Update, no, &index.Document{No: no, Values: []filter.Value{filter.Text("new"), filter.Int(no + 1000)}})
		}
		no := int64(1000 + len(s.log))
		add(index.Put, no, &sampleDocs(no, no+1)[0])
	}
	some(3)
	s.filed = len(s.log)
	some(2)
	s.before = len(s.log)
	some(3)
	return s
}

// run opens a copy of the folder and merges what would be merged at rest, with changes meanwhile. Steps count, as the hook in
// before sees them, but for those of the changes.
func (s *scene) run(dir string, before func(segment.Step, string) error) (x *index.Index, err error) {
	meanwhile, blocks, at := false, 0, 1+int(s.seed%20)
	cfg := s.cfg
	cfg.Dir, cfg.Files = dir, segment.Files{Buffer: 700, Before: func(step segment.Step, path string) error {
		if meanwhile || before == nil {
			return nil
		}
		return before(step, path)
	}}
	if x, err = staged(cfg); err != nil {
		return nil, err
	}
	if s.seed%2 == 0 {
		x.SaveAside()
	}
	if err := x.Apply(s.log[x.Applied():s.before]); err != nil {
		return x, err
	}
	pause := func() error {
		if blocks++; blocks != at {
			return nil
		}
		meanwhile = true
		defer func() { meanwhile = false }()
		err := x.Apply(s.log[x.Applied():])
		if s.seed%3 != 0 {
			err = errors.Join(err, x.Flush())
		}
		return err
	}
	for done := true; done && err == nil; {
		done, err = x.Merge(pause, true)
	}
	return x, err
}

func (s *scene) copy(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(dir, os.DirFS(s.cfg.Dir)))
	return dir
}

// check applies what x lacks, and compares its answers.
func (s *scene) check(t *testing.T, when string, x *index.Index) {
	t.Helper()
	if from := x.Applied(); from < int64(s.filed) || from > int64(len(s.log)) {
		t.Fatalf("seed %d, %s: %d changes applied, %d were in files", s.seed, when, from, s.filed)
	}
	must(t, x.Apply(s.log[x.Applied():]))
	for i, q := range s.asked {
		if got := sortedHits(t, x, q); !slices.Equal(got, s.want[i]) {
			t.Fatalf("seed %d, %s, query %d: got %+v\nwant %+v", s.seed, when, i, got, s.want[i])
		}
	}
}

// reopened checks the folder as the next start finds it: nothing is lost, and no file lies in it that the manifest lacks.
func (s *scene) reopened(t *testing.T, when, dir string) {
	t.Helper()
	cfg := s.cfg
	cfg.Dir = dir
	x, err := staged(cfg)
	must(t, err)
	m, err := manifest.Read(dir)
	must(t, err)
	known := []string{"MANIFEST"}
	for _, f := range m.Segments {
		known = append(known, f.File())
		if f.Deletes > 0 {
			known = append(known, f.DeletesFile())
		}
		if f.Columns > 0 {
			known = append(known, f.ColumnsFile())
		}
	}
	slices.Sort(known)
	if lie := slices.Sorted(maps.Keys(files(t, dir))); !slices.Equal(lie, known) {
		t.Errorf("seed %d, %s: files %v, the manifest has %v", s.seed, when, lie, known)
	}
	if x.Partial() || x.SchemaVersion() != s.cfg.SchemaVersion {
		t.Errorf("seed %d, %s: partial %v, attributes %d", s.seed, when, x.Partial(), x.SchemaVersion())
	}
	s.check(t, when+", opened again", x)
	merged(t, x, true)
	if st := x.Stats(); st.Segments != 1 || st.Applied != int64(len(s.log)) || st.Each[0].Lists == 0 {
		t.Errorf("seed %d, %s: %+v at rest", s.seed, when, st)
	}
	s.check(t, when+", merged after all", x)
	must(t, x.Close())
}

// scenes is how many seeds the tests of failures go through.
const scenes = 12

// TestMerged proves that a merge changes no answer, whatever comes while it runs, before and after a restart, that one
// segment is left at rest, and that a snapshot from before goes on answering when the files that it reads are gone.
func TestMerged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(scenes) {
		s := newScene(t, seed)
		dir := s.copy(t)
		var old *index.Snapshot
		x, err := s.run(dir, nil)
		must(t, err)
		s.check(t, "merged", x)
		must(t, x.Close())
		s.reopened(t, "merged", dir)

		x, err = staged(s.cfg)
		must(t, err)
		old = x.Snapshot()
		q := keptQueries(t)[1]
		was, err := old.Search(t.Context(), q)
		must(t, err)
		merged(t, x, true)
		if seg, _ := filepath.Glob(filepath.Join(s.cfg.Dir, "*.seg")); len(seg) != 1 {
			t.Errorf("seed %d: files %v", seed, seg)
		}
		again, err := old.Search(t.Context(), q)
		must(t, err)
		if !sameSet(was.Hits, again.Hits) || len(was.Hits) == 0 {
			t.Errorf("seed %d: a snapshot answers otherwise after a merge", seed)
		}
		old.Release()
		must(t, x.Close())
	}
}

func sameSet(a, b []search.Hit) bool {
	in := map[search.Hit]bool{}
	for _, h := range a {
		in[h] = true
	}
	return len(a) == len(b) && !slices.ContainsFunc(b, func(h search.Hit) bool { return !in[h] })
}

// steps counts what a merge of s does to files, by kind.
func (s *scene) steps(t *testing.T) map[segment.Step]int {
	t.Helper()
	n := map[segment.Step]int{}
	x, err := s.run(s.copy(t), func(step segment.Step, _ string) error {
		n[step]++
		return nil
	})
	must(t, err)
	must(t, x.Close())
	return n
}

// points returns which steps of a merge of s to try: all that there are few of, and some of the others.
func (s *scene) points(t *testing.T) map[segment.Step][]int {
	out, rng := map[segment.Step][]int{}, rand.New(rand.NewPCG(s.seed, 5))
	for step, n := range s.steps(t) {
		out[step] = rng.Perm(n)[:min(n, 5)] // several kinds have that many or fewer
	}
	return out
}

// enough fails unless every kind of step was tried often enough.
func enough(t *testing.T, tried map[segment.Step]int) {
	t.Helper()
	for _, step := range []segment.Step{segment.Write, segment.Sync, segment.Rename, segment.SyncFolder} {
		if tried[step] < 50 {
			t.Errorf("%s tried at only %d places", step, tried[step])
		}
	}
	if tried[segment.Room] == 0 {
		t.Error("a disk without room was not tried")
	}
}

// TestFailingDisk proves that a merge whose every write, sync and rename may fail loses nothing: the index answers as before,
// is changed, merges when the disk works again, and is whole after a restart in between.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	tried := map[segment.Step]int{}
	for seed := range uint64(scenes) {
		s := newScene(t, seed)
		for step, all := range s.points(t) {
			for _, n := range all {
				tried[step]++
				when := fmt.Sprintf("%s %d failed", step, n)
				left := n
				dir := s.copy(t)
				x, err := s.run(dir, func(now segment.Step, _ string) error {
					if now == step {
						if left--; left == -1 {
							return syscall.ENOSPC
						}
					}
					return nil
				})
				// What is being saved beside the writer doesn't matter once the writer has saved.
				overtaken := err == nil && s.seed%2 == 0 && s.seed%3 != 0
				if !errors.Is(err, syscall.ENOSPC) && !overtaken {
					t.Fatalf("seed %d, %s: %v", seed, when, err)
				}
				between := filepath.Join(t.TempDir(), "between")
				must(t, os.CopyFS(between, os.DirFS(dir)))
				s.reopened(t, when+", killed then", between)
				s.check(t, when, x)
				merged(t, x, true)
				s.check(t, when+", tried again", x)
				must(t, x.Close())
				s.reopened(t, when, dir)
			}
		}
	}
	enough(t, tried)
}

// TestFullDisk proves that a disk without room stops merges and nothing else: of many attempts, at growing distances, one is
// told, and when there is room the segments are merged. An index that is merged leaves nothing to wait for.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, 1)
		var room atomic.Bool
		var attempts, told atomic.Int64
		cfg := s.cfg
		cfg.Merges = compact.NewScheduler(10 * time.Minute)
		cfg.Notify = func(event string, err error) {
			if told.Add(1); event != index.EventUnmerged || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: %v", event, err)
			}
		}
		cfg.Files.Before = func(step segment.Step, _ string) error {
			if step == segment.Room {
				if attempts.Add(1); !room.Load() {
					return syscall.ENOSPC
				}
			}
			return nil
		}
		x, err := staged(cfg)
		must(t, err)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if attempts.Load() != 0 {
			t.Error("merged before it was at rest")
		}
		must(t, x.Apply(s.log[s.filed:s.before]))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := attempts.Load(); n < 24 || n > 35 || told.Load() != 1 || x.Stats().Segments == 1 {
			t.Errorf("%d attempts in a day, %d told, %+v", n, told.Load(), x.Stats())
		}
		s.check(t, "full", x)
		room.Store(true)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if st := x.Stats(); st.Segments != 1 || st.Merging || told.Load() != 1 {
			t.Errorf("with room: %+v, %d told", st, told.Load())
		}
		s.check(t, "merged", x)
		attempts.Store(0)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if attempts.Load() != 0 {
			t.Error("merged without a need")
		}
		must(t, x.Close())
	})
}

// TestCloseWhileMerging proves that closing an index ends its merge at once, leaves no file of it, and loses nothing.
func TestCloseWhileMerging(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, 2)
		was := files(t, s.cfg.Dir)
		cfg := s.cfg
		cfg.Merges = compact.NewScheduler(0)
		written, gate := 0, make(chan bool)
		cfg.Files = segment.Files{Buffer: 700, Before: func(step segment.Step, path string) error {
			if step == segment.Write {
				if written++; written == 10 {
					<-gate
				}
			}
			return nil
		}}
		x, err := index.Open(cfg)
		must(t, err)
		synctest.Wait() // the merge stands at the gate
		if !x.Stats().Merging {
			t.Error("no merge runs")
		}
		closed := make(chan error)
		go func() { closed <- x.Close() }()
		synctest.Wait() // closing waits for the merge
		close(gate)
		must(t, <-closed)
		if now := files(t, s.cfg.Dir); !maps.EqualFunc(now, was, slices.Equal) || written > 30 {
			t.Errorf("files %v after %d writes", slices.Sorted(maps.Keys(now)), written)
		}
	})
}

// TestAllAtOnce proves, under the race detector too, that searches (exact ones, by lists, and those that are asked again),
// writes, deletes, updates, replaced attributes and merges go on beside each other: every search of a snapshot gives the same
// twice, and in the end the index has what was written.
func TestAllAtOnce(t *testing.T) {
	t.Parallel()
	schemas := [2]*filter.Schema{newSchema(t), newSchema(t)}
	merges := compact.NewScheduler(0)
	cfg := index.Config{Dir: t.TempDir(), Schema: schemas[0], Dim: dim, Dimensions: 1, Merges: merges,
		Notify: func(event string, err error) { t.Errorf("%s: %v", event, err) }}
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(20, 0)
	x.ListsFrom(16, 4)
	x.CheckEvery(3)
	done := make(chan struct{})
	var wg sync.WaitGroup
	var listed atomic.Bool
	for pool := range 2 {
		wg.Go(func() {
			q := sampleQuery(t)
			q.Filter, q.Pool = "", 10*pool
			for {
				s := x.Snapshot()
				first, err := s.Search(context.Background(), q)
				again, err2 := s.Search(context.Background(), q)
				if err != nil || err2 != nil || !sameSet(first.Hits, again.Hits) {
					t.Errorf("%d and %d hits, %v %v", len(first.Hits), len(again.Hits), err, err2)
				}
				if slices.ContainsFunc(first.Plan, func(s search.Step) bool { return s.Lists > 0 }) {
					listed.Store(true)
				}
				s.Release()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	docs := map[int64]index.Document{}
	version := int64(0)
	for i, c := range puts(1, 300) {
		switch {
		case i%5 == 4:
			c = index.Change{Seq: c.Seq, Op: index.Delete, No: c.No - 3}
			delete(docs, c.No)
		case i%7 == 6:
			no := c.No - 1
			if d, ok := docs[no]; ok {
				d.Values = []filter.Value{filter.Text("new"), filter.Int(int64(i))}
				docs[no] = d
			}
			c = index.Change{Seq: c.Seq, Op: index.Update, No: no, Doc: &index.Document{No: no, Values: []filter.Value{filter.Text("new"), filter.Int(int64(i))}}}
		default:
			docs[c.No] = *c.Doc
		}
		must(t, x.Apply([]index.Change{c}))
		if i%60 == 59 {
			version++
			r := x.Retype(schemas[version%2])
			must(t, r.Add(slices.Collect(maps.Values(docs))))
			must(t, r.Prepare())
			must(t, r.Swap(version))
		}
	}
	close(done)
	wg.Wait()
	if !listed.Load() {
		t.Error("no search was by lists")
	}
	x.Halt()
	merged(t, x, true)
	if st := x.Stats(); st.Segments != 1 || st.Documents != len(docs) {
		t.Errorf("%+v, want %d documents", st, len(docs))
	}
	cfg = index.Config{Schema: schemas[version%2], SchemaVersion: version, Dim: dim, Dimensions: 1}
	want, err := index.Open(cfg)
	must(t, err)
	var all []index.Document
	for _, no := range slices.Sorted(maps.Keys(docs)) {
		all = append(all, docs[no])
	}
	must(t, want.Replace(300, once(all)))
	for _, text := range []string{"", "doc.year > 20", "doc.dept = 'new'"} {
		q := sampleQuery(t)
		q.K, q.Schema = 50, version
		q.Filter = text
		if got, want := sortedHits(t, x, q), sortedHits(t, want, q); !slices.Equal(got, want) {
			t.Errorf("%q: got %+v\nwant %+v", text, got, want)
		}
	}
	must(t, x.Close())
	must(t, want.Close())
}
