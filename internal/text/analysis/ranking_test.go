package analysis_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quarry/internal/testkit"
	"quarry/internal/text/analysis"
)

// dataDir is the folder of the collections, on machines that have them.
const dataDir = "../../../../shared/data"

func TestAnalyzeRanksCollectionsAsMeasured(t *testing.T) {
	t.Parallel() // Proves that BM25 over Stems ranks real collections as well as the design measured.
	if _, err := os.Stat(dataDir); errors.Is(err, fs.ErrNotExist) {
		testkit.Skip(t, "collections are not on this machine")
	}
	tests := []struct {
		set, lang string
		title     int // times the title counts
		floor     float64
	}{
		{"xquad/en", "eng", 2, 0.97},
		{"xquad/de", "deu", 2, 0.95},
		{"xquad/es", "spa", 2, 0.968},
		{"xquad/ru", "rus", 2, 0.953},
		{"xquad/ar", "ara", 2, 0.939},
		{"xquad/hi", "hin", 2, 0.954},
		{"xquad/zh", "zho", 2, 0.966},
		{"scifact", "eng", 2, 0.68},
		{"cranfield", "eng", 2, 0.365},
		{"cacm", "eng", 2, 0.49},
		{"cisi", "eng", 2, 0.385},
		{"pubmedqa", "eng", 2, 0.97},
	}
	for _, tt := range tests {
		t.Run(tt.set, func(t *testing.T) {
			t.Parallel()
			got := rankCollection(t, filepath.Join(dataDir, tt.set), tt.lang, tt.title)
			t.Logf("nDCG@10 %.4f", got)
			if got < tt.floor {
				t.Errorf("nDCG@10 = %.4f, want ≥ %.3f", got, tt.floor)
			}
		})
	}
}

type record struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

type posting struct{ doc, tf int }

// rankCollection returns the mean nDCG@10 of exhaustive BM25 (k1 1.2, b 0.75).
func rankCollection(t *testing.T, dir, lang string, title int) float64 {
	docs := readRecords(t, filepath.Join(dir, "corpus.jsonl.gz"))
	postings := map[string][]posting{}
	lengths := make([]float64, len(docs))
	total := 0.0
	for i, d := range docs {
		counts := map[string]int{}
		add := func(text string, times int) {
			for _, s := range analysis.Analyze(text, lang).Stems {
				counts[s] += times
				lengths[i] += float64(times)
			}
		}
		add(d.Text, 1)
		add(d.Title, title)
		total += lengths[i]
		for s, n := range counts {
			postings[s] = append(postings[s], posting{i, n})
		}
	}
	mean := total / float64(len(docs))
	judged := readJudgements(t, filepath.Join(dir, "qrels", "test.tsv"))
	sum, n := 0.0, 0
	for _, q := range readRecords(t, filepath.Join(dir, "queries.jsonl")) {
		rel := judged[q.ID]
		if len(rel) == 0 {
			continue
		}
		scores := map[int]float64{}
		for _, s := range analysis.Query(q.Text, lang).Stems {
			list := postings[s]
			df := float64(len(list))
			idf := math.Log(1 + (float64(len(docs))-df+0.5)/(df+0.5))
			for _, p := range list {
				tf := float64(p.tf)
				scores[p.doc] += idf * 2.2 * tf / (tf + 1.2*(0.25+0.75*lengths[p.doc]/mean))
			}
		}
		sum += ndcg(scores, docs, rel)
		n++
	}
	return sum / float64(n)
}

func ndcg(scores map[int]float64, docs []record, rel map[string]float64) float64 {
	ranked := make([]int, 0, len(scores))
	for d := range scores {
		ranked = append(ranked, d)
	}
	slices.SortFunc(ranked, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(docs[a].ID, docs[b].ID))
	})
	gain, best := 0.0, 0.0
	for i, d := range ranked[:min(10, len(ranked))] {
		gain += rel[docs[d].ID] / math.Log2(float64(i+2))
	}
	ideal := make([]float64, 0, len(rel))
	for _, r := range rel {
		ideal = append(ideal, r)
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, r := range ideal[:min(10, len(ideal))] {
		best += r / math.Log2(float64(i+2))
	}
	return gain / best
}

func readRecords(t *testing.T, name string) []record {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	var out []record
	for dec := json.NewDecoder(r); ; {
		var rec record
		if err := dec.Decode(&rec); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, rec)
	}
}

func readJudgements(t *testing.T, name string) map[string]map[string]float64 {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	judged := map[string]map[string]float64{}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		score, err := strconv.ParseFloat(f[len(f)-1], 64)
		if err != nil || score <= 0 {
			continue // the header, or judged as not relevant
		}
		if judged[f[0]] == nil {
			judged[f[0]] = map[string]float64{}
		}
		judged[f[0]][f[1]] = score
	}
	return judged
}
