package evaluate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/opt"
	"quarry/internal/query/evaluate"
	"quarry/internal/query/retrieve"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var collection = map[string]string{
	"corpus.jsonl":   `{"_id":"a","title":"T","text":"x"}` + "\n\n" + `{"_id":"b","text":"y"}` + "\n",
	"queries.jsonl":  `{"_id":"q1","text":"say \"x\" -now pre*"}` + "\n" + `{"_id":"q2","text":"nobody judged this"}` + "\n",
	"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tb\t2\nq1\ta\t0\n",
}

// TestRead proves that a collection is read with its header, empty lines and unjudged queries left out.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, collection)
	d, err := evaluate.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Documents) != 2 || len(d.Queries) != 1 || d.Queries[0].ID != "q1" || d.Judged["q1"]["b"] != 2 {
		t.Errorf("got %+v", d)
	}
}

// TestReadRefusals proves that a damaged collection is an error that names the file and the line.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, text, want string }{
		{"corpus.jsonl", "{\"_id\":\"a\"}\nnot json\n", "corpus.jsonl line 2"},
		{"qrels/test.tsv", "q1 b 1\n", "line 1"},
		{"qrels/test.tsv", "q1\tb\thigh\n", "grade"},
		{"qrels/test.tsv", "q9\tb\t1\n", "no query has a relevant document"},
	} {
		dir := t.TempDir()
		write(t, dir, collection)
		write(t, dir, map[string]string{tc.file: tc.text})
		if _, err := evaluate.Read(dir); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s with %q: got %v, want an error with %q", tc.file, tc.text, err, tc.want)
		}
	}
}

// scripted ranks b before a and remembers what it was asked.
type scripted struct{ asked []retrieve.Query }

func (s *scripted) Rank(_ context.Context, q retrieve.Query) ([]retrieve.Ranked, error) {
	s.asked = append(s.asked, q)
	return []retrieve.Ranked{{DocumentID: "a"}, {DocumentID: "b"}}, nil
}

// TestMeasure proves the scores of a known ranking, and that queries are asked as plain text.
func TestMeasure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, collection)
	d, err := evaluate.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, steps := &scripted{}, 0
	s, err := evaluate.Measure(t.Context(), r, "c", d, evaluate.Runs[0], func() { steps++ })
	if err != nil {
		t.Fatal(err)
	}
	if s.MRR10 != 0.5 || s.Recall100 != 1 || s.Queries != 1 || steps != 1 {
		t.Errorf("got %+v after %d steps", s, steps)
	}
	if got, want := r.asked[0].Text, "say x now pre"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if !r.asked[0].BestPerDocument || r.asked[0].Sources[0].Lambda != opt.Some(1.0) {
		t.Errorf("asked %+v", r.asked[0])
	}
}
