package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"quarry/bench/scale/data"
	"quarry/bench/scale/exact"
	"quarry/internal/expr/filter"
	"quarry/internal/search"
)

// few returns three thousand rows in documents of one to seven passages, with vectors of 64 dimensions.
func few() *set {
	r := rand.New(rand.NewPCG(5, 5))
	s := &set{name: "few", passages: &data.Passages{}, vectors: data.New(3000, 64), texts: true}
	for len(s.passages.Texts) < 3000 {
		d := data.Document{ID: fmt.Sprintf("a/%d", len(s.passages.Documents)), First: len(s.passages.Texts), Count: min(1+r.IntN(7), 3000-len(s.passages.Texts))}
		for range d.Count {
			s.passages.Of = append(s.passages.Of, int32(len(s.passages.Documents)))
			s.passages.Texts = append(s.passages.Texts, fmt.Sprintf("passage number%d", len(s.passages.Texts)))
		}
		s.passages.Documents = append(s.passages.Documents, d)
	}
	s.rows = s.passages.Order()
	for i := range s.rows {
		var sum float64
		row := s.vectors.Row(i)
		for j := range row {
			row[j] = float32(r.NormFloat64())
			sum += float64(row[j]) * float64(row[j])
		}
		for j := range row {
			row[j] /= float32(math.Sqrt(sum))
		}
	}
	return s
}

// Proves that the rows of the index are those of the set: vectors, filters of every kind and words find what the exact
// scan and the texts say.
func TestIndexHasTheRowsOfTheSet(t *testing.T) {
	t.Parallel()
	s := few()
	s.rank(1000)
	x, made, err := s.build(filepath.Join(t.TempDir(), "index"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	if made.Bytes == 0 || x.Stats().Live != 3000 {
		t.Errorf("%d bytes, %+v", made.Bytes, x.Stats())
	}
	asked := s.vectors.Pick([]int{3, 999, 2998})
	cells := append(s.cells(), cell{kind: "all", passes: func(int) bool { return true }})
	schema, err := filter.NewSchema(attributes)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		truth, err := exact.Of(s.vectors, asked, c.passes)
		if err != nil {
			t.Fatal(err)
		}
		f, err := filter.Parse(c.text, schema, filter.Both)
		if err != nil {
			t.Fatal(err)
		}
		queries := make([]search.Query, asked.Len())
		for i := range queries {
			queries[i] = search.Query{Vector: asked.Row(i), Filter: f.Text()}
		}
		r, err := s.ask(x, queries, nearer)
		if err != nil {
			t.Fatal(err)
		}
		if recall := truth[0].Recall(s.vectors, asked, r.Found, c.passes); recall != 1 {
			t.Errorf("%s, %q: recall %v, %d to be found", c.kind, c.text, recall, truth[0].Rows)
		}
	}
	word := search.Query{Terms: data.Words([]string{s.passages.Texts[s.rows[1234]]})[0]}
	if r, err := s.ask(x, []search.Query{word}, heavier); err != nil || len(r.Found[0]) == 0 || r.Found[0][0] != 1234 {
		t.Errorf("the words of row 1234 find %v (%v)", r.Found, err)
	}
	if err := s.forget(x); err != nil {
		t.Fatal(err)
	}
	gone := 0
	for d := 0; d < len(s.first); d += deletedEvery {
		gone += s.passages.Documents[s.passages.Of[s.rows[s.first[d]]]].Count
	}
	if live := x.Stats().Live; live != 3000-gone {
		t.Errorf("%d rows are left, want %d", live, 3000-gone)
	}
}

// Proves that parts are run in their order, all where none is named, and that an unknown one is refused.
func TestChosen(t *testing.T) {
	t.Parallel()
	some, err := chosen("http,dense")
	if err != nil || len(some) != 2 || some[0].name != "dense" || some[1].name != "http" {
		t.Errorf("%v, %v", some, err)
	}
	if every, err := chosen(""); err != nil || len(every) != len(known) {
		t.Errorf("%d parts, %v", len(every), err)
	}
	if _, err := chosen("dense,everything"); err == nil {
		t.Error("an unknown part is run")
	}
}

// Proves the shares that the filters rely on: the values of documents, and rows drawn at random.
func TestShares(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	draws := make([]int, 1000)
	for i := range 200_000 {
		counts[shares(i)]++
		draws[thousandths("passage", i)]++
	}
	for value, want := range map[string]float64{"half": .5, "tenth": .1, "hundredth": .01, "thousandth": .001} {
		if got := float64(counts[value]) / 200_000; got < .7*want || got > 1.3*want {
			t.Errorf("%s: %v of all documents", value, got)
		}
	}
	if slices.Min(draws) < 120 || slices.Max(draws) > 290 {
		t.Errorf("a thousandth has between %d and %d of 200", slices.Min(draws), slices.Max(draws))
	}
}
