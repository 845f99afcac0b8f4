package retrieve

import (
	"context"
	"errors"
	"slices"
	"time"

	"quarry/internal/fault"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// Run answers q. Faults name its fields as the contract names those of search: corpora[0].metadata_filter, reranker.type.
func (s *Service) Run(ctx context.Context, q Query) (Answer, error) {
	r, err := s.rank(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{Save: r.save}
	for _, src := range r.candidates.sources {
		out.Corpora = append(out.Corpora, src.corpus)
	}
	if out.Results, err = r.results(ctx, r.page(), q.Explain); err != nil {
		return Answer{}, err
	}
	if q.Vectors {
		if err := r.vectors(ctx, out.Results); err != nil {
			return Answer{}, err
		}
	}
	if q.Explain {
		out.Plan = r.plan()
	}
	if q.Explain && q.Absent != "" {
		if out.Absent, err = r.absent(ctx, out.Results); err != nil {
			return Answer{}, err
		}
	}
	out.Latency = time.Since(r.started)
	if r.save {
		out.Trace, err = r.trace(ctx)
	}
	return out, err
}

// Ranked is one result of Rank: which part, its score, and what retrieval knew of it.
type Ranked struct {
	DocumentID string
	Ord        int
	Score      float64
	Signals    rerank.Signals
}

// Rank is the first half of Run: it returns the ranking alone and reads no text that no stage needs. Measurements of
// ranking quality use it.
func (s *Service) Rank(ctx context.Context, q Query) ([]Ranked, error) {
	r, err := s.rank(ctx, q)
	if err != nil {
		return nil, err
	}
	page := r.page()
	out := make([]Ranked, len(page))
	for i, x := range page {
		c := &r.candidates.pool[x.Index]
		out[i] = Ranked{c.hit.ID, c.hit.Ord, x.Score, r.candidates.Signals(x.Index)}
	}
	return out, nil
}

// ranking is a query whose results are in their final order.
type ranking struct {
	query      Query
	candidates *candidates
	items      []rerank.Item // all that the last stage left
	steps      []rerank.Step // nil unless recorded
	started    time.Time
	searched   time.Duration
	save       bool // the query belongs in the history
}

func (s *Service) rank(ctx context.Context, q Query) (*ranking, error) {
	r := &ranking{query: q, started: time.Now()}
	stages, err := rerank.Check(q.Reranker)
	if err != nil {
		return nil, fault.Under(err, "reranker")
	}
	sources, pool, err := s.pool(ctx, q, stages)
	if errors.Is(err, search.ErrSchema) {
		// The filter attributes were replaced after the query was planned; now the new ones are there.
		sources, pool, err = s.pool(ctx, q, stages)
	}
	if err != nil {
		return nil, err
	}
	r.searched = time.Since(r.started)
	r.save = wantsRecord(q, sources)
	r.candidates = &candidates{s: s, context: q.Context, around: q.Around, sources: sources, pool: pool, started: r.started, read: map[int]*passage{}}
	items := make([]rerank.Item, len(pool))
	for i, c := range pool {
		items[i] = rerank.Item{Index: i, Score: c.score}
	}
	r.items, r.steps, err = stages.Run(ctx, items, band(stages, q, sources), r.candidates, q.Explain || r.save)
	return r, err
}

// band returns the size of the first band. Where a search by lists gave the first candidates, it ends behind those.
func band(stages rerank.Pipeline, q Query, sources []source) int {
	if slices.ContainsFunc(sources, func(s source) bool { return s.listed }) {
		return rerank.FirstBand
	}
	return stages.Band(q.Limit)
}

// pool plans q and returns the candidates that its stages need.
func (s *Service) pool(ctx context.Context, q Query, stages rerank.Pipeline) ([]source, []candidate, error) {
	sources, err := s.plan(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	// A page that is put in an order of its own as a whole can't have two halves.
	q.Exact = q.Exact || stages.Band(q.Limit) > rerank.FirstBand && !stages.KeepsOrder()
	need, record := q.Offset+q.Limit, q.Explain || wantsRecord(q, sources)
	// If no stage changes the order, a deeper pool would lead to the same page.
	if record || !stages.KeepsScores() && !(stages.KeepsOrder() && sameScale(sources)) {
		need = rerank.Pool(stages.Band(q.Limit), need)
	}
	pool, err := s.retrieve(ctx, q, sources, need)
	return sources, pool, err
}

// wantsRecord reports whether a query belongs in the history: by its own setting, else by that of any of its corpora.
func wantsRecord(q Query, sources []source) bool {
	if save, ok := q.Save.Get(); ok {
		return save
	}
	return slices.ContainsFunc(sources, func(s source) bool { return s.corpus.SaveHistory })
}

// depth returns how many results a span shows: enough for the answer, and no more if each is a whole document.
func (r *ranking) depth() int {
	if r.query.Context.Whole {
		return r.query.Limit
	}
	return max(traceDepth, r.query.Limit)
}

// page returns the items of the page that the query asks for.
func (r *ranking) page() []rerank.Item {
	items := r.items[min(r.query.Offset, len(r.items)):]
	return items[:min(r.query.Limit, len(items))]
}

// results returns items with their texts and, with explain, the parts of their scores. Items whose document was deleted
// meanwhile or no longer passes the filter are left out.
func (r *ranking) results(ctx context.Context, items []rerank.Item, explain bool) ([]Result, error) {
	if err := r.candidates.load(ctx, indexes(items)); err != nil {
		return nil, err
	}
	out := make([]Result, 0, len(items))
	for _, x := range items {
		if p := r.candidates.read[x.Index]; p != nil {
			result := p.result
			result.Score = x.Score
			if explain {
				result.Explanation = r.explain(x)
			}
			out = append(out, result)
		}
	}
	return out, nil
}

// vectors sets the vectors of the results of the page. Those of other encoders than the default one are left out, since
// they do not compare.
func (r *ranking) vectors(ctx context.Context, results []Result) error {
	at := indexes(r.page())
	found, err := r.candidates.Vectors(ctx, at)
	if err != nil {
		return err
	}
	_, defaultSpace, _ := r.candidates.s.encoders.Resolve("")
	j := 0
	for i, x := range at {
		if r.candidates.read[x] == nil { // not among results
			continue
		}
		if found[i].Space == defaultSpace {
			results[j].Vector = found[i].Values
		}
		j++
	}
	return nil
}

func indexes(items []rerank.Item) []int {
	out := make([]int, len(items))
	for i, x := range items {
		out[i] = x.Index
	}
	return out
}

// trace returns the steps of the query, each with its first results.
func (r *ranking) trace(ctx context.Context) ([]Span, error) {
	pool := make([]rerank.Item, min(r.depth(), len(r.candidates.pool)))
	for i := range pool {
		pool[i] = rerank.Item{Index: i, Score: r.candidates.pool[i].score}
	}
	found, err := r.results(ctx, pool, false)
	if err != nil {
		return nil, err
	}
	out := []Span{{Type: "search", Started: r.started, Latency: r.searched, Results: found}}
	for _, s := range r.steps {
		if s.Type == "none" { // no reranking took place
			continue
		}
		span := Span{Type: "rerank", Started: s.Started, Latency: s.Latency}
		if span.Reranked, err = r.reranked(ctx, s); err != nil {
			return nil, err
		}
		out = append(out, span)
	}
	return out, nil
}

func (r *ranking) reranked(ctx context.Context, s rerank.Step) ([]Reranked, error) {
	before := make(map[int]float64, len(s.In))
	for _, x := range s.In {
		before[x.Index] = x.Score
	}
	shown := s.Out[:min(r.depth(), len(s.Out))]
	if err := r.candidates.load(ctx, indexes(shown)); err != nil {
		return nil, err
	}
	out := make([]Reranked, 0, len(shown))
	for _, x := range shown {
		if p := r.candidates.read[x.Index]; p != nil {
			out = append(out, Reranked{Text: p.result.Text, Score: x.Score, Original: before[x.Index]})
		}
	}
	return out, nil
}

// sameScale reports whether the default reranker keeps the order of retrieval: one λ, so one scale of scores.
func sameScale(sources []source) bool {
	return !slices.ContainsFunc(sources, func(s source) bool { return s.lambda != sources[0].lambda })
}
