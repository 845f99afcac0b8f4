// Package retrieve answers queries: it plans the search of each corpus, fuses the lexical and the dense score,
// reranks, pages, and widens each result with the text around it. It finds candidates through a Searcher and reads
// their text through document.Store; it commits nothing.
package retrieve

import (
	"context"
	"encoding/json"

	"quarry/internal/corpus"
	"quarry/internal/document"
	"quarry/internal/embed"
	"quarry/internal/index"
	"quarry/internal/rerank"
)

// DefaultLambda is the lexical share when a query does not say (contract: queries.md section 2).
const DefaultLambda = 0.025

// MaxLimit is the largest page of results.
const MaxLimit = 1000

// Query is a question over one or more sources.
type Query struct {
	Text            string
	Sources         []Source
	Limit, Offset   int
	Reranker        rerank.Spec
	RerankerPath    string // where the reranker stands in the body, for faults
	Context         Context
	BestPerDocument bool // max_by doc.id
}

// Source is one corpus of a query with its own settings.
type Source struct {
	Corpus     string
	Text       string // overrides Query.Text for this corpus when not empty
	Filter     string
	Lambda     float64
	Dimensions map[string]float64 // custom dimension → weight; absent ones take the corpus's querying default
	Response   bool               // semantics "response": the query is a statement, not a question
	Question   bool               // semantics "query", whatever the corpus says
	Path       string             // where its settings stand in the body, such as "body.search.corpora[0]"
}

// Result is one ranked passage.
type Result struct {
	Text             string
	Score            float64
	DocumentID       string
	CorpusKey        string
	Source           int // position in Query.Sources
	DocumentMetadata json.RawMessage
	PartMetadata     json.RawMessage
	Table            *document.Table
	Image            *document.Image
}

// Searcher finds candidates in one corpus: our own index, or an engine behind the same contract.
type Searcher interface {
	// Search gives the union of the best q.K parts by cosine and the best q.K by BM25 among those that pass, each
	// scored on both sides, from a state that includes change c.Seq. Ties are broken by document id and part order.
	Search(ctx context.Context, c corpus.Corpus, q index.Query) ([]index.Hit, error)
}

// Corpora reads corpora by key, in the order asked.
type Corpora interface {
	Get(ctx context.Context, keys ...string) ([]corpus.Corpus, error)
}

// Passages reads the text around parts.
type Passages interface {
	Passages(ctx context.Context, corpusNo int64, refs []document.Ref, w document.Window) ([]document.Passage, error)
}

// Service answers queries. Safe for concurrent use.
type Service struct {
	corpora  Corpora
	searcher Searcher
	passages Passages
	encoders *embed.Registry
}

// New gives a service.
func New(c Corpora, s Searcher, p Passages, e *embed.Registry) *Service { return &Service{c, s, p, e} }

// Run answers q. Faults: a corpus that does not exist, a filter that does not compile, a setting out of bounds.
func (s *Service) Run(ctx context.Context, q Query) ([]Result, error) {
	ranked, sources, err := s.rank(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.present(ctx, q, ranked, sources)
}

// Ranked is one result of Rank: which part, and its score.
type Ranked struct {
	DocumentID string
	Ord        int
	Score      float64
}

// Rank answers q without reading any text: what measurements of ranking need. It is the first half of Run.
func (s *Service) Rank(ctx context.Context, q Query) ([]Ranked, error) {
	ranked, _, err := s.rank(ctx, q)
	out := make([]Ranked, len(ranked))
	for i, r := range ranked {
		out[i] = Ranked{r.hit.ID, r.hit.Ord, r.score}
	}
	return out, err
}

// rank gives the page of results that q asks for, in final order.
func (s *Service) rank(ctx context.Context, q Query) ([]candidate, []source, error) {
	stage, err := rerank.Check(q.Reranker, q.RerankerPath)
	if err != nil {
		return nil, nil, err
	}
	sources, err := s.plan(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	need := q.Offset + q.Limit
	if !stage.None && !sameScale(sources) {
		need = poolSize(need)
	}
	pool, err := s.retrieve(ctx, q, sources, need)
	if err != nil {
		return nil, nil, err
	}
	items := make([]rerank.Item, len(pool))
	for i, c := range pool {
		items[i] = rerank.Item{Index: i, Score: c.score, Unit: c.unit}
	}
	items = stage.Apply(items)
	items = items[min(q.Offset, len(items)):]
	items = items[:min(q.Limit, len(items))]
	out := make([]candidate, len(items))
	for i, x := range items {
		out[i] = pool[x.Index]
		out[i].score = x.Score
	}
	return out, sources, nil
}

// sameScale reports whether the default reranker keeps the order of retrieval: one λ, so one scale of scores.
func sameScale(sources []source) bool {
	for _, s := range sources {
		if s.lambda != sources[0].lambda {
			return false
		}
	}
	return true
}

// poolSize is how many candidates reach the reranker: wide steps, so that the pool does not grow with each page and
// reorder the earlier ones (contract: queries.md section 6).
func poolSize(need int) int {
	size := 100
	for size < need {
		size *= 10
	}
	return size
}
