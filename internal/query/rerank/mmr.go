package rerank

import (
	"context"
	"math"
	"slices"

	"quarry/internal/text/analysis"
)

// defaultBias is the diversity_bias of an mmr stage without one.
const defaultBias = 0.3

// maxDiverse is the number of results that mmr reorders: its work grows with their square. Those after them keep their
// order and stay after them.
const maxDiverse = 1000

// mmr is maximal marginal relevance (Carbonell and Goldstein 1998): it repeatedly picks the result with the highest
// (1−bias)·relevance − bias·(similarity to the most similar pick so far). Relevance is the incoming score scaled to 0 for
// the lowest and 1 for the highest of the band; similarity is the cosine of the vectors or, without vectors, the share of
// words in common. The first pick is the first of the input. Picks of earlier bands count for the later ones. Scores never
// rise along the picks, so that sorting by them keeps the order.
type mmr struct{ bias float64 }

func (s mmr) start() scoring { return &picking{bias: s.bias} }

// picking is the state of the greedy choice. It knows items by their positions among those of all bands.
type picking struct {
	bias      float64
	relevance []float64
	likeness  likeness
	order     []int     // picked so far
	nearest   []float64 // per item: highest similarity to the first seen[i] picks
	seen      []int     // -1 = picked
	last      float64   // score assigned last
	lastItem  int       // the item of this band that got it, -1 for none
	scoredAny bool
}

func (p *picking) score(ctx context.Context, in input) ([]score, error) {
	from, scaled := len(p.seen), relevance(in.items)
	n := min(len(in.items), maxDiverse-from)
	p.lastItem = -1
	if err := p.add(ctx, in.candidates, in.items[:n], scaled[:n]); err != nil {
		return nil, err
	}
	out := make([]score, len(in.items))
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := p.next(from)
		out[i-from] = p.scored(i, in.items[i-from].Score)
	}
	for i := n; i < len(out); i++ {
		out[i].value = p.below(from+i, (1-p.bias)*scaled[i]-p.bias)
	}
	return out, nil
}

// add adds items to choose from.
func (p *picking) add(ctx context.Context, c Candidates, items []Item, relevance []float64) error {
	p.relevance = append(p.relevance, relevance...)
	for range items {
		p.nearest, p.seen = append(p.nearest, math.Inf(-1)), append(p.seen, 0)
	}
	return p.likeness.add(ctx, c, items)
}

// relevance scales the incoming scores to 0..1.
func relevance(items []Item) []float64 {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, x := range items {
		lowest, highest = min(lowest, x.Score), max(highest, x.Score)
	}
	out := make([]float64, len(items))
	for i, x := range items {
		out[i] = 1
		if spread := highest/2 - lowest/2; spread > 0 { // halves: the spread of the largest numbers is a number
			out[i] = (x.Score/2 - lowest/2) / spread
		}
	}
	return out
}

// next picks one of the items behind from and returns it. The worth of an item only falls as more are picked, so an item
// that has lost against the picks it was compared to need not be compared to later ones. The choice is exact.
func (p *picking) next(from int) int {
	if len(p.order) == 0 {
		return p.pick(from)
	}
	best := -1
	for i := from; i < len(p.seen); i++ {
		if p.seen[i] >= 0 && (best < 0 || p.worth(i) > p.worth(best)) {
			best = i
		}
	}
	worth := p.compare(best) // of the most promising item, which most others do not reach
	for i := from; i < len(p.seen); i++ {
		if p.seen[i] < 0 || i == best {
			continue
		}
		if w := p.worth(i); w < worth || w == worth && i > best {
			continue
		}
		if w := p.compare(i); w > worth || w == worth && i < best {
			best, worth = i, w
		}
	}
	return p.pick(best)
}

// compare returns the exact worth of an item, comparing it to the picks that it has not been compared to yet.
func (p *picking) compare(i int) float64 {
	for _, j := range p.order[p.seen[i]:] {
		p.nearest[i] = max(p.nearest[i], p.likeness.of(i, j))
	}
	p.seen[i] = len(p.order)
	return p.worth(i)
}

func (p *picking) pick(i int) int {
	p.order, p.seen[i] = append(p.order, i), -1
	return i
}

// worth returns an upper bound of the value of an item, which is exact once it has been compared to every pick.
func (p *picking) worth(i int) float64 {
	w := (1 - p.bias) * p.relevance[i]
	if p.seen[i] != 0 {
		w -= p.bias * p.nearest[i]
	} else {
		w += p.bias // cosines are at least −1
	}
	return w
}

// scored returns the score of the item picked last.
func (p *picking) scored(i int, before float64) score {
	gain, loss := (1-p.bias)*p.relevance[i], 0.0
	if len(p.order) > 1 {
		loss = -p.bias * p.nearest[i]
	}
	out := score{value: p.below(i, gain+loss), parts: []Part{{"relevance", gain - before}, {"redundancy", loss}}}
	if d := out.value - (gain + loss); d != 0 {
		out.parts = append(out.parts, Part{"order", d})
	}
	return out
}

// below returns value, lowered if necessary so that item i sorts after the previous one.
func (p *picking) below(i int, value float64) float64 {
	if p.scoredAny && (value > p.last || value == p.last && i < p.lastItem) {
		value = math.Nextafter(p.last, math.Inf(-1))
	}
	p.last, p.lastItem, p.scoredAny = value, i, true
	return value
}

// likeness compares items by their positions among those that were added.
type likeness struct {
	indexes []int
	vectors []Vector
	words   []map[string]bool // of the parts; all there, or none while every two vectors compare
}

func (l *likeness) add(ctx context.Context, c Candidates, items []Item) error {
	for _, x := range items {
		l.indexes = append(l.indexes, x.Index)
	}
	vectors, err := c.Vectors(ctx, l.indexes[len(l.vectors):])
	if err != nil {
		return err
	}
	l.vectors = append(l.vectors, vectors...)
	if len(l.words) == 0 && !slices.ContainsFunc(l.vectors, func(v Vector) bool { return !v.comparable(l.vectors[0]) }) {
		return nil
	}
	passages, err := c.Passages(ctx, l.indexes[len(l.words):])
	if err != nil {
		return err
	}
	for _, p := range passages {
		words := map[string]bool{}
		for _, w := range analysis.Analyze(p.Part, "").Words {
			words[w.Text] = true
		}
		l.words = append(l.words, words)
	}
	return nil
}

// of returns the similarity of two items.
func (l *likeness) of(i, j int) float64 {
	if a, b := l.vectors[i], l.vectors[j]; a.comparable(b) {
		return cosine(a.Values, b.Values)
	}
	return jaccard(l.words[i], l.words[j])
}

func (v Vector) comparable(to Vector) bool {
	return len(v.Values) > 0 && v.Space == to.Space && len(v.Values) == len(to.Values)
}

// cosine returns the cosine of two vectors of unit length. Four independent sums let the processor pipeline additions.
func cosine(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return min(1, max(-1, float64(s0)+float64(s1)+float64(s2)+float64(s3)))
}

// jaccard returns the share of words in common.
func jaccard(a, b map[string]bool) float64 {
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	if all := len(a) + len(b) - common; all > 0 {
		return float64(common) / float64(all)
	}
	return 0
}
