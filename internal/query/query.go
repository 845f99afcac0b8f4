// Package query answers questions from corpora: search, prompt, language model, citations, score and history are one
// call. It is the use case of the query operations, and of everything else that asks corpora. The steps themselves are
// in packages retrieve, answer/generate and history.
package query

import (
	"context"
	"encoding/json"
	"strings"

	"quarry/internal/answer/generate"
	"quarry/internal/fault"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
)

// MaxOffset bounds how deep paging goes: everything before a page is ranked for every page.
const MaxOffset = 100_000

// Ask is a query. Faults name its fields as the contract names those of a query over several corpora, such as
// "search.corpora[0].metadata_filter" and "generation.prompt_template"; see fault.Under.
type Ask struct {
	Search     retrieve.Query
	Generation *generate.Request // nil = results alone
	Rewriting  bool              // asks for a rewritten query. That is not built: the query runs as it is, with a warning
	Request    json.RawMessage   // shown in the history: a QueryRequest of the contract; nil = query and corpora alone
	// Await is called when the query has nothing to do but to wait for a model outside this process; its error ends the
	// query. A server lets other queries in from then on. nil = not needed
	Await func(ctx context.Context) error
}

// Check adds to f what is wrong with an ask in itself. Run checks, too; callers that judge rights in between check first.
func (a *Ask) Check(f *fault.Fault) {
	if strings.TrimSpace(a.Search.Text) == "" {
		f.Field("query", "must not be blank")
	}
	if a.Search.Limit < 1 || a.Search.Limit > retrieve.MaxLimit {
		f.Field("search.limit", "must be between 1 and %d", retrieve.MaxLimit)
	}
	if a.Search.Offset < 0 || a.Search.Offset > MaxOffset {
		f.Field("search.offset", "must be between 0 and %d", MaxOffset)
	}
}

// Answer is the result of a query.
type Answer struct {
	Results   []retrieve.Result
	Absent    *retrieve.Absent // nil unless asked for, and when the document is among the results
	Rewritten []string         // keys of the corpora whose query was to be rewritten
	Generated *generate.Answer // nil unless asked for
	Warnings  []string         // what could not be done as asked
}

// Event is a piece of an answer as soon as it is known. The first has Found: the answer without what is generated. Those
// after it are of the generated answer.
type Event struct {
	Found *Answer
	generate.Event
}

// Searcher finds passages; retrieve.Service is one.
type Searcher interface {
	Run(ctx context.Context, q retrieve.Query) (retrieve.Answer, error)
}

// Planner plans generated answers; generate.Service is one.
type Planner interface {
	Plan(ctx context.Context, r generate.Request) (*generate.Plan, error)
}

// History keeps records; history.Service is one.
type History interface {
	Save(ctx context.Context, r history.Record)
}

// Service answers queries. Safe for concurrent use.
type Service struct {
	searcher Searcher
	planner  Planner
	history  History
}

// New returns a service.
func New(s Searcher, p Planner, h History) *Service { return &Service{s, p, h} }
