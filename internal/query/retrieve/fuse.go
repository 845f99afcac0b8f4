package retrieve

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// candidate is a part that was found.
type candidate struct {
	hit     search.Hit
	source  int
	score   float64
	heading bool // it leads to text, and stands behind all passages
}

// mix returns what makes the retrieval score of s.
func (s *source) mix() search.Mix {
	return search.Mix{Lambda: s.lambda, Scale: rerank.LexicalScale, Half: rerank.LexicalHalf}
}

// listed is how many of the best parts a side has in a search by lists, whatever page is asked.
const listed = 200

// retrieve returns the best `need` candidates over all sources, in an order that does not depend on need. It is exact but
// where a source was searched by lists: there the first hundred are the best of what the lists and the words gave, and behind
// them stands the exact order without them. Headings that lead to text follow behind all passages, in exact order, and are
// searched only when there are fewer passages than needed.
func (s *Service) retrieve(ctx context.Context, q Query, sources []source, need int) ([]candidate, error) {
	seen := documents{}
	passages, err := s.best(ctx, q, sources, false, need, seen)
	if err != nil {
		return nil, err
	}
	var headings []candidate
	if n := need - len(passages); n > 0 {
		if headings, err = s.best(ctx, q, sources, true, n, seen); err != nil {
			return nil, err
		}
	}
	for i := range sources {
		for j := range sources {
			if sources[j].lambda == sources[i].lambda { // one scale for one λ
				sources[i].full = max(sources[i].full, sources[j].full)
			}
		}
	}
	return append(passages, headings...), nil
}

