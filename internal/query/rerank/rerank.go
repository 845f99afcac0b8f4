// Package rerank rescores and reorders the results of a query, stage by stage: the default reranker, diversity (mmr),
// user functions, and chains of these. It reads neither rows nor an index; stages get what they need through Candidates,
// which package retrieve implements.
package rerank

import (
	"context"
	"encoding/json"
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
	// Heading is set for the heading of a section that has text. It stands behind all passages, whatever its scores.
	Heading bool
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

// input is one band of what a stage scores.
type input struct {
	items      []Item // as the stage before left them: best first
	candidates Candidates
	now        time.Time // fixed once per query
}

// scorer is the part of a stage that differs between the types.
type scorer interface {
	// start returns the scoring of one query.
	start() scoring
}

// scoring scores the results of one query, band by band.
type scoring interface {
	// score returns one score per item of the next band.
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

// Step records what one stage did, over all bands.
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
	Behind Reason = "behind" // a heading, after a stage removed passages before it
)

// customer is the default reranker of an installation without a cross-encoder. It reads no text, so include_context and
// instructions have no effect.
type customer struct{}

func (c customer) start() scoring { return c }

func (customer) score(_ context.Context, in input) ([]score, error) {
	out := make([]score, len(in.items))
	for i, x := range in.items {
		out[i].value = Calibrated(in.candidates.Signals(x.Index))
	}
	return out, nil
}
