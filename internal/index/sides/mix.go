package sides

import (
	"cmp"
	"math"
	"slices"

	"quarry/internal/index/topk"
	"quarry/internal/index/vector"
	"quarry/internal/search"
)

// near is a row whose cosine lies within a slack of about.
type near struct {
	Place
	about float64
}

// mixed is a row that may be among the best by the query's Mix.
type mixed struct {
	near
	least, most float64 // bounds of its mixed score
	bm25        float64 // if known
	known       bool
	member      bool // one of the sides has surely chosen it
}

// mixes reports whether hits that cannot be among the best by the query's Mix are left out.
func (s *Search) mixes() bool {
	return s.q.Mix != nil && s.q.Mix.Need > 0 && s.q.Mix.Need <= s.k && s.meant && s.weights == nil && !s.Exact()
}

// mix answers the query with the hits that may be among the best by its Mix, and few others: most rows that the two sides choose are
// told from those by the bounds of their scores, so that their low planes and their terms need not be read. wait ends the side of
// words.
func (s *Search) mix(words *chosen, wait func() error) (search.Found, []Place, error) {
	rows, slack, err := s.nearest()
	if waited := wait(); err == nil {
		err = waited
	}
	switch {
	case err != nil:
		return search.Found{}, nil, err
	case len(rows) < s.k:
		s.ready = make(chan struct{})
		return s.Run(true)
	}
	sure := s.k
	if len(rows) > s.k {
		rows, sure = cut(rows, s.k, slack)
	}
	all := s.leave(s.bound(rows, sure, slack, words))
	if slices.ContainsFunc(all, func(x mixed) bool { return !x.member }) {
		edge := s.closest(rows[sure:], s.k-sure)
		all = slices.DeleteFunc(all, func(x mixed) bool { return !x.member && !slices.Contains(edge, x.Place) })
	}
	out := search.Found{Hits: make([]search.Hit, len(all)), Mixed: true, Lexical: words.Side, Plan: s.plan}
	out.Dense.Floor = rows[s.k-1].about + slack
	for i, x := range all {
		out.Hits[i] = s.settled(x)
	}
	return out, nil, nil
}

// nearest returns the rows that may be among the best by cosine, best first, and the slack of all.
func (s *Search) nearest() (rows []near, slack float64, err error) {
	low := topk.Top[Place]{K: s.k, After: s.after} // by what their cosines are at least
	for i, v := range s.Views {
		if err := s.ctx.Err(); err != nil {
			return nil, 0, err
		}
		s.gather(i, low.Floor(), func(c *vector.Candidates) {
			some, by := c.Near(v.Vectors, s.vector)
			slack = max(slack, by)
			for _, x := range some {
				p := Place{int32(i), uint32(x.Row)}
				rows = append(rows, near{p, x.About})
				if i < len(s.Views)-1 {
					low.Offer(topk.Item[Place]{Score: x.About - by, Place: p})
				}
			}
		})
	}
	if len(s.Views) > 1 {
		slices.SortFunc(rows, func(a, b near) int { return cmp.Compare(b.about, a.about) })
	}
	return rows, slack, nil
}

// cut removes the rows that k others surely surpass from more than k, sorted, and returns how many of the others are surely among the k best.
func cut(rows []near, k int, slack float64) (left []near, sure int) {
	below := func(bar float64) int {
		n, _ := slices.BinarySearchFunc(rows, bar, func(x near, bar float64) int {
			if x.about < bar {
				return 1
			}
			return -1
		})
		return n
	}
	left = rows[:below(rows[k-1].about-2*slack)]
	if len(left) == k {
		return left, k
	}
	return left, below(math.Nextafter(rows[k].about+2*slack, 2))
}

// bound returns the rows of both sides with the bounds of their mixed scores, but for rows that are far from the best by cosine alone.
// The first rows are surely chosen.
func (s *Search) bound(rows []near, sure int, slack float64, words *chosen) []mixed {
	m := s.q.Mix
	byWords, best, rest := make(map[Place]int, len(words.best)), 0.0, words.Floor
	for i, x := range words.best {
		byWords[x.Place], best = i, max(best, x.Score)
	}
	if words.All || s.lex == nil {
		rest = 0 // of the rows that are not among words.best
	}
	floor := math.Inf(-1)
	if sure >= m.Need {
		floor = m.Score(rows[m.Need-1].about-slack, 0, 0)
	}
	all, met := make([]mixed, 0, 2*len(words.best)), make([]bool, len(words.best))
	for i, x := range rows {
		if m.Score(x.about+slack, best, 0) < floor {
			break
		}
		out := mixed{near: x, least: m.Score(x.about-slack, 0, 0), most: m.Score(x.about+slack, rest, 0), member: i < sure}
		if at, ok := byWords[x.Place]; ok {
			met[at] = true
			out = s.found(x, words.best[at].Score, slack)
		}
		all = append(all, out)
	}
	for i, x := range words.best {
		if !met[i] {
			all = append(all, s.found(near{x.Place, words.about[i]}, x.Score, slack))
		}
	}
	return all
}

// found returns a row that the words have chosen.
func (s *Search) found(x near, bm25, slack float64) mixed {
	m := s.q.Mix
	return mixed{near: x, least: m.Score(x.about-slack, bm25, 0), most: m.Score(x.about+slack, bm25, 0), bm25: bm25, known: true, member: true}
}

// leave leaves out the rows that as many members as are needed surely surpass.
func (s *Search) leave(all []mixed) []mixed {
	least := make([]float64, 0, len(all))
	for _, x := range all {
		if x.member {
			least = append(least, x.least)
		}
	}
	if len(least) < s.q.Mix.Need {
		return all
	}
	slices.Sort(least)
	floor := least[len(least)-s.q.Mix.Need]
	return slices.DeleteFunc(all, func(x mixed) bool { return x.most < floor })
}

// closest returns the n best of rows by cosine.
func (s *Search) closest(rows []near, n int) []Place {
	t := topk.Top[Place]{K: n, After: s.after}
	for _, x := range rows {
		t.Offer(topk.Item[Place]{Score: s.cosine(x.Place), Place: x.Place})
	}
	c := chosen{best: t.Items}
	return c.places()
}

// cosine returns the cosine of a row, and counts it.
func (s *Search) cosine(p Place) float64 {
	s.plan[p.View].Settled++
	return s.Views[p.View].Vectors.Score(s.vector, int(p.Row))
}

// abouts returns about the cosines of rows.
func (s *Search) abouts(best []topk.Item[Place]) []float64 {
	out := make([]float64, len(best))
	for i, x := range best {
		out[i] = s.Views[x.Place.View].Vectors.About(s.vector, int(x.Place.Row))
	}
	return out
}

// settled returns a row as a hit.
func (s *Search) settled(x mixed) search.Hit {
	h := s.named(s.Views[x.View], int(x.Row))
	h.Cosine = s.cosine(x.Place)
	if h.BM25 = x.bm25; !x.known && s.lex != nil {
		h.BM25 = s.lex.Score(int(x.View), int(x.Row))
	}
	return h
}