// best returns the best passages of all sources, or the best headings behind them. With max_by it returns none of a document
// in seen, to which it adds the others.
func (s *Service) best(ctx context.Context, q Query, sources []source, headings bool, need int, seen documents) ([]candidate, error) {
	var all, head []candidate
	var open []int // sources that were searched by lists
	kept := func(all []candidate) []candidate { return all }
	if q.BestPerDocument {
		kept = func(all []candidate) []candidate { return maps.Clone(seen).first(all, sources) }
	}
	for i := range sources {
		src := &sources[i]
		if src.empty || headings && !src.behind {
			continue
		}
		d := descent{s: s, src: src, i: i, headings: src.side(headings), need: need, kept: kept}
		if !q.Exact && !q.BestPerDocument && !headings {
			few, err := d.byLists(ctx)
			if err != nil {
				return nil, err
			}
			if few != nil {
				head, open = append(head, few...), append(open, i)
				continue
			}
		}
		some, err := d.exact(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(open) > 0 {
		return s.behind(ctx, sources, open, head, all, need)
	}
	sortCandidates(all)
	if q.BestPerDocument {
		all = seen.first(all, sources)
	}
	for i := range all {
		all[i].heading = headings
	}
	return all[:min(need, len(all))], nil
}

// behind returns the first hundred of head, the best of the open sources by lists, and of exact, the best of the others;
// behind them the exact order of all sources without those.
func (s *Service) behind(ctx context.Context, sources []source, open []int, head, exact []candidate, need int) ([]candidate, error) {
	head = append(head, exact...)
	sortCandidates(head)
	head = head[:min(need, rerank.FirstBand, len(head))]
	for _, i := range open {
		sources[i].listed = true
	}
	if need <= len(head) {
		return head, nil
	}
	shown := map[part]bool{}
	for _, c := range head {
		shown[c.part()] = true
	}
	for _, i := range open {
		d := descent{s: s, src: &sources[i], i: i, headings: sources[i].side(false), need: need, kept: func(all []candidate) []candidate { return all }}
		some, err := d.exact(ctx)
		if err != nil {
			return nil, err
		}
		exact = append(exact, some...)
	}
	sortCandidates(exact)
	exact = slices.DeleteFunc(exact, func(c candidate) bool { return shown[c.part()] })
	return append(head, exact[:min(need-len(head), len(exact))]...), nil
}

// part is a part of a source.
type part struct {
	source int
	no     int64
	ord    int
}

func (c *candidate) part() part { return part{c.source, c.hit.No, c.hit.Ord} }

// side returns what to do with headings in the search for the passages of s, or for the headings behind them.
func (s *source) side(headings bool) search.Headings {
	switch {
	case headings:
		return search.OnlyHeadings
	case s.behind:
		return search.NoHeadings
	}
	return search.WithHeadings
}

// descent searches source number i with growing depth for the best need candidates. What counts of a ranking is what kept
// leaves of it.
type descent struct {
	s        *Service
	src      *source
	i        int
	headings search.Headings
	need     int
	kept     func([]candidate) []candidate
	first    *search.Found // the exact answer of the first depth, if it is known
}

// depth is how many of the best parts a side has in the first search.
func (d *descent) depth() int { return max(100, 2*d.need) }

// byLists returns the best candidates that a search by lists gives, at most a hundred; nil when the source has to be searched exactly: no
// side was searched by lists, or they gave fewer than a hundred parts.
func (d *descent) byLists(ctx context.Context) ([]candidate, error) {
	q := d.src.search
	mix := d.src.mix()
	mix.Need = min(d.need, rerank.FirstBand)
	q.K, q.Pool, q.Headings, q.Mix = d.depth(), listed, d.headings, &mix
	found, err := d.s.engine.Search(ctx, d.src.corpus, q)
	d.src.plan = append(d.src.plan, found.Plan...)
	switch {
	case err != nil:
		return nil, err
	case d.src.exact(&found):
		d.first = &found
		return nil, nil
	case len(found.Hits) < rerank.FirstBand && !found.Mixed:
		return nil, nil
	}
	all := d.candidates(&found)
	return all[:min(d.need, rerank.FirstBand, len(all))], nil
}

// exact returns the best candidates.
func (d *descent) exact(ctx context.Context) ([]candidate, error) {
	q := d.src.search
	q.Exact, q.Headings = true, d.headings
	for q.K = d.depth(); ; q.K *= 4 {
		found := d.first
		if d.first = nil; found == nil {
			some, err := d.s.engine.Search(ctx, d.src.corpus, q)
			if err != nil {
				return nil, err
			}
			found = &some
			d.src.plan = append(d.src.plan, some.Plan...)
		}
		all := d.candidates(found)
		bound, more := d.src.unseen(found)
		best := d.kept(all)
		if !more || len(best) >= d.need && best[d.need-1].score > bound {
			return best[:min(d.need, len(best))], nil
		}
	}
}

// candidates returns what was found, best first.
func (d *descent) candidates(found *search.Found) []candidate {
	all := make([]candidate, len(found.Hits))
	for j, h := range found.Hits {
		d.src.full = max(d.src.full, h.Full)
		all[j] = candidate{hit: h, source: d.i, score: d.src.mix().Score(h.Cosine, h.BM25, h.Dims)}
	}
	sortCandidates(all)
	return all
}

// exact reports whether every side of s that it has is exact.
func (s *source) exact(f *search.Found) bool {
	weighed := slices.ContainsFunc(s.search.Dimensions, func(w float64) bool { return w != 0 })
	return (!s.search.HasVector() || f.Dense.Exact) && (!s.search.HasLexical() || f.Lexical.Exact) && (!weighed || f.Dimensions.Exact)
}

// unseen returns a bound on the score of every part that a search looked at and left out, and whether there may be any. Such a
// part is above the floor of no side; where the lexical side has all parts with a score, it has none.
func (s *source) unseen(f *search.Found) (bound float64, more bool) {
	if f.Dense.All || f.Dimensions.All || f.Lexical.All && !s.search.HasVector() {
		return 0, false
	}
	bm25 := f.Lexical.Floor
	if f.Lexical.All {
		bm25 = 0
	}
	mix := s.mix()
	return mix.Score(f.Dense.Floor, bm25, f.Dimensions.Floor), true
}

// sortCandidates orders by score, ties by source, document id and part order, so that paging is stable.
func sortCandidates(all []candidate) {
	slices.SortFunc(all, func(a, b candidate) int {
		if a.score != b.score { // mostly, and then the rest need not be compared
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.hit.ID, b.hit.ID), cmp.Compare(a.hit.Ord, b.hit.Ord))
	})
}

// documents is a set of documents. Two sources over one corpus count as one.
type documents map[place]bool

type place struct{ corpus, document int64 }

// first returns the first candidate of each document that is not in d, and adds these. all is sorted.
func (d documents) first(all []candidate, sources []source) []candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c candidate) bool {
		p := place{sources[c.source].corpus.No, c.hit.No}
		was := d[p]
		d[p] = true
		return was
	})
}
