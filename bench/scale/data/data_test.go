package data_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quarry/bench/scale/data"
	"quarry/internal/encode"
	"quarry/internal/encode/asset"
)

// collection writes a small collection in the form of win32docs: some pages with the same sentence.
func collection(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 4 {
		var b strings.Builder
		for p := range 12 {
			var sections []map[string]string
			for s := range 3 {
				words := []string{}
				for range 40 + r.IntN(200) {
					words = append(words, strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(3))+fmt.Sprint(r.IntN(50)))
				}
				if s == 0 {
					words = strings.Fields(strings.Repeat("every page has this text of ten words at first . ", 4))
				}
				sections = append(sections, map[string]string{"text": strings.Join(words, " ")})
			}
			line, err := json.Marshal(map[string]any{"id": fmt.Sprintf("a/%d-%d", i, p), "title": "T", "sections": sections,
				"metadata": map[string]any{"area": "x", "year": 2018}})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("documents-%d.jsonl.gz", i)))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write([]byte(b.String())); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func cut(t *testing.T, dir string, n int) *data.Passages {
	t.Helper()
	p, err := data.Cut(dir, n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Proves that passages are the same each time, 10 to 40 words long, each there once and of the document that says so,
// that few are the first of many, and that there are more than one round of cutting gives.
func TestCutIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	dir := collection(t)
	p, few := cut(t, dir, 1200), cut(t, dir, 300)
	if !reflect.DeepEqual(p, cut(t, dir, 1200)) {
		t.Error("two runs cut other passages")
	}
	if len(p.Texts) != 1200 || len(p.Of) != 1200 || !slices.Equal(few.Texts, p.Texts[:300]) {
		t.Errorf("%d texts of %d documents; 300 are not the first of them", len(p.Texts), len(p.Of))
	}
	seen, ids, at := map[string]bool{}, map[string]bool{}, 0
	for d, doc := range p.Documents {
		if ids[doc.ID] || doc.First != at || doc.Count == 0 {
			t.Errorf("document %d, %q, begins at %d with %d passages; %d were before", d, doc.ID, doc.First, doc.Count, at)
		}
		ids[doc.ID] = true
		for range doc.Count {
			if words := len(strings.Fields(p.Texts[at])); words < 10 || words > 40 {
				t.Errorf("passage %d has %d words", at, words)
			}
			if seen[p.Texts[at]] || int(p.Of[at]) != d {
				t.Errorf("passage %d is there twice, or not of document %d but %d", at, d, p.Of[at])
			}
			seen[p.Texts[at]] = true
			at++
		}
	}
	if !ids["a/0-0/1"] {
		t.Error("one round was enough for the second to be left untried")
	}
	if _, err := data.Cut(dir, 1_000_000); err == nil {
		t.Error("a small collection has a million passages")
	}
}

// Proves that the order has every passage once, whole documents first that are spread over the collection.
func TestOrderSpreads(t *testing.T) {
	t.Parallel()
	p := cut(t, collection(t), 800)
	order := p.Order()
	if p.Of[order[0]] != 0 || int(p.Of[order[p.Documents[0].Count]]) != 10 {
		t.Errorf("documents %d and %d come first", p.Of[order[0]], p.Of[order[p.Documents[0].Count]])
	}
	slices.Sort(order)
	for i, at := range order {
		if i != at {
			t.Fatalf("place %d of the sorted order has passage %d", i, at)
		}
	}
}

func encoder(t *testing.T) *encode.Encoder {
	t.Helper()
	e, err := encode.Open(asset.MiniLM())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Proves that static vectors are the same each time, of unit length and zero mean before that, and that a text is nearer
// to one about the same than to another.
func TestStaticVectors(t *testing.T) {
	t.Parallel()
	texts := []string{"The window handle is closed.", "Closing a handle of the window.", "Sheep graze on green hills.", "A shepherd and his sheep."}
	s, v, err := data.NewStatic(encoder(t), texts)
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := data.NewStatic(encoder(t), texts)
	if err != nil || !slices.Equal(v.Values, again.Values) {
		t.Errorf("two runs made other vectors (%v)", err)
	}
	queries, err := s.Of(texts)
	if err != nil || !slices.Equal(v.Values, queries.Values) {
		t.Errorf("a passage as a query has another vector (%v)", err)
	}
	dot := func(i, j int) (sum float64) {
		for k, x := range v.Row(i) {
			sum += float64(x) * float64(v.Row(j)[k])
		}
		return sum
	}
	if math.Abs(dot(0, 0)-1) > 1e-5 || dot(0, 1) < dot(0, 2)+0.2 || dot(2, 3) < dot(0, 3)+0.2 {
		t.Errorf("a text to itself %.3f; window and window %.3f, sheep and sheep %.3f, window and sheep %.3f", dot(0, 0), dot(0, 1), dot(2, 3), dot(0, 2))
	}
}

// Proves that encoding goes on where a run was stopped, in the middle of a row too, and gives what one run gives.
func TestEncodeGoesOn(t *testing.T) {
	t.Parallel()
	e, dir := encoder(t), t.TempDir()
	texts := []string{"one thing", "two things", "three things", "four", "five of them"}
	order := []int{4, 2, 0, 1, 3}
	whole, err := data.Encode(filepath.Join(dir, "whole"), e, texts, order, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float32, e.Dim())
	if err := e.Encode("three things", false, want); err != nil || !slices.Equal(whole.Row(1), want) {
		t.Errorf("the second row is not of the second text in order (%v)", err)
	}
	path := filepath.Join(dir, "parts")
	if _, err := data.Encode(path, e, texts, order, 3); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(4*e.Dim()*2+100)); err != nil {
		t.Fatal(err)
	}
	if some, err := data.Encode(path, e, texts, order, -1); err != nil || some.Len() != 2 {
		t.Errorf("%d rows are whole (%v)", some.Len(), err)
	}
	parts, err := data.Encode(path, e, texts, order, 5)
	if err != nil || !slices.Equal(parts.Values, whole.Values) {
		t.Errorf("in two runs other vectors were made (%v)", err)
	}
}

// Proves that a linear map is found from examples, and that mapped rows have unit length.
func TestFitFindsTheMap(t *testing.T) {
	t.Parallel()
	const n, dim = 400, 6
	r := rand.New(rand.NewPCG(3, 3))
	x, y := data.New(n, dim), data.New(n, dim)
	var turn [dim][dim]float64
	for i := range turn {
		for j := range turn {
			turn[i][j] = r.NormFloat64()
		}
	}
	for i := range n {
		sum := [dim]float64{}
		for j := range dim {
			x.Row(i)[j] = float32(r.NormFloat64())
			for k := range dim {
				sum[k] += float64(x.Row(i)[j]) * turn[j][k]
			}
		}
		for k := range dim {
			y.Row(i)[k] = float32(sum[k])
		}
	}
	m, err := data.Fit(x, y)
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := m.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		var dot, length float64
		for k, v := range mapped.Row(i) {
			dot, length = dot+float64(v)*float64(y.Row(i)[k]), length+float64(y.Row(i)[k])*float64(y.Row(i)[k])
		}
		if dot /= math.Sqrt(length); dot < 0.9999 || dot > 1.00001 {
			t.Fatalf("row %d is mapped to a vector of cosine %v to the right one", i, dot)
		}
	}
}

// Proves that drawn queries are the same each time and that each has its terms from one passage, none twice.
func TestDraw(t *testing.T) {
	t.Parallel()
	words := [][]string{{"a", "b", "a"}, {"c", "d", "e", "f"}, {"g"}}
	got := data.Draw(words, 20, 2)
	if !reflect.DeepEqual(got, data.Draw(words, 20, 2)) || len(got) != 20 {
		t.Errorf("%d queries, or others the second time", len(got))
	}
	for _, q := range got {
		in := func(w []string) bool {
			return slices.Contains(w, q[0]) && slices.Contains(w, q[1]) && slices.Index(w, q[0]) < slices.Index(w, q[1])
		}
		if len(q) != 2 || q[0] == q[1] || !in(words[0]) && !in(words[1]) {
			t.Errorf("query %v", q)
		}
	}
}
