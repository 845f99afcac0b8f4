package lexical_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"quarry/internal/index/lexical"
	"quarry/internal/index/postings"
	"quarry/internal/index/topk"
	"quarry/internal/testkit"
)

const benchRows = 400_000

// passages reads win32docs as passages of 10 to 40 words, in one segment, and returns some of them as words for queries.
func passages(b *testing.B, rng *rand.Rand) (*lexical.Corpus, [][]string) {
	stems := postings.Inversion{}
	var lengths []byte
	var texts [][]string
	c := &lexical.Corpus{}
	var raw struct {
		Sections []struct{ Text string }
	}
	for file := 0; len(lengths) < benchRows; file++ {
		f, err := os.Open(fmt.Sprintf("../../../../shared/data/win32docs/documents-%d.jsonl.gz", file))
		if err != nil {
			testkit.Skip(b, "win32docs is not there")
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 1<<24)
		for len(lengths) < benchRows && lines.Scan() {
			if err := json.Unmarshal(lines.Bytes(), &raw); err != nil {
				b.Fatal(err)
			}
			for _, sec := range raw.Sections {
				for words := strings.Fields(strings.ToLower(sec.Text)); len(words) >= 10 && len(lengths) < benchRows; {
					n := min(len(words), 10+rng.IntN(31))
					for _, w := range words[:n] {
						stems.Add(w, uint32(len(lengths)), 1)
					}
					if rng.IntN(300) == 0 {
						texts = append(texts, words[:n])
					}
					lengths = append(lengths, postings.LengthByte(n))
					c.Length += int64(n)
					words = words[n:]
				}
			}
		}
		_ = f.Close()
	}
	field, forward := stems.Both(lengths)
	c.Rows = len(lengths)
	c.Segments = []lexical.Segment{{Rows: c.Rows, Stems: field, Words: &postings.Field{}, Forward: forward, Norms: lengths}}
	return c, texts
}

// BenchmarkPruned measures what skipping saves for the best 10 and 100 of 400,000 passages, with words of one passage.
func BenchmarkPruned(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	c, texts := passages(b, rng)
	b.Logf("%d rows, %d bytes of postings, %d of bounds", c.Rows, len(c.Segments[0].Stems.Posts), len(c.Segments[0].Stems.Bounds))
	for _, words := range []int{2, 4, 8, 16} {
		for _, k := range []int{10, 100} {
			for _, way := range []string{"pruned", "exhaustive"} {
				b.Run(fmt.Sprintf("%d-words/best-%d/%s", words, k, way), func(b *testing.B) {
					rng, read := rand.New(rand.NewPCG(2, 2)), 0
					for b.Loop() {
						text := texts[rng.IntN(len(texts))]
						q := lexical.Query{}
						for range words {
							q.Terms = append(q.Terms, text[rng.IntN(len(text))])
						}
						s := lexical.NewScorer(c, q)
						top := topk.Top[place]{K: k, After: after}
						work := s.Search(0, nil, math.Inf(-1), func(row int, score float64) float64 {
							if score >= top.Floor() {
								top.Offer(topk.Item[place]{Score: score, Place: place{0, row}})
							}
							if way == "exhaustive" {
								return math.Inf(-1) // nothing may be skipped
							}
							return top.Floor()
						})
						read += work.Postings
					}
					b.ReportMetric(float64(read)/float64(b.N), "postings/op")
				})
			}
		}
	}
}
