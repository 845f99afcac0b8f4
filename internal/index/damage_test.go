package index_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/condition"
	"quarry/internal/index/manifest"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
)

// sampleDocs makes plain documents with numbers from … to-1; their content is a function of the number.
func sampleDocs(from, to int64) []index.Document {
	var out []index.Document
	for no := from; no < to; no++ {
		rng := rand.New(rand.NewPCG(uint64(no), 9))
		d := index.Document{No: no, ID: fmt.Sprintf("doc-%d", no), Values: []filter.Value{filter.Text(vocabulary[no%3]), filter.Int(no)}}
		for ord := range 1 + int(no%3) {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(rng.NormFloat64() / 8)
			}
			packed, err := vector.Pack(v)
			if err != nil {
				panic(err)
			}
			p := index.Part{Ord: ord, Vector: packed, Dimensions: []float32{1}, Values: make([]filter.Value, 5)}
			p.Values[4] = filter.Text([]string{"note", "rule"}[no%9/8]) // most parts have one, which has a set in the summary
			for i := range 8 {
				w := vocabulary[rng.IntN(len(vocabulary))]
				p.Stems = append(p.Stems, w)
				p.Words = append(p.Words, analysis.Term{Text: w, Pos: int32(i)})
			}
			d.Parts = append(d.Parts, p)
		}
		out = append(out, d)
	}
	return out
}

func puts(from, to int64) []index.Change {
	var out []index.Change
	docs := sampleDocs(from, to)
	for i := range docs {
		out = append(out, index.Change{Seq: docs[i].No, Op: index.Put, No: docs[i].No, Doc: &docs[i]})
	}
	return out
}

// sampleQuery uses every section of a segment.
func sampleQuery(t testing.TB) search.Query {
	v := make([]float32, dim)
	v[1], v[40] = 1, -0.5
	return search.Query{Vector: v, Terms: []string{"boat", "cat"}, Phrases: [][]string{{"dog", "fish"}}, Prefixes: []string{"b"},
		Exclude: []string{"zebra"}, Filter: "doc.year > 3 AND doc.dept <> 'b' AND doc.id <> 'x' AND part.kind = 'note'", Dimensions: []float64{2}, K: 6}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// saved writes an index with deletes to files and gives its configuration, its last change and the hits of
// sampleQuery.
func saved(t *testing.T) (cfg index.Config, last int64, hits []search.Hit) {
	t.Helper()
	cfg = index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1}
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(1<<30, 0)
	x.ListsFrom(16, 4)
	must(t, x.Apply(puts(1, 40)))
	must(t, x.Flush())
	must(t, x.Apply([]index.Change{{Seq: 40, Op: index.Delete, No: 7}, {Seq: 41, Op: index.Delete, No: 8}, amended()}))
	hits = sortedHits(t, x, sampleQuery(t))
	if len(hits) < 6 {
		t.Fatalf("only %d hits", len(hits))
	}
	must(t, x.Close())
	return cfg, 42, hits
}

// amended is the last change of saved: document 9 gets other values.
func amended() index.Change {
	return index.Change{Seq: 42, Op: index.Update, No: 9, Doc: &index.Document{No: 9, Values: []filter.Value{filter.Text("new"), filter.Int(2)}}}
}

// survivors are the documents of saved.
func survivors() []index.Document {
	docs := append(sampleDocs(1, 7), sampleDocs(9, 40)...)
	docs[6].Values = amended().Doc.Values
	return docs
}

// once gives docs as one batch.
func once(docs []index.Document) func() ([]index.Document, error) {
	return func() ([]index.Document, error) {
		out := docs
		docs = nil
		return out, nil
	}
}

// retyped makes the columns that are missing after damage to them.
func retyped(t *testing.T, x *index.Index, cfg index.Config) {
	t.Helper()
	r := x.Retype(cfg.Schema)
	must(t, r.Add(survivors()))
	must(t, r.Swap(cfg.SchemaVersion))
}

func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		out[e.Name()] = b
	}
	return out
}

