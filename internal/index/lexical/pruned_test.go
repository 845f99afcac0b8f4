package lexical_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/index/lexical"
	"quarry/internal/index/postings"
	"quarry/internal/index/rowset"
	"quarry/internal/index/topk"
)

// place is a row of a segment.
type place struct{ segment, row int }

// natural returns texts whose words are as uneven as those of a language: few frequent, many rare, some texts long, some
// repeating one word, and runs of texts about one thing.
func natural(rng *rand.Rand, n int) []string {
	out := make([]string, n)
	topic := 0
	for i := range out {
		if rng.IntN(100) == 0 {
			topic = rng.IntN(40)
		}
		length := 1 + rng.IntN(12)
		if rng.IntN(15) == 0 {
			length = 40 + rng.IntN(200)
		}
		var words []string
		for range length {
			r := rng.Float64()
			w := int(60 * r * r * r)
			if rng.IntN(6) == 0 {
				w = 60 + topic
			}
			words = append(words, fmt.Sprintf("w%d", w))
		}
		for range rng.IntN(400) * (rng.IntN(60) / 59) {
			words = append(words, words[0])
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}

// withDeletes deletes about one row in so many of a corpus.
func withDeletes(rng *rand.Rand, c *lexical.Corpus, share int) {
	for i := range c.Segments {
		sg := &c.Segments[i]
		sg.Live, sg.Dead = rowset.All(sg.Rows), make([]uint32, sg.Stems.Len())
		for row := range sg.Rows {
			if rng.IntN(share) > 0 {
				continue
			}
			rowset.Remove(sg.Live, row)
			c.Rows--
			for w := sg.Forward.Row(row); w.Next(); {
				sg.Dead[w.Ordinal]++
				c.Length -= int64(w.Freq)
			}
		}
	}
}

// query draws stems, one of them perhaps twice or unknown, and at times phrases and prefixes.
func query(rng *rand.Rand) lexical.Query {
	word := func() string {
		r := rng.Float64()
		return fmt.Sprintf("w%d", int(105*r*r))
	}
	var q lexical.Query
	for range rng.IntN(9) {
		q.Terms = append(q.Terms, word())
	}
	if len(q.Terms) > 0 && rng.IntN(4) == 0 {
		q.Terms = append(q.Terms, q.Terms[0], "none")
	}
	for range rng.IntN(6) / 4 {
		q.Phrases = append(q.Phrases, []string{word(), word()})
	}
	for range rng.IntN(6) / 4 {
		q.Prefixes = append(q.Prefixes, fmt.Sprintf("w%d", rng.IntN(10)))
	}
	return q
}

// allowed draws the rows of a segment that may be found: those that live, or some of them, near each other or not.
func allowed(rng *rand.Rand, sg *lexical.Segment, kind int) []uint64 {
	if kind == 0 {
		return sg.Live
	}
	out := rowset.All(sg.Rows)
	from := rng.IntN(sg.Rows + 1)
	for row := range sg.Rows {
		near := row >= from && row < from+sg.Rows/4
		if !rowset.Has(sg.Live, row) || kind == 1 && rng.IntN(3) > 0 || kind == 2 && !near || kind == 3 && near {
			rowset.Remove(out, row)
		}
	}
	return out
}

func after(a, b place) bool { return cmp.Or(a.segment-b.segment, a.row-b.row) > 0 }

// best returns the k best rows of a corpus, as offered by each, the best first.
func best(k int, each func(offer func(p place, score float64) float64)) []topk.Item[place] {
	top := topk.Top[place]{K: k, After: after}
	each(func(p place, score float64) float64 {
		top.Offer(topk.Item[place]{Score: score, Place: p})
		return top.Floor()
	})
	slices.SortFunc(top.Items, func(a, b topk.Item[place]) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Place.segment, b.Place.segment), cmp.Compare(a.Place.row, b.Place.row))
	})
	return top.Items
}

// TestPruned proves that what is skipped was never among the best: rows, order, ties and every score are bit for bit those of
// the exhaustive sum, for queries of all kinds, with deletes and filters, over many segments with bounds or without, in windows of any size.
func TestPruned(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 77))
		var segments [][]string
		for range 1 + rng.IntN(4) {
			segments = append(segments, natural(rng, []int{1, 60, 700, 3000}[rng.IntN(4)]))
		}
		c := corpus(segments...)
		if seed%4 == 1 {
			for i := range c.Segments[:1+rng.IntN(len(c.Segments))] {
				c.Segments[i].Stems.Bounds = nil
			}
		}
		if seed%3 > 0 {
			withDeletes(rng, c, 2+rng.IntN(20))
		}
		for range 40 {
			q, k, kind := query(rng), []int{1, 2, 10, 100}[rng.IntN(4)], rng.IntN(4)
			s := lexical.NewScorer(c, q)
			s.WindowAt([]int{1, 7, 64, 500, 4096}[rng.IntN(5)])
			allow := make([][]uint64, len(c.Segments))
			for i := range allow {
				allow[i] = allowed(rng, &c.Segments[i], kind)
			}
			got := best(k, func(offer func(p place, score float64) float64) {
				floor := math.Inf(-1)
				for i := range c.Segments {
					s.Search(i, allow[i], floor, func(row int, score float64) float64 {
						floor = offer(place{i, row}, score)
						return floor
					})
				}
			})
			want := best(k, func(offer func(p place, score float64) float64) {
				for i := range c.Segments {
					for row, score := range s.Exhaustive(i) {
						if score > 0 && rowset.Has(allow[i], row) {
							offer(place{i, row}, score)
						}
					}
				}
			})
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, query %+v, best %d:\ngot  %v\nwant %v", seed, q, k, got, want)
			}
		}
	}
}

