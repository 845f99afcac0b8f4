package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/opt"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// Absent is the step that kept a document out of the results.
type Absent struct {
	DocumentID string
	Stage      Stage
	Detail     string // a sentence for people
}

// Stage is a step of a query that can remove a document.
type Stage string

// The stages, in order.
const (
	NotFound   Stage = "not_found"  // no corpus of the query has it
	Filter     Stage = "filter"     // no part passes the filter, or the query excludes its words
	Candidates Stage = "candidates" // outside the pool that the reranker gets
	MaxBy      Stage = "max_by"     // without max_by, another of its parts would be among the results
	Cutoff     Stage = "cutoff"     // a stage of the reranker removed it by its score
	Limit      Stage = "limit"      // behind the limit of a stage, or on another page
)

var stages = []Stage{NotFound, Filter, Candidates, MaxBy, Cutoff, Limit}

// tolerance is how far the sum of parts may differ from the score before one part replaces them all: well within the
// promised 1e-6.
const tolerance = 1e-8

// explain returns the parts of the score of x: the sides of retrieval, then the change by each stage.
func (r *ranking) explain(x rerank.Item) []rerank.Part {
	c := &r.candidates.pool[x.Index]
	src := &r.candidates.sources[c.source]
	var out []rerank.Part
	if src.lambda > 0 {
		out = append(out, rerank.Part{Name: "lexical", Value: src.lambda * src.mix().Lexical(c.hit.BM25)})
	}
	if src.lambda < 1 {
		out = append(out, rerank.Part{Name: "dense", Value: (1 - src.lambda) * c.hit.Cosine})
	}
	var values []float64
	if p := r.candidates.read[x.Index]; p != nil {
		values = p.part.Dimensions
	}
	for i, w := range src.search.Dimensions {
		if w != 0 && i < len(values) {
			out = append(out, rerank.Part{Name: "dimension." + src.corpus.Dimensions[i].Name, Value: search.Weighed(w, float32(values[i]))})
		}
	}
	if rest := c.score - sum(out); !(math.Abs(rest) <= tolerance) { // the part was changed since the search
		out = append(out, rerank.Part{Name: "dimensions", Value: rest})
	}
	for _, s := range r.steps {
		out = append(out, s.Parts[x.Index]...)
	}
	if miss := x.Score - sum(out); !(math.Abs(miss) <= tolerance) {
		// The sum of a huge and a small number is not exact: the last stage stands for everything.
		name := "retrieval"
		for _, s := range r.steps {
			if len(s.Parts[x.Index]) > 0 {
				name = s.Name
			}
		}
		return []rerank.Part{{Name: name, Value: x.Score}}
	}
	return out
}

func sum(parts []rerank.Part) float64 {
	total := 0.0
	for _, p := range parts {
		total += p.Value
	}
	return total
}

// Step is what the search of a corpus did in one segment of its index.
type Step struct {
	CorpusKey string
	search.Step
}

// plan returns what the searches of the sources did, in their order. A segment that was searched again, for a longer page or
// for headings, stands once for each search.
func (r *ranking) plan() []Step {
	var out []Step
	for _, src := range r.candidates.sources {
		for _, step := range src.plan {
			out = append(out, Step{src.corpus.Key, step})
		}
	}
	return out
}

// absent returns why the document in question is not among the results, nil if it is.
func (r *ranking) absent(ctx context.Context, results []Result) (*Absent, error) {
	id := r.query.Absent
	if slices.ContainsFunc(results, func(x Result) bool { return x.DocumentID == id }) {
		return nil, nil
	}
	out := &Absent{DocumentID: id}
	var err error
	if !r.removedByStage(out) {
		out.Stage, out.Detail, err = r.missedBySearch(ctx, id)
		return out, err
	}
	if r.query.BestPerDocument && out.Stage != NotFound {
		every := r.query
		every.BestPerDocument, every.Explain, every.Save = false, false, opt.Some(false)
		other, err := r.candidates.s.Run(ctx, every)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(other.Results, func(x Result) bool { return x.DocumentID == id }) {
			out.Stage, out.Detail = MaxBy, "another of its parts would be among the results; max_by left that part out"
		}
	}
	return out, nil
}