// An index whose file has a flipped byte is opened without a panic: either the byte meant nothing and the answer is the
// same, or all files are dropped, the damaged one is named, and the index asks for every change again.
func TestFlippedByte(t *testing.T) {
	t.Parallel()
	cfg, last, want := saved(t)
	var event string
	var reported error
	cfg.Notify = func(e string, err error) { event, reported = e, err }
	whole := files(t, cfg.Dir)
	if len(whole) != 4 {
		t.Fatalf("%d files, want manifest, segment, deletes and columns", len(whole))
	}
	rng := rand.New(rand.NewPCG(4, 4))
	dropped := 0
	for name, image := range whole {
		flips := 150
		for range flips {
			event, reported = "", nil
			damaged := bytes.Clone(image)
			damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
			for n, b := range whole {
				must(t, os.WriteFile(filepath.Join(cfg.Dir, n), b, 0o600))
			}
			must(t, os.WriteFile(filepath.Join(cfg.Dir, name), damaged, 0o600))
			x, err := index.Open(cfg)
			must(t, err)
			switch x.Applied() {
			case last:
				if x.SchemaVersion() == index.NoSchema {
					dropped++
					if event != index.EventDamaged || !strings.Contains(reported.Error(), name) || !strings.Contains(name, ".col.") {
						t.Fatalf("%s: reported %q %v", name, event, reported)
					}
					retyped(t, x, cfg)
				} else if event != "" {
					t.Fatalf("%s: opened in spite of %v", name, reported)
				}
				if got := sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) {
					t.Fatalf("%s: other hits", name)
				}
			case 0:
				dropped++
				if event != index.EventDamaged || !errors.Is(reported, index.ErrCorrupt) || !strings.Contains(reported.Error(), name) {
					t.Fatalf("%s: reported %q %v", name, event, reported)
				}
				if left := files(t, cfg.Dir); len(left) != 0 {
					t.Fatalf("%s: %d files left", name, len(left))
				}
			default:
				t.Fatalf("%s: applied %d", name, x.Applied())
			}
			must(t, x.Close())
		}
	}
	if dropped < 350 {
		t.Errorf("only %d of 600 flips noticed", dropped)
	}
}

// A file that is cut off or missing drops the index in the same way, and it is rebuilt from its documents.
func TestLostFile(t *testing.T) {
	t.Parallel()
	cfg, last, want := saved(t)
	whole := files(t, cfg.Dir)
	for name, image := range whole {
		for _, size := range []int{-1, 0, 1, len(image) / 2, len(image) - 1} {
			reported := false
			cfg.Notify = func(e string, _ error) { reported = e == index.EventDamaged }
			for n, b := range whole {
				must(t, os.WriteFile(filepath.Join(cfg.Dir, n), b, 0o600))
			}
			path := filepath.Join(cfg.Dir, name)
			must(t, os.Remove(path))
			if size >= 0 {
				must(t, os.WriteFile(path, image[:size], 0o600))
			}
			x, err := index.Open(cfg)
			must(t, err)
			if name == "MANIFEST" && size < 0 {
				reported = true // a folder without a manifest is an index that was never saved
			}
			if name == "MANIFEST" && size == len(image)-1 {
				must(t, x.Close()) // only the end of the line is gone
				continue
			}
			if strings.Contains(name, ".col.") {
				if x.Applied() != last || x.SchemaVersion() != index.NoSchema || !reported {
					t.Fatalf("%s cut to %d: applied %d, version %d", name, size, x.Applied(), x.SchemaVersion())
				}
				retyped(t, x, cfg)
				if got := sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) {
					t.Fatalf("%s cut to %d: other hits", name, size)
				}
				must(t, x.Close())
				continue
			}
			if x.Applied() != 0 || !reported {
				t.Fatalf("%s cut to %d: applied %d, reported %v", name, size, x.Applied(), reported)
			}
			must(t, x.Replace(last, once(survivors())))
			if got := sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) {
				t.Fatalf("%s cut to %d: other hits after rebuilding", name, size)
			}
			must(t, x.Close())
		}
	}
}

// A mapped file that is cut off under a running index is an error that is ErrCorrupt, not a crash, and Replace repairs
// it.
func TestCutOffWhileMapped(t *testing.T) {
	t.Parallel()
	cfg, last, want := saved(t)
	x, err := index.Open(cfg)
	must(t, err)
	defer func() { must(t, x.Close()) }()
	segments, err := filepath.Glob(filepath.Join(cfg.Dir, "*.seg"))
	must(t, err)
	must(t, os.Truncate(segments[0], 100))
	s := x.Snapshot()
	_, err = s.Search(context.Background(), sampleQuery(t))
	s.Release()
	var c *segment.Corrupt
	if !errors.Is(err, index.ErrCorrupt) || !errors.As(err, &c) || c.File != filepath.Base(segments[0]) {
		t.Fatalf("search: %v", err)
	}
	must(t, x.Replace(last, once(survivors())))
	if got := sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) {
		t.Fatal("other hits after rebuilding")
	}
}