// TestSkips proves that what cannot be among the best is left unread: the list of a frequent word beside a rare one, and the
// blocks of a word alone in which it is less frequent than in the best rows.
func TestSkips(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	texts := make([]string, 20_000)
	for i := range texts {
		texts[i] = strings.Repeat("other ", 10+rng.IntN(20)) + "often "
		if i >= 4000 && i < 4100 {
			texts[i] = strings.Repeat("often ", 3+rng.IntN(20))
		}
		if i%1000 == 3 {
			texts[i] += "seldom "
		}
	}
	c := corpus(texts)
	for _, x := range []struct {
		terms        []string
		most, coarse int // postings read with bounds, and without
	}{{[]string{"often", "seldom"}, 6_000, 12_000}, {[]string{"often"}, 5_000, 20_000}} {
		for _, most := range []int{x.most, x.coarse} {
			if most == x.coarse {
				c.Segments[0].Stems.Bounds = nil
			}
			s := lexical.NewScorer(c, lexical.Query{Terms: x.terms})
			s.WindowAt(512)
			var work lexical.Work
			search := func(offer func(p place, score float64) float64) {
				work = s.Search(0, nil, math.Inf(-1), func(row int, score float64) float64 { return offer(place{0, row}, score) })
			}
			rows := len(best(len(texts), search))
			all := work
			if top := best(10, search); len(top) != 10 || work.Postings > most || most == x.most && work.Skipped == 0 {
				t.Errorf("%v: %+v for the best %d, want at most %d postings", x.terms, work, len(top), most)
			}
			if all.Skipped != 0 || all.Postings < rows || work.Postings+postings.BlockSize*work.Skipped < all.Postings {
				t.Errorf("%v: %+v for the best 10, %+v for all %d rows", x.terms, work, all, rows)
			}
		}
		c = corpus(texts)
	}
}

// FuzzBounds: whatever the postings, the lengths and the mean length, no posting scores above its bounds.
func FuzzBounds(f *testing.F) {
	f.Add([]byte{1, 4, 2, 9, 200, 3, 255, 80, 0, 0}, uint16(12))
	f.Fuzz(func(t *testing.T, b []byte, rows uint16) {
		n := min(len(b)/2, 1000)
		if n == 0 {
			return
		}
		l := postings.List{}
		var lengths []byte
		for i := range n {
			l.Rows = append(l.Rows, uint32(i))
			l.Freqs = append(l.Freqs, 1+uint32(b[2*i])*uint32(1+i%3))
			lengths = append(lengths, b[2*i+1])
		}
		builder := postings.Builder{Lengths: lengths}
		builder.Add([]byte("x"), &l)
		field := builder.Field()
		c := &lexical.Corpus{Rows: 1 + int(rows), Length: int64(rows) * int64(b[0])}
		s := lexical.NewScorer(c, lexical.Query{})
		for i := range n {
			for _, bound := range []postings.Bound{field.ListBound(0), field.BlockBound(i / postings.BlockSize)} {
				if share, most := s.Share(l.Freqs[i], lengths[i]), s.HighestShare(bound); share > most*(1+1e-12) {
					t.Fatalf("posting %d, frequency %d, length byte %d: %v above %v of %v", i, l.Freqs[i], lengths[i], share, most, bound)
				}
			}
		}
	})
}

// TestShares proves that a posting adds the same in a large corpus, where what it adds is tabulated, as in a small one.
func TestShares(t *testing.T) {
	t.Parallel()
	small := lexical.NewScorer(&lexical.Corpus{Rows: 100, Length: 1234}, lexical.Query{})
	large := lexical.NewScorer(&lexical.Corpus{Rows: 100_000, Length: 1_234_000}, lexical.Query{})
	for freq := range uint32(20) {
		for length := range 256 {
			one, other := small.Share(freq, byte(length)), large.Share(freq, byte(length))
			if one != other || (freq > 0) != (one > 0) {
				t.Fatalf("%d times in a row of length byte %d: %v and %v", freq, length, one, other)
			}
		}
	}
}
