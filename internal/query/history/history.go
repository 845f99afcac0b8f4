// Package history keeps records of queries and of each step of answering them for a retention time. Package query writes
// them; clients read them by list and by id.
package history

import (
	"context"
	"encoding/json"
	"time"

	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/query/retrieve"
)

// Summary is the part of a record that lists show.
type Summary struct {
	ID          id.Query
	Text        string // the question
	Corpora     []Corpus
	Started     time.Time     // microseconds, UTC
	Latency     time.Duration // microseconds; until the answer was computed
	ChatID      string        // "" when the query belongs to no chat; the next two likewise
	AgentKey    string
	SessionKey  string
	Generation  *string  // generated text, nil without generation
	Consistency *float64 // factual consistency score of the generated text
	Evidence    *float64 // how likely its first quotation is to answer; nil unless it quotes
}

// Corpus is a corpus that a query searched, with the key that it had then.
type Corpus struct {
	No  int64
	Key string
}

// Record is everything that is kept of one query.
type Record struct {
	Summary
	Request json.RawMessage // the request in the shape over several corpora
	Spans   []Span          // in the order in which the steps ran
}

// Type is the kind of step that a span describes, in the contract's words.
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

// Span is one step of a query. The fields after Latency belong to the types named beside them.
type Span struct {
	Type    Type
	Started time.Time
	Latency time.Duration

	Rephrased  string              // Rephrase
	CorpusKey  string              // Rewriting
	Warnings   []string            // Rewriting, see package rewrite
	Extracted  *Extraction         // Rewriting; nil when nothing was extracted
	Results    []retrieve.Result   // Search: the candidates before reranking
	Reranked   []retrieve.Reranked // Rerank: the output of the stage, best first
	Prompt     string              // Generation
	Generation string              // Generation
	Score      float64             // Consistent
	Evidence   *float64            // Generation: that of the summary
}

// Extraction is the outcome of rewriting a query.
type Extraction struct{ Query, Filter string }

// List selects records, newest first, and by descending id within one moment. An empty condition holds for every record;
// all others must hold.
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

// Reader is what a caller may see: every record, or those whose corpora all still exist under one of Keys. A later corpus
// with the same key does not count.
type Reader struct {
	All  bool
	Keys []string
}

// Store keeps records.
type Store interface {
	Records
	// Save writes r; it is durable and listed when Save returns.
	Save(ctx context.Context, r Record) error
	// Expire removes up to limit records that started before a time, the oldest first, and returns their number.
	Expire(ctx context.Context, before time.Time, limit int) (removed int, err error)
}

// Records reads what is kept.
type Records interface {
	// Get returns a record that the reader may see, otherwise fault.KindNotFound "query_not_found".
	Get(ctx context.Context, queryID string, reader Reader) (Record, error)
	// List returns up to l.Limit records, newest first, and whether more follow.
	List(ctx context.Context, l List) (page []Summary, more bool, err error)
}