// Of several segments one that is damaged, or its deletes, costs its own documents: the index says that it is partial,
// refuses changes, is repaired with what it lacks, and answers as before, after a restart too. Until it is repaired the
// files stay as partial as they are.
func TestDamagedSegment(t *testing.T) {
	t.Parallel()
	cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1}
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(20, 0)
	for _, c := range puts(1, 40) {
		must(t, x.Apply([]index.Change{c}))
	}
	must(t, x.Flush())
	must(t, x.Apply([]index.Change{{Seq: 40, Op: index.Delete, No: 7}, {Seq: 41, Op: index.Delete, No: 8}, amended()}))
	want := sortedHits(t, x, sampleQuery(t))
	must(t, x.Close())
	whole := files(t, cfg.Dir)
	partial := 0
	for name, image := range whole {
		if name == "MANIFEST" {
			continue
		}
		for n, b := range whole {
			must(t, os.WriteFile(filepath.Join(cfg.Dir, n), b, 0o600))
		}
		must(t, os.WriteFile(filepath.Join(cfg.Dir, name), image[:len(image)/2], 0o600))
		events := 0
		cfg.Notify = func(string, error) { events++ }
		lost := false
		for range 2 {
			x, err = index.Open(cfg)
			must(t, err)
			if lost = x.Partial(); lost {
				if err := x.Apply([]index.Change{{Seq: 43, Op: index.Delete, No: 1}}); err == nil {
					t.Fatalf("%s: a partial index was changed", name)
				}
				must(t, x.Close())
			}
		}
		if lost {
			x, err = index.Open(cfg)
			must(t, err)
		}
		if x.Applied() != 42 || events == 0 || x.Partial() == strings.Contains(name, ".col.") {
			t.Fatalf("%s: applied %d, %d events, partial %v", name, x.Applied(), events, x.Partial())
		}
		if x.SchemaVersion() == index.NoSchema {
			retyped(t, x, cfg)
		}
		if x.Partial() {
			partial++
			must(t, x.Repair(once(slices.DeleteFunc(survivors(), func(d index.Document) bool { return x.Has(d.No) }))))
		}
		events = 0
		for range 2 {
			if got := sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) || x.Applied() != 42 || x.Partial() {
				t.Fatalf("%s: other hits, or applied %d", name, x.Applied())
			}
			must(t, x.Close())
			x, err = index.Open(cfg)
			must(t, err)
		}
		must(t, x.Close())
		if events != 0 {
			t.Errorf("%s: %d events after it was repaired", name, events)
		}
	}
	if partial < 3 {
		t.Errorf("only %d of %d files made the index partial", partial, len(whole))
	}
}

// TestOldLayout proves that files from before headings were marked stay, and that only the columns are made anew, with the
// marks.
func TestOldLayout(t *testing.T) {
	t.Parallel()
	cfg, last, want := saved(t)
	cfg.Notify = func(event string, err error) { t.Errorf("%s: %v", event, err) }
	m, err := manifest.Read(cfg.Dir)
	must(t, err)
	m.Layout = 0
	must(t, m.Write(segment.Files{}, cfg.Dir))
	q := sampleQuery(t)
	for range 2 { // the second time with the new columns
		x, err := index.Open(cfg)
		must(t, err)
		if x.Applied() != last {
			t.Fatalf("applied %d of %d", x.Applied(), last)
		}
		if x.SchemaVersion() == index.NoSchema {
			if m.Layout != 0 {
				t.Fatal("the columns were not kept")
			}
			s := x.Snapshot()
			odd := q
			odd.Filter, odd.Headings = "", search.NoHeadings
			if _, err := s.Search(t.Context(), odd); !errors.Is(err, search.ErrSchema) {
				t.Errorf("a search without headings before they are marked: %v", err)
			}
			s.Release()
			docs := survivors()
			docs[0].Parts[0].Leads = true
			r := x.Retype(cfg.Schema)
			must(t, r.Add(docs))
			must(t, r.Swap(cfg.SchemaVersion))
		} else if m.Layout == 0 {
			t.Fatal("the columns of the old layout are in use")
		}
		if got := sortedHits(t, x, q); !slices.Equal(got, want) {
			t.Fatal("other hits")
		}
		led := search.Query{Vector: q.Vector, Headings: search.OnlyHeadings, Schema: cfg.SchemaVersion, K: 10}
		if got := sortedHits(t, x, led); len(got) != 1 || got[0].No != survivors()[0].No {
			t.Fatalf("headings: %+v", got)
		}
		must(t, x.Close())
		m.Layout = 1
	}
}