// removedByStage fills out for a document of which a part reached the reranker, by the part that got furthest. It reports
// whether any did.
func (r *ranking) removedByStage(out *Absent) bool {
	rank := slices.IndexFunc(r.items, func(x rerank.Item) bool { return r.candidates.pool[x.Index].hit.ID == out.DocumentID })
	from, to := r.query.Offset, r.query.Offset+r.query.Limit
	switch {
	case rank >= 0 && rank < from:
		out.Stage, out.Detail = Limit, fmt.Sprintf("it has rank %d, on an earlier page", rank+1)
		return true
	case rank >= to:
		out.Stage, out.Detail = Limit, fmt.Sprintf("it has rank %d, behind this page", rank+1)
		return true
	case rank >= 0:
		out.Stage, out.Detail = NotFound, "it was deleted while the query ran"
		return true
	}
	for i := len(r.steps) - 1; i >= 0; i-- {
		s := &r.steps[i]
		for _, x := range s.In {
			reason, gone := s.Removed[x.Index]
			if !gone || r.candidates.pool[x.Index].hit.ID != out.DocumentID {
				continue
			}
			switch reason {
			case rerank.Null:
				out.Stage, out.Detail = Cutoff, s.Name+" gave it no score"
			case rerank.Behind:
				out.Stage, out.Detail = Cutoff, "only a heading of it was left; headings stand behind all passages, and the reranker removed some of those"
			case rerank.Cutoff:
				out.Stage, out.Detail = Cutoff, s.Name+" scored it below its cutoff"
			default:
				out.Stage, out.Detail = Limit, "it stood behind the limit of "+s.Name
			}
			return true
		}
	}
	return false
}

// missedBySearch returns why no part of a document is among the candidates, for the corpus in which it got furthest.
func (r *ranking) missedBySearch(ctx context.Context, id string) (Stage, string, error) {
	stage, detail := NotFound, "no corpus of the query has such a document"
	if strings.ContainsRune(id, 0) { // no document has such an id, and not every database accepts it
		return stage, detail, nil
	}
	for i := range r.candidates.sources {
		s, d, err := r.missedIn(ctx, i, id)
		if err != nil {
			return "", "", err
		}
		if slices.Index(stages, s) > slices.Index(stages, stage) {
			stage, detail = s, d
		}
	}
	return stage, detail, nil
}

// missedIn returns why no part of a document of source i is among the candidates.
func (r *ranking) missedIn(ctx context.Context, i int, id string) (Stage, string, error) {
	src, asked := &r.candidates.sources[i], r.query.Sources[i]
	_, err := r.candidates.s.passages.Get(ctx, src.corpus.No, id, false)
	if f, ok := fault.As(err); ok && f.Kind == fault.KindNotFound {
		return NotFound, "", nil
	}
	if err != nil {
		return "", "", err
	}
	alone := "doc.id = '" + strings.ReplaceAll(id, "'", "''") + "'"
	within := alone
	if asked.Filter != "" {
		within = "(" + asked.Filter + ") AND " + alone
	}
	for _, probe := range []struct {
		filter   string
		exclude  bool
		headings search.Headings
		stage    Stage
		detail   string
	}{
		{alone, false, search.WithHeadings, Candidates, "it has no part that can be searched"},
		{within, false, search.WithHeadings, Filter, "no part of it passes the filter"},
		{within, true, search.WithHeadings, Filter, "the query excludes a word of it, or requires a phrase that it lacks"},
		{within, true, src.side(false), Candidates, "only headings of it pass the filter, and headings stand behind all passages"},
	} {
		ok, err := r.passes(ctx, i, probe.filter, probe.exclude, probe.headings)
		if err != nil {
			return "", "", err
		}
		if !ok {
			return probe.stage, probe.detail, nil
		}
	}
	return Candidates, fmt.Sprintf("it is not among the best %d", max(len(r.candidates.pool), rerank.FirstBand)), nil
}

// passes reports whether any part of source i passes a filter and, with exclude, the words that the query requires and
// excludes.
func (r *ranking) passes(ctx context.Context, i int, condition string, exclude bool, headings search.Headings) (bool, error) {
	src := &r.candidates.sources[i]
	if _, err := filter.Parse(condition, src.schema, filter.Both); err != nil {
		return false, err
	}
	q := src.search
	q.Filter, q.K, q.Exact, q.Dimensions, q.Headings = condition, 1, true, nil, headings
	if !exclude {
		q.Exclude, q.ExcludePrefixes, q.ExcludePhrases, q.PhrasesRequired = nil, nil, nil, false
	}
	if !q.HasVector() { // any direction will do: with a dense side, every part that passes is a candidate
		encoder, err := r.candidates.s.encoders.Get(src.corpus.EncoderName)
		if err != nil {
			return false, fmt.Errorf("encoder of %s: %w", src.corpus.Key, err)
		}
		q.Vector = make([]float32, encoder.Dim())
		q.Vector[0] = 1
	}
	found, err := r.candidates.s.engine.Search(ctx, src.corpus, q)
	return len(found.Hits) > 0, err
}
