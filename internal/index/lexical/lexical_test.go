package lexical_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/index/lexical"
	"quarry/internal/index/postings"
)

// corpus makes segments of texts, whose words are both stems and surface words.
func corpus(segments ...[]string) *lexical.Corpus {
	c := &lexical.Corpus{}
	for _, texts := range segments {
		lists := map[string]*postings.List{}
		sg := lexical.Segment{Rows: len(texts)}
		for row, text := range texts {
			words := strings.Fields(text)
			for pos, w := range words {
				l := lists[w]
				if l == nil {
					l = &postings.List{}
					lists[w] = l
				}
				if n := len(l.Rows); n == 0 || l.Rows[n-1] != uint32(row) {
					l.Rows, l.Freqs = append(l.Rows, uint32(row)), append(l.Freqs, 0)
				}
				l.Freqs[len(l.Freqs)-1]++
				l.Positions = append(l.Positions, uint32(pos))
			}
			sg.Norms = append(sg.Norms, postings.LengthByte(len(words)))
			c.Length += int64(len(words))
		}
		c.Rows += len(texts)
		var names []string
		for w := range lists {
			names = append(names, w)
		}
		slices.Sort(names)
		b := postings.Builder{Lengths: sg.Norms}
		for _, w := range names {
			b.Add([]byte(w), lists[w])
		}
		sg.Words = b.Field()
		sg.Stems = sg.Words
		var f postings.ForwardBuilder
		for row := range texts {
			f.Begin()
			for i, w := range names {
				if p, ok := slices.BinarySearch(lists[w].Rows, uint32(row)); ok {
					f.Add(uint32(i), lists[w].Freqs[p])
				}
			}
		}
		sg.Forward = f.Forward()
		c.Segments = append(c.Segments, sg)
	}
	return c
}

// scores gives what Search offers, by segment and row, and checks that Score says the same bit for bit.
func scores(t *testing.T, c *lexical.Corpus, q lexical.Query) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	s := lexical.NewScorer(c, q)
	for i := range c.Segments {
		s.Search(i, nil, math.Inf(-1), func(row int, score float64) float64 {
			if again := s.Score(i, row); again != score {
				t.Errorf("row %d/%d: Search has %v, Score %v", i, row, score, again)
			}
			out[fmt.Sprintf("%d/%d", i, row)] = score
			return math.Inf(-1)
		})
	}
	return out
}

// Scores are those worked out by hand with Lucene's formula, over two segments.
func TestScoreByHand(t *testing.T) {
	t.Parallel()
	c := corpus([]string{"cat dog", "cat cat fish bird"}, []string{"dog"})
	// N 3, average 7/3; cat is in 2 rows: idf ln(1+1.5/2.5) = 0.470004; dog likewise.
	idf, average := math.Log(1.6), 7.0/3
	share := func(f, n float64) float64 { return f * 2.2 / (f + 1.2*(0.25+0.75*n/average)) }
	got := scores(t, c, lexical.Query{Terms: []string{"cat", "dog", "cat", "none"}})
	for at, want := range map[string]float64{
		"0/0": 2*idf*share(1, 2) + idf*share(1, 2), "0/1": 2 * idf * share(2, 4), "1/0": idf * share(1, 1),
	} {
		if math.Abs(got[at]-want) > 1e-12 {
			t.Errorf("row %s: %v, want %v", at, got[at], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d rows, want 3", len(got))
	}
}

// Phrases count where their words stand one behind the other, repeated words and overlaps among them.
func TestPhrases(t *testing.T) {
	t.Parallel()
	c := corpus([]string{"a b a b a", "b a", "a a a", "a x b", "b b"}, []string{"x a b"})
	for phrase, want := range map[string][]string{
		"a b": {"0/0", "1/0"}, "a b a": {"0/0"}, "a a": {"0/2"}, "a": {"0/0", "0/1", "0/2", "0/3", "1/0"}, "b x": nil,
		"a none": nil, "x b": {"0/3"}, "a a a a": nil,
	} {
		var got []string
		for at := range scores(t, c, lexical.Query{Phrases: [][]string{strings.Fields(phrase)}}) {
			got = append(got, at)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("phrase %q: %v, want %v", phrase, got, want)
		}
	}
	s := lexical.NewScorer(c, lexical.Query{Phrases: [][]string{{"a", "b"}, {"b", "a"}}})
	set := []uint64{31}
	s.RequirePhrases(0, set)
	if set[0] != 1 {
		t.Errorf("rows with both phrases: %b, want row 0", set[0])
	}
}

// A prefix of more than 1,024 words stands for those in the most rows, the same however rows are spread.
func TestPrefixBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	var texts []string
	for i := range 1500 {
		text := fmt.Sprintf("p%d", i)
		if i%2 == 0 {
			text += fmt.Sprintf(" p%d", rng.IntN(600))
		}
		texts = append(texts, text)
	}
	q := lexical.Query{Prefixes: []string{"p"}}
	one, two := scores(t, corpus(texts), q), scores(t, corpus(texts[:700], texts[700:]), q)
	if len(one) <= 1024 || len(one) == len(texts) || len(one) != len(two) {
		t.Fatalf("%d and %d rows", len(one), len(two))
	}
	for row := range texts {
		at := fmt.Sprintf("0/%d", row)
		if row >= 700 {
			at = fmt.Sprintf("1/%d", row-700)
		}
		if one[fmt.Sprintf("0/%d", row)] != two[at] {
			t.Fatalf("row %d: %v and %v", row, one[fmt.Sprintf("0/%d", row)], two[at])
		}
	}
}

// Excluded words and prefixes are found in every row that has them.
func TestEachWith(t *testing.T) {
	t.Parallel()
	c := corpus([]string{"cat dog", "catfish", "bird", "dog dog"})
	got := map[int]bool{}
	c.Segments[0].EachWith([]string{"dog", "none"}, []string{"catf", "zz"}, func(row int) { got[row] = true })
	if len(got) != 3 || got[2] {
		t.Errorf("rows %v, want 0, 1 and 3", got)
	}
}
