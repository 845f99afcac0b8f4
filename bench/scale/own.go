package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"quarry/bench/scale/data"
	"quarry/bench/scale/exact"
	"quarry/bench/service"
	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
)

// set is the rows of a measurement: passages, whole documents one after another, and what is known of each.
type set struct {
	name     string
	passages *data.Passages
	rows     []int        // the passage of each row
	vectors  data.Vectors // by row; none without a dense side
	near     []int        // by row: its rank by distance to one passage, in thousandths; nil without filters
	texts    bool         // with words
	first    []int        // by document in the index: its first row
}

// thousandths returns a number below 1,000 that belongs to a row or a document and to nothing else about it.
func thousandths(kind string, n int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + strconv.Itoa(n))) // never fails
	return int(h.Sum64() >> 20 % 1000)
}

// shares returns the value that a document has of the attribute share: half of all documents have "half", and so on.
func shares(document int) string {
	switch n := thousandths("document", document); {
	case n < 500:
		return "half"
	case n < 600:
		return "tenth"
	case n < 610:
		return "hundredth"
	case n < 611:
		return "thousandth"
	}
	return "rest"
}

// attributes are those of the corpora of the benchmark.
var attributes = []filter.Attribute{
	{Level: filter.Document, Name: "share", Type: filter.TextType},
	{Level: filter.Part, Name: "draw", Type: filter.Integer},
	{Level: filter.Part, Name: "near", Type: filter.Integer},
}

// build makes the index of s in a folder that it empties first.
func (s *set) build(dir string) (*index.Index, built, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, built{}, err
	}
	schema, err := filter.NewSchema(attributes)
	if err != nil {
		return nil, built{}, err
	}
	x, err := index.Open(index.Config{Dir: dir, Epoch: 1, Encoder: "bench", Schema: schema, SchemaVersion: 1, Dim: s.vectors.Dim,
		Notify: func(event string, err error) { fmt.Fprintln(os.Stderr, event, err) }})
	if err != nil {
		return nil, built{}, err
	}
	s.first = nil
	next, bar := 0, data.NewProgress("building "+s.name, 0)
	before, err := service.OwnTime()
	if err != nil {
		return nil, built{}, err
	}
	began, prepared := time.Now(), time.Duration(0)
	err = x.Replace(1, func() ([]index.Document, error) {
		start, cpu := time.Now(), ownTime()
		docs, err := s.batch(&next)
		prepared += time.Since(start)
		before += ownTime() - cpu // what the benchmark itself does is not part of it
		bar.At(next, len(s.rows))
		return docs, err
	})
	if err != nil {
		return nil, built{}, err
	}
	if err := merged(x); err != nil {
		return nil, built{}, err
	}
	if err := x.Close(); err != nil {
		return nil, built{}, err
	}
	b := built{Wall: (time.Since(began) - prepared).Seconds(), CPU: (ownTime() - before).Seconds()}
	b.Bytes, err = size(dir)
	if err != nil {
		return nil, b, err
	}
	x, err = index.Open(index.Config{Dir: dir, Epoch: 1, Encoder: "bench", Schema: schema, SchemaVersion: 1, Dim: s.vectors.Dim})
	return x, b, err
}

// merged brings an index to what it is at rest.
func merged(x *index.Index) error {
	for done := true; done; {
		var err error
		if done, err = x.Merge(nil, true); err != nil {
			return err
		}
	}
	return nil
}

// ownTime is service.OwnTime, zero where the system does not tell.
func ownTime() time.Duration {
	t, _ := service.OwnTime()
	return t
}

// batch returns the next documents.
func (s *set) batch(next *int) (docs []index.Document, err error) {
	const most = 64
	for len(docs) < most && *next < len(s.rows) {
		of := s.passages.Of[s.rows[*next]]
		d := index.Document{No: int64(len(s.first) + 1), ID: s.passages.Documents[of].ID, Values: []filter.Value{0: filter.Text(shares(int(of))), 2: {}}}
		s.first = append(s.first, *next)
		for ; *next < len(s.rows) && s.passages.Of[s.rows[*next]] == of; *next++ {
			p, err := s.part(*next)
			if err != nil {
				return nil, err
			}
			p.Ord = len(d.Parts)
			d.Parts = append(d.Parts, p)
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// part returns the part of a row.
func (s *set) part(row int) (p index.Part, err error) {
	p = index.Part{Lang: "eng", Values: []filter.Value{1: filter.Int(int64(thousandths("passage", row))), 2: {}}}
	if s.near != nil {
		p.Values[2] = filter.Int(int64(s.near[row]))
	}
	if s.vectors.Dim > 0 {
		if p.Vector, err = vector.Pack(s.vectors.Row(row)); err != nil {
			return p, err
		}
	}
	if s.texts {
		terms := analysis.Analyze(s.passages.Texts[s.rows[row]], "eng")
		p.Stems, p.Words = terms.Stems, terms.Words
	}
	return p, nil
}

// row returns the row of a hit.
func (s *set) row(h search.Hit) int { return s.first[h.No-1] + h.Ord }

// ask runs queries one after another on one core and returns what they found and how long each took.
func (s *set) ask(x *index.Index, queries []search.Query, better func(a, b search.Hit) bool) (searched, error) {
	snap := x.Snapshot()
	defer snap.Release()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var out searched
	run := func(q search.Query) (search.Found, error) {
		q.K, q.Schema = exact.K, 1
		return snap.Search(context.Background(), q)
	}
	for _, q := range queries[:min(20, len(queries))] {
		if _, err := run(q); err != nil {
			return out, err
		}
	}
	debug.FreeOSMemory()                             // of what came before
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would look at what the benchmark holds
	_ = clearReferenced(os.Getpid())                 // where the system can't tell, no memory is printed
	for _, q := range queries {
		began := time.Now()
		found, err := run(q)
		out.Seconds = append(out.Seconds, time.Since(began).Seconds())
		if err != nil {
			return out, err
		}
		out.Found = append(out.Found, s.best(found.Hits, better))
		out.steps = append(out.steps, found.Plan...)
	}
	out.touched = referenced(os.Getpid())
	return out, nil
}

// best returns the rows of the ten best hits.
func (s *set) best(hits []search.Hit, better func(a, b search.Hit) bool) (rows []int) {
	for i := range hits {
		for j := i; j > 0 && better(hits[j], hits[j-1]); j-- {
			hits[j], hits[j-1] = hits[j-1], hits[j]
		}
	}
	for _, h := range hits[:min(len(hits), exact.K)] {
		rows = append(rows, s.row(h))
	}
	return rows
}

// nearer and heavier order hits by the two sides of a search.
func nearer(a, b search.Hit) bool  { return a.Cosine > b.Cosine }
func heavier(a, b search.Hit) bool { return a.BM25 > b.BM25 }

// size returns the bytes of all files in a folder.
func size(dir string) (all int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			all += info.Size()
		}
		return err
	})
	return all, err
}
