package sides

import (
	"bytes"
	"cmp"
	"slices"

	"quarry/internal/index/topk"
	"quarry/internal/index/view"
	"quarry/internal/search"
)

// Place is a row of a view.
type Place struct {
	View int32
	Row  uint32
}

// after orders rows of one score by document id and part, so that the choice among them does not depend on where they
// lie.
func (s *Search) after(a, b Place) bool {
	v, w := s.Views[a.View], s.Views[b.View]
	i, j := int(a.Row), int(b.Row)
	return cmp.Or(bytes.Compare(v.ID(v.DocOf(i)), w.ID(w.DocOf(j))), cmp.Compare(v.OrdOf(i), w.OrdOf(j))) > 0
}

// chosen is what one side has chosen.
type chosen struct {
	search.Side
	best  []topk.Item[Place]
	hits  []search.Hit // of those, unless the search mixes
	about []float64    // of the words where it does: near cosines of best
}

func (c *chosen) places() []Place {
	out := make([]Place, len(c.best))
	for i, x := range c.best {
		out[i] = x.Place
	}
	return out
}

// The sides of a search.
const (
	byVectors = iota
	byWords
	byDimensions
)

// choose returns the K best rows of one side.
func (s *Search) choose(by int) (chosen, error) {
	scan := [...]func(i int, floor float64, offer func(row int, score float64) float64){s.dense, s.lexical, s.dimensions}[by]
	t := topk.Top[Place]{K: s.k, After: s.after, Items: make([]topk.Item[Place], 0, min(s.k, s.passing, 256))}
	for i := range s.Views {
		if err := s.ctx.Err(); err != nil {
			return chosen{}, err
		}
		scan(i, t.Floor(), func(row int, score float64) float64 {
			t.Offer(topk.Item[Place]{Score: score, Place: Place{int32(i), uint32(row)}})
			return t.Floor()
		})
	}
	out := chosen{best: t.Items, Side: search.Side{All: true, Exact: true}}
	if len(t.Items) == t.K && len(t.Items) < s.passing {
		out.Side = search.Side{Floor: t.Floor(), Exact: true}
	}
	return out, nil
}

// score scores what a side has chosen on the others. With mixes it finds no more than about its cosines.
func (s *Search) score(c *chosen, by int, mixes bool) {
	if mixes && s.vector != nil {
		c.about = s.abouts(c.best)
		return
	}
	c.hits = make([]search.Hit, len(c.best))
	for i, x := range c.best {
		c.hits[i] = s.hit(x.Place, by, x.Score)
	}
}

func (s *Search) lexical(i int, floor float64, offer func(row int, score float64) float64) {
	work := s.lex.Search(i, s.allow[i], floor, offer)
	s.plan[i].Postings, s.plan[i].Skipped = work.Postings, work.Skipped
}

// dimensions offers the rows of view i by their dimensions. Without a dense side they need a lexical score.
func (s *Search) dimensions(i int, floor float64, offer func(row int, score float64) float64) {
	s.weights.Search(s.Views[i].Dims, s.allow[i], floor, func(row int, score float64) float64 {
		if s.vector != nil || s.lex != nil && s.lex.Score(i, row) > 0 {
			floor = offer(row, score)
		}
		return floor
	})
}

// hit returns a row as a hit, scored on all sides. The score on the side by which it was found is known.
func (s *Search) hit(p Place, by int, score float64) search.Hit {
	v, row := s.Views[p.View], int(p.Row)
	h := s.named(v, row)
	switch {
	case by == byVectors:
		h.Cosine = score
	case s.vector != nil:
		h.Cosine = v.Vectors.Score(s.vector, row)
	}
	switch {
	case by == byWords:
		h.BM25 = score
	case s.lex != nil:
		h.BM25 = s.lex.Score(int(p.View), row)
	}
	if s.weights != nil {
		h.Dims = s.weights.Score(v.Dims, row)
	}
	return h
}

// named returns a row as a hit without scores.
func (s *Search) named(v *view.View, row int) search.Hit {
	d := v.DocOf(row)
	h := search.Hit{No: v.No(d), ID: string(v.ID(d)), Ord: v.OrdOf(row)}
	if s.lex != nil {
		h.Full = s.lex.Full()
	}
	return h
}

// union returns the hits of all sides, each once.
func union(sides ...chosen) []search.Hit {
	sides = slices.DeleteFunc(sides, func(c chosen) bool { return len(c.hits) == 0 })
	if len(sides) == 1 {
		return sides[0].hits
	}
	n := 0
	for _, c := range sides {
		n += len(c.hits)
	}
	out, seen := make([]search.Hit, 0, n), make(map[Place]bool, n)
	for _, c := range sides {
		for i, x := range c.best {
			if !seen[x.Place] {
				seen[x.Place] = true
				out = append(out, c.hits[i])
			}
		}
	}
	return out
}