// Files of another life of the corpus, another encoder or dimension are dropped and reported as such.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*index.Config){
		"epoch":      func(c *index.Config) { c.Epoch++ },
		"encoder":    func(c *index.Config) { c.Encoder = "f" },
		"dim":        func(c *index.Config) { c.Dim = 128 },
		"dimensions": func(c *index.Config) { c.Dimensions = 2 },
	} {
		cfg, _, _ := saved(t)
		event := ""
		cfg.Notify = func(e string, _ error) { event = e }
		change(&cfg)
		x, err := index.Open(cfg)
		must(t, err)
		if x.Applied() != 0 || event != index.EventForeign || len(files(t, cfg.Dir)) != 0 {
			t.Errorf("%s: applied %d, event %q", name, x.Applied(), event)
		}
		must(t, x.Close())
	}
}

// When files cannot be written the index says so, goes on in memory with right answers, and saves when it can again.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	must(t, os.WriteFile(dir, nil, 0o600)) // a file where the folder should be
	var events []string
	cfg := index.Config{Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1,
		Notify: func(e string, _ error) { events = append(events, e) }}
	x, err := index.Open(cfg)
	must(t, err)
	cfg.Dir = dir
	if _, err := index.Open(cfg); err == nil {
		t.Fatal("opened a folder that is a file")
	}
	must(t, os.Remove(dir))
	y, err := index.Open(cfg)
	must(t, err)
	must(t, os.WriteFile(dir, nil, 0o600))
	y.SealAt(20, 0)
	for _, c := range puts(1, 40) {
		must(t, x.Apply([]index.Change{c}))
		must(t, y.Apply([]index.Change{c}))
	}
	if len(events) == 0 || events[0] != index.EventUnsaved || len(events) > 5 {
		t.Fatalf("events %v", events)
	}
	if got, want := sortedHits(t, y, sampleQuery(t)), sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) {
		t.Fatal("other hits")
	}
	if err := y.Flush(); err == nil {
		t.Fatal("flushed into a file")
	}
	must(t, os.Remove(dir))
	must(t, y.Close())
	y, err = index.Open(cfg)
	must(t, err)
	if y.Applied() != 39 {
		t.Fatalf("applied %d after saving", y.Applied())
	}
	must(t, y.Close())
	must(t, x.Close())
}

// A failed write or rebuild changes nothing; gaps in the numbers are refused.
func TestRefusedChanges(t *testing.T) {
	t.Parallel()
	x, err := index.Open(index.Config{Schema: newSchema(t), Dim: dim, Dimensions: 1})
	must(t, err)
	must(t, x.Apply(puts(1, 20)))
	want := sortedHits(t, x, sampleQuery(t))
	bad := sampleDocs(20, 21)[0]
	bad.Parts[0].Vector = []byte{1}
	short := sampleDocs(20, 21)[0]
	short.Parts[0].Dimensions = nil
	for name, changes := range map[string][]index.Change{
		"gap": puts(21, 22), "repeated": puts(19, 20), "operation": {{Seq: 20, Op: 9}},
		"number":     {{Seq: 20, Op: index.Put, No: 21, Doc: &sampleDocs(20, 21)[0]}},
		"vector":     {{Seq: 20, Op: index.Delete, No: 3}, {Seq: 21, Op: index.Put, No: 20, Doc: &bad}},
		"dimensions": {{Seq: 20, Op: index.Delete, No: 3}, {Seq: 21, Op: index.Put, No: 20, Doc: &short}},
	} {
		if err := x.Apply(changes); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	broken := errors.New("broken")
	for name, next := range map[string]func() ([]index.Document, error){
		"source": func() ([]index.Document, error) { return nil, broken },
		"vector": func() ([]index.Document, error) { return []index.Document{bad}, nil },
	} {
		if err := x.Replace(50, next); err == nil || name == "source" && !errors.Is(err, broken) {
			t.Errorf("replace with a bad %s: %v", name, err)
		}
	}
	if got := sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) || x.Applied() != 19 {
		t.Errorf("something changed: applied %d", x.Applied())
	}
	must(t, x.Close())
	if err := x.Apply(puts(20, 21)); !errors.Is(err, index.ErrClosed) {
		t.Errorf("apply after close: %v", err)
	}
	if err := x.Replace(1, nil); !errors.Is(err, index.ErrClosed) {
		t.Errorf("replace after close: %v", err)
	}
	must(t, x.Close())
}

