// Package retrieve answers queries: it plans the search of each corpus, fuses the lexical and the dense score,
// reranks, pages, and widens each result with the text around it. It finds candidates through an Engine and reads
// their text through document.Store; it commits nothing.
package retrieve

import (
	"context"
	"encoding/json"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/opt"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// MaxLimit is the largest page of results.
const MaxLimit = 1000

// Query is a question over one or more sources.
type Query struct {
	Text            string
	Sources         []Source
	Limit, Offset   int
	Reranker        rerank.Spec
	Context         Context
	BestPerDocument bool            // max_by doc.id
	Save            opt.Field[bool] // whether the query belongs in the history; absent leaves it to the corpora
	Explain         bool            // return the parts of each score
	Exact           bool            // rank by full scans alone, also where lists would do
	Vectors         bool            // return the vector of each result's part
	Around          bool            // return the sentences on either side of each result
	Absent          string          // with Explain: a document to look for; if it is not among the results, return the step that removed it
}

// Source is one corpus of a query with its own settings.
type Source struct {
	Corpus     string
	Text       string // replaces Query.Text for this corpus if not empty
	Filter     string
	Lambda     opt.Field[float64] // the lexical share; absent takes the default of the corpus
	Dimensions map[string]float64 // custom dimension → weight; absent ones take the corpus's querying default
	Response   bool               // semantics "response": the query is a statement, not a question
	Question   bool               // semantics "query", whatever the setting of the corpus
}

// Result is one ranked passage.
type Result struct {
	Text             string
	Plain            string // Text without the marks of Query.Context; not in the history
	Before, After    string // the sentences on either side of Text in its section; "" unless asked for
	Score            float64
	DocumentID       string
	Title            string // of the document; "" if it has none
	CorpusKey        string
	Source           int // position in Query.Sources
	DocumentMetadata json.RawMessage
	PartMetadata     json.RawMessage
	Table            *document.Table
	Image            *document.Image
	Explanation      []rerank.Part // summing to Score; nil unless asked for
	Vector           []float32     // of the part, by the default encoder, of unit length; nil unless asked for, or of another one
}

// Answer is the result of a query.
type Answer struct {
	Results []Result
	Latency time.Duration   // until the results were there
	Corpora []corpus.Corpus // by position in Query.Sources, as they were when the query was planned
	Save    bool            // whether the query belongs in the history; if so, Trace is set
	Trace   []Span          // the steps in the order in which they ran; nil unless Save
	Absent  *Absent         // nil unless asked for, and when the document is among the results
	Plan    []Step          // with Explain: how the indexes were searched
}

// Span is one step of a query, for its history.
type Span struct {
	Type     string // "search" or "rerank"
	Started  time.Time
	Latency  time.Duration
	Results  []Result   // of search: the input of the first stage, best first
	Reranked []Reranked // of rerank: the output of the stage, best first
}

// Reranked is a result as a stage left it.
type Reranked struct {
	Text            string
	Score, Original float64 // after and before the stage
}

// traceDepth is how many results a Span shows at most, unless the answer itself has more.
const traceDepth = 100

// Engine finds candidates in one corpus. corpus/replica is the one over our own index.
type Engine interface {
	// Search returns the union of the best q.K parts on each side of q (cosine, BM25 above 0, custom dimensions with a
	// weight) among those that pass the filter and that q.Headings asks for, each scored on all sides, from a state that
	// includes change c.Seq. Without a dense side, only parts with a BM25 score are found. Ties are broken by document id
	// and part order. A side that is not exact says so, and bounds what it looked at.
	Search(ctx context.Context, c corpus.Corpus, q search.Query) (search.Found, error)
	// Languages returns the languages of the parts of a corpus, the most frequent first, from such a state.
	Languages(ctx context.Context, c corpus.Corpus) ([]lang.Count, error)
	// Vectors returns the vector of each part, of unit length; nil for a part that was deleted or has none.
	Vectors(ctx context.Context, c corpus.Corpus, parts []search.Hit) ([][]float32, error)
}

// Passages reads documents and the text around parts.
type Passages interface {
	Passages(ctx context.Context, corpusNo int64, refs []document.Ref, w document.Window) ([]document.Passage, error)
	// Get reads a document, here without parts. fault.KindNotFound if there is none.
	Get(ctx context.Context, corpusNo int64, docID string, parts bool) (*document.Document, error)
}

// Service answers queries. Safe for concurrent use.
type Service struct {
	corpora  corpus.Reader
	engine   Engine
	passages Passages
	encoders *embed.Registry
}

// New returns a service.
func New(c corpus.Reader, s Engine, p Passages, e *embed.Registry) *Service {
	return &Service{c, s, p, e}
}
