// Package rerank rescores and reorders the results of a query, stage by stage: the default reranker, diversity (mmr),
// user functions, and chains of these. It reads neither rows nor an index; stages get what they need through Candidates,
// which package retrieve implements.
package rerank

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Item is one result in the pipeline. Index identifies it to the caller and to Candidates.
type Item struct {
	Index int
	Score float64
}

// Signals are the scores of a result before reranking.
type Signals struct {
	Lambda float64 // lexical share of its source
	Cosine float64 // 0 when nothing dense was asked
	BM25   float64 // 0 when nothing lexical was asked or matches
	Full   float64 // BM25 of a part of mean length that has every term once; the highest of the corpora with this Lambda
	Score  float64 // of retrieval, with custom dimensions
}

// Passage is the text and metadata of a result.
type Passage struct {
	Text             string // as shown: with context and tags
	Part             string // the part alone
	DocumentID       string
	DocumentMetadata json.RawMessage
	PartMetadata     json.RawMessage
}

// Vector is the embedding of a part, of unit length. Vectors of one Space are comparable. A part without one has no Values.
type Vector struct {
	Space  string
	Values []float32
}

// Candidates provides data about results by index, in the order of the indexes. Not safe for concurrent use.
type Candidates interface {
	Signals(index int) Signals
	// Passages reads texts and metadata. The Passage of a deleted document has no DocumentID.
	Passages(ctx context.Context, indexes []int) ([]Passage, error)
	Vectors(ctx context.Context, indexes []int) ([]Vector, error)
}

// Part is one summand of a score.
type Part struct {
	Name  string
	Value float64
}

// score is the outcome of a stage for one result. Null removes it. The parts explain the change of the score and sum to it;
// without parts, the whole change stands under the stage's own name.
type score struct {
	value float64
	null  bool
	parts []Part
}

// input is what a stage scores.
type input struct {
	items      []Item // as the stage before left them: best first
	candidates Candidates
	now        time.Time // fixed once per query
	limit      int       // results that will be kept at most; 0 = all
}

// scorer is the part of a stage that differs between the types. It returns one score per item.
type scorer interface {
	score(ctx context.Context, in input) ([]score, error)
}

// Stage is one checked leaf of a reranker.
type Stage struct {
	Type   string // as in the contract
	limit  int    // 0 = all
	cutoff *float64
	scorer scorer // nil = scores stay
}

// Pipeline is a checked reranker: its leaves in the order in which they run.
type Pipeline struct{ Stages []Stage }

// KeepsOrder reports whether results of one source keep their order.
func (p Pipeline) KeepsOrder() bool {
	return !slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.scorer != nil && s.scorer != (customer{}) })
}

// KeepsScores reports whether no stage rescores.
func (p Pipeline) KeepsScores() bool {
	return !slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.scorer != nil })
}

// Step records what one stage did.
type Step struct {
	Name    string // position and type, such as "reranker[1].mmr"
	Type    string
	Started time.Time
	Latency time.Duration
	In, Out []Item
	Removed map[int]Reason // by Item.Index
	Parts   map[int][]Part // why the scores of Out changed; by Item.Index
}

// Reason is why a stage removed a result.
type Reason string

// The reasons.
const (
	Null   Reason = "null"
	Cutoff Reason = "cutoff"
	Limit  Reason = "limit"
)

// Run passes items, best first, through the stages. With record it also returns what each of them did.
func (p Pipeline) Run(ctx context.Context, items []Item, m Candidates, record bool) (out []Item, steps []Step, err error) {
	now := time.Now()
	for i, s := range p.Stages {
		step := Step{Name: fmt.Sprintf("reranker[%d].%s", i, s.Type), Type: s.Type, Started: time.Now()}
		if record {
			step.In, step.Removed, step.Parts = items, map[int]Reason{}, map[int][]Part{}
		}
		items, err = s.run(ctx, input{items, m, now, s.limit}, &step)
		if err != nil {
			return nil, nil, fmt.Errorf("run %s: %w", step.Name, err)
		}
		if record {
			step.Out, step.Latency = items, time.Since(step.Started)
			steps = append(steps, step)
		}
	}
	return items, steps, nil
}

// run does what every stage does (contract: rerankers.md section 2): score, drop null, cut off, sort by the new score
// with ties in their old order, keep the first.
func (s Stage) run(ctx context.Context, in input, step *Step) ([]Item, error) {
	scores := make([]score, len(in.items))
	for i, x := range in.items {
		scores[i].value = x.Score
	}
	if s.scorer != nil && len(in.items) > 0 {
		var err error
		if scores, err = s.scorer.score(ctx, in); err != nil {
			return nil, err
		}
	}
	out := make([]Item, 0, len(in.items))
	for i, x := range in.items {
		switch got := scores[i]; {
		case got.null:
			step.remove(x, Null)
		case s.cutoff != nil && got.value < *s.cutoff:
			step.remove(x, Cutoff)
		default:
			out = append(out, Item{x.Index, got.value})
			step.explain(x, got)
		}
	}
	slices.SortStableFunc(out, func(a, b Item) int { return cmp.Compare(b.Score, a.Score) })
	if s.limit > 0 && len(out) > s.limit {
		for _, x := range out[s.limit:] {
			step.remove(x, Limit)
		}
		out = out[:s.limit]
	}
	return out, nil
}

func (s *Step) remove(x Item, why Reason) {
	if s.Removed != nil {
		s.Removed[x.Index] = why
	}
}

func (s *Step) explain(x Item, got score) {
	switch {
	case s.Parts == nil:
	case got.parts != nil:
		for _, p := range got.parts {
			s.Parts[x.Index] = append(s.Parts[x.Index], Part{s.Name + "." + p.Name, p.Value})
		}
	case got.value != x.Score:
		s.Parts[x.Index] = []Part{{s.Name, got.value - x.Score}}
	}
}

// customer is the default reranker of an installation without a cross-encoder. It reads no text, so include_context and
// instructions have no effect.
type customer struct{}

func (customer) score(_ context.Context, in input) ([]score, error) {
	out := make([]score, len(in.items))
	for i, x := range in.items {
		out[i].value = Calibrated(in.candidates.Signals(x.Index))
	}
	return out, nil
}