// Bad queries are errors, and an index without documents, or closed, finds nothing.
func TestOddQueries(t *testing.T) {
	t.Parallel()
	x, err := index.Open(index.Config{Schema: newSchema(t), Dim: dim, Dimensions: 1})
	must(t, err)
	if got := sortedHits(t, x, sampleQuery(t)); len(got) != 0 {
		t.Errorf("hits of nothing: %v", got)
	}
	must(t, x.Apply(puts(1, 20)))
	s := x.Snapshot()
	defer s.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, q := range map[string]search.Query{
		"no pool": {Terms: []string{"a"}}, "vector": {Vector: []float32{1}, K: 1}, "zero": {Vector: make([]float32, dim), K: 1},
		"weights": {Terms: []string{"a"}, K: 1, Dimensions: []float64{1, 2}},
	} {
		if _, err := s.Search(context.Background(), q); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := s.Search(ctx, sampleQuery(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if found, err := s.Search(context.Background(), search.Query{K: 9, Exclude: []string{"a"}, PhrasesRequired: true}); err != nil || len(found.Hits) != 0 {
		t.Errorf("exclusions alone: %v %v", found.Hits, err)
	}
	must(t, x.Close())
	if got := sortedHits(t, x, sampleQuery(t)); len(got) != 0 {
		t.Errorf("hits after close: %v", got)
	}
	if _, err := s.Search(context.Background(), sampleQuery(t)); err != nil {
		t.Errorf("snapshot from before close: %v", err)
	}
}

// Snapshots answer the same query alike however often it is asked, while documents come and go, segments merge and
// files are written beside them.
func TestReadersBesideWriter(t *testing.T) {
	t.Parallel()
	kept := condition.New(3000)
	x, err := index.Open(index.Config{Dir: t.TempDir(), Schema: newSchema(t), Dim: dim, Dimensions: 1, Conditions: kept})
	must(t, err)
	x.SealAt(30, 0)
	q := sampleQuery(t)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for seen := int64(0); ; {
				s := x.Snapshot()
				first, err := s.Search(context.Background(), q)
				again, err2 := s.Search(context.Background(), q)
				if err != nil || err2 != nil || len(first.Hits) != len(again.Hits) || s.Seq() < seen {
					t.Errorf("%d and %d hits, %v %v, change %d after %d", len(first.Hits), len(again.Hits), err, err2, s.Seq(), seen)
				}
				seen = s.Seq()
				s.Release()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i, c := range puts(1, 150) {
		if i%3 == 2 {
			c = index.Change{Seq: c.Seq, Op: index.Delete, No: c.No - 2}
		}
		must(t, x.Apply([]index.Change{c}))
	}
	close(done)
	wg.Wait()
	must(t, x.Close())
	if s := kept.Stats(); s.Entries != 0 || s.Hits == 0 {
		t.Errorf("results of conditions: %+v", s)
	}
}

// The counts of parts and documents that pass a filter are those that the filter itself gives.
func TestPassing(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	x, err := index.Open(index.Config{Schema: schema, Dim: dim, Dimensions: 1})
	must(t, err)
	must(t, x.Apply(append(puts(1, 40), index.Change{Seq: 40, Op: index.Delete, No: 5})))
	o := oracle{schema: schema, docs: map[int64]*index.Document{}}
	docs := sampleDocs(1, 40)
	for i := range docs {
		if docs[i].No != 5 {
			o.docs[docs[i].No] = &docs[i]
		}
	}
	s := x.Snapshot()
	defer s.Release()
	for _, text := range append(conditions, "") {
		f, err := filter.Parse(text, schema, filter.Both)
		must(t, err)
		parts, owners := 0, map[int64]bool{}
		for _, e := range o.entries() {
			if f.Match(values{&o, e}) {
				parts++
				owners[e.doc.No] = true
			}
		}
		gotParts, gotDocs, err := s.Passing(f)
		if err != nil || gotParts != parts || gotDocs != len(owners) {
			t.Errorf("%s: %d parts of %d documents, %v; want %d of %d", text, gotParts, gotDocs, err, parts, len(owners))
		}
	}
	must(t, x.Close())
}

// TestLose proves that of several files one that is cut off under a running index, wherever, is an error of searches that names it;
// that the index without it is partial, and answers as before once Repair has brought back what it held.
func TestLose(t *testing.T) {
	t.Parallel()
	for _, cut := range []int64{0, 100, 4097, 5000, -70, -1} {
		cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1}
		x, err := index.Open(cfg)
		must(t, err)
		x.SealAt(20, 0)
		for _, c := range puts(1, 40) {
			must(t, x.Apply([]index.Change{c}))
		}
		must(t, x.Flush())
		must(t, x.Apply([]index.Change{{Seq: 40, Op: index.Delete, No: 7}, {Seq: 41, Op: index.Delete, No: 8}, amended()}))
		want := sortedHits(t, x, sampleQuery(t))
		segments, err := filepath.Glob(filepath.Join(cfg.Dir, "*.seg"))
		must(t, err)
		if len(segments) < 2 {
			t.Fatalf("files %v", segments)
		}
		info, err := os.Stat(segments[0])
		must(t, err)
		size := cut
		if cut < 0 {
			size += info.Size()
		}
		must(t, os.Truncate(segments[0], size))
		s := x.Snapshot()
		_, err = s.Search(t.Context(), sampleQuery(t))
		var c *segment.Corrupt
		if !errors.As(err, &c) || c.File != filepath.Base(segments[0]) {
			t.Fatalf("cut to %d: %v", size, err)
		}
		lost, err := x.Lose(err)
		if err != nil || !lost || !x.Partial() || x.Applied() != 42 || s.Partial() {
			t.Fatalf("cut to %d: lost %v, partial %v, applied %d, %v", size, lost, x.Partial(), x.Applied(), err)
		}
		s.Release()
		if err := x.Apply([]index.Change{{Seq: 43, Op: index.Delete, No: 1}}); err == nil {
			t.Fatal("a partial index was changed")
		}
		must(t, x.Repair(once(slices.DeleteFunc(survivors(), func(d index.Document) bool { return x.Has(d.No) }))))
		if lost, err := x.Lose(c); lost || err != nil {
			t.Errorf("lost again: %v %v", lost, err)
		}
		for round := range 2 {
			if got := sortedHits(t, x, sampleQuery(t)); !slices.Equal(got, want) || x.Partial() || x.Applied() != 42 {
				t.Fatalf("cut to %d, round %d: other hits, partial %v", size, round, x.Partial())
			}
			must(t, x.Close())
			x, err = index.Open(cfg)
			must(t, err)
		}
		must(t, x.Close())
	}
}

// TestSlowReader proves that a snapshot answers as when it was taken however long it is held: while its segments are changed, merged
// and removed, replaced by a rebuild, and after the index was closed.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	cfg, last, want := saved(t)
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(20, 0)
	s := x.Snapshot()
	before, err := filepath.Glob(filepath.Join(cfg.Dir, "*.seg"))
	must(t, err)
	check := func(when string) {
		t.Helper()
		found, err := s.Search(t.Context(), sampleQuery(t))
		must(t, err)
		hits := found.Hits
		slices.SortFunc(hits, func(a, b search.Hit) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Ord, b.Ord)) })
		if !slices.Equal(hits, want) || s.Seq() != last {
			t.Fatalf("%s: other hits as of change %d", when, s.Seq())
		}
	}
	for _, c := range puts(100, 160) {
		c.Seq = x.Applied() + 1
		must(t, x.Apply([]index.Change{c}))
	}
	for no := int64(1); no < 40; no++ {
		must(t, x.Apply([]index.Change{{Seq: x.Applied() + 1, Op: index.Delete, No: no}}))
	}
	must(t, x.Flush())
	for done := true; done; {
		done, err = x.Merge(nil, true)
		must(t, err)
	}
	check("after its documents were deleted and the others merged")
	must(t, x.Replace(500, once(sampleDocs(200, 230))))
	if _, err := os.Stat(before[0]); !os.IsNotExist(err) {
		t.Fatalf("the first file is still there: %v", err)
	}
	check("after a rebuild")
	must(t, x.Close())
	check("after closing")
	s.Release()
}
