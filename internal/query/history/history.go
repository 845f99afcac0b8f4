// Package history keeps what queries asked and what each step of answering them gave, for as long as the retention
// says. It is written by the query operations after an answer is computed, and read back by list and by id. It runs
// no query; package retrieve does.
package history

import (
	"context"
	"encoding/json"
	"time"

	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/query/retrieve"
)

// Summary is what a list shows of a record.
type Summary struct {
	ID          id.Query
	Text        string // the question
	Corpora     []Corpus
	Started     time.Time     // microseconds, UTC
	Latency     time.Duration // microseconds; until the answer was computed
	ChatID      string        // "" when the query belongs to no chat; so with the next two
	AgentKey    string
	SessionKey  string
	Generation  *string  // generated text, nil without generation
	Consistency *float64 // factual consistency score of the generated text
}

// Corpus is a corpus that a query searched, under the key it had then.
type Corpus struct {
	No  int64
	Key string
}

// Record is one query with everything known of it.
type Record struct {
	Summary
	Request json.RawMessage // the request in the shape over several corpora
	Spans   []Span          // in the order in which the steps ran
}

// Type says what step a span tells of; its texts are the contract's.
type Type string

// The steps of a query.
const (
	Rephrase   Type = "rephrase"
	Rewriting  Type = "rewritten_query"
	Search     Type = "search"
	Rerank     Type = "rerank"
	Generation Type = "generation"
	Consistent Type = "fcs"
)

// Span is one step of a query. Members after Latency belong to the types named beside them.
type Span struct {
	Type    Type
	Started time.Time
	Latency time.Duration

	Rephrased  string            // Rephrase
	CorpusKey  string            // Rewriting
	Warnings   []string          // Rewriting
	Extracted  *Extraction       // Rewriting; nil when nothing was extracted
	Results    []retrieve.Result // Search: the candidates before reranking
	Reranked   []Reranked        // Rerank: what the stage gave on, best first
	Prompt     string            // Generation
	Generation string            // Generation
	Score      float64           // Consistent
}

// Extraction is what a rewriting made of a query.
type Extraction struct{ Query, Filter string }

// Reranked is one result behind a stage.
type Reranked struct {
	Text            string
	Score, Original float64 // behind the stage and before it
}

// List says which records to list, newest first, those of one moment by id, the greatest first. Conditions that are
// empty hold for every record; the others must all hold.
type List struct {
	Limit         int
	After         *page.Position // the last one shown, nil for the first page
	Corpus        string         // key of any corpus searched
	ID            string
	Chat          string
	StartedAfter  time.Time
	StartedBefore time.Time
	Reader        Reader
}

// Reader says what a caller may see: every record, or those whose corpora all still exist under one of Keys. A later
// corpus of the same key opens nothing.
type Reader struct {
	All  bool
	Keys []string
}

// Store keeps records.
type Store interface {
	// Save writes r; it is durable and listed when Save returns.
	Save(ctx context.Context, r Record) error
	// Get gives the record that the reader may see; fault.KindNotFound "query_not_found" otherwise.
	Get(ctx context.Context, queryID string, reader Reader) (Record, error)
	// List gives up to l.Limit records and whether more follow.
	List(ctx context.Context, l List) (page []Summary, more bool, err error)
	// Expire removes at most limit records that started before a moment, the oldest first, and says how many went.
	Expire(ctx context.Context, before time.Time, limit int) (removed int, err error)
}
