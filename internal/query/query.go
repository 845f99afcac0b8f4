// Package query answers questions from corpora: search, prompt, language model, citations, score and history in one call.
// The query operations use it, and so does everything else that queries corpora. The steps themselves are in packages
// retrieve, answer/generate and history; run.go has their order.
package query

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/corpus"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/query/history"
	"quarry/internal/query/rephrase"
	"quarry/internal/query/rerank"
	"quarry/internal/query/retrieve"
	"quarry/internal/query/rewrite"
)

// MaxOffset bounds how deep paging goes: everything before a page is ranked for every page.
const MaxOffset = 100_000

// Ask is a query. Faults name its fields as the contract names those of a query over several corpora, such as
// "search.corpora[0].metadata_filter" and "generation.prompt_template"; see fault.Under.
type Ask struct {
	Search     retrieve.Query
	Generation *generate.Request // nil = results alone
	Rewriting  bool              // look for filters in the words of the query, see package rewrite
	Request    json.RawMessage   // a QueryRequest of the contract, for the history; nil = one with query and corpora alone
	// Label, if not nil, gets the record of the query before the history does, also where the query has failed, and may say
	// what it belongs to; false keeps it out of the history.
	Label  func(*history.Record) bool
	Places Places // nil where nothing bounds how many queries run at once
}

// Places is what a query that waits for a model outside this process gives up, since it uses no processor meanwhile, so
// that a server can admit another query. httpapi.Call implements it. An error ends the query.
type Places interface {
	// Await is called when nothing but waiting is left to do.
	Await(ctx context.Context) error
	// Outside runs f, which waits, and returns when the query may use the processor again. An error of f is returned.
	Outside(ctx context.Context, f func(context.Context) error) error
}

// Check adds to f what can be found wrong with a without running it. Run does so too; a caller that checks permissions
// before Run can call Check before that.
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

// Check adds to f what can be found wrong with a here without running it: what Ask.Check finds, and too many corpora.
func (s *Service) Check(a *Ask, f *fault.Fault) {
	a.Check(f)
	if n, most := len(a.Search.Sources), s.cfg.MaxCorpora; most > 0 && n > most {
		f.Field("search.corpora", "has %d entries, more than the %d of the setting max_query_corpora of this service: ask in several queries", n, most)
	}
}

// CheckAhead adds to f what can be found wrong with a query that will be run later: what Check finds, and filters, rerankers and
// templates that don't compile. Corpora, presets and models may be others by then.
func (s *Service) CheckAhead(a *Ask, f *fault.Fault) {
	s.Check(a, f)
	add := func(err error, place string) { f.Gather(fault.Under(err, place)) }
	for i, src := range a.Search.Sources {
		add(filter.CheckSyntax(src.Filter), fmt.Sprintf("search.corpora[%d]", i))
	}
	_, err := rerank.Check(a.Search.Reranker)
	add(err, "search.reranker")
	if g := a.Generation; g != nil && g.Template != "" {
		_, err := generate.CompilePrompt(g.Template)
		add(llm.Named(err, "prompt_template"), "generation")
	}
}

// Answer is the result of a query.
type Answer struct {
	Results   []retrieve.Result
	Corpora   []corpus.Corpus  // that were searched, by position in Search.Sources
	Rephrased string           // the text that was searched, where the question has earlier exchanges
	Absent    *retrieve.Absent // nil unless asked for, and when the document is among the results
	Plan      []retrieve.Step  // how the indexes were searched; nil unless asked for
	Rewritten []Rewritten      // by position in Search.Sources; nil unless asked for
	Generated *generate.Answer // nil unless asked for
	Warnings  []string         // what could not be done as asked
}

// WarningRewriting is the warning of the contract that the query of a corpus could not be rewritten.
const WarningRewriting = "intelligent_query_rewriting_failed"

// Rewritten is what rewriting made of the query for one corpus.
type Rewritten struct {
	CorpusKey string
	rewrite.Outcome
}

// Event reports progress. The first event has Found: the answer without anything generated. The later ones are those of
// the generated answer.
type Event struct {
	Found *Answer
	generate.Event
}

// Searcher finds passages; retrieve.Service is one.
type Searcher interface {
	Run(ctx context.Context, q retrieve.Query) (retrieve.Answer, error)
	// Check returns the corpora of a query that Run would not refuse, by position in its sources.
	Check(ctx context.Context, q retrieve.Query) ([]corpus.Corpus, error)
}

// Rewriter moves words of queries into filters; rewrite.Service is one.
type Rewriter interface {
	Run(ctx context.Context, model string, all []rewrite.Query) ([]rewrite.Outcome, error)
}

// Rephraser rephrases questions of conversations so that they stand by themselves; rephrase.Service is one.
type Rephraser interface {
	Question(ctx context.Context, r rephrase.Request) (string, error)
}

// Planner plans generated answers; generate.Service is one.
type Planner interface {
	Plan(ctx context.Context, r generate.Request) (*generate.Plan, error)
}

// History keeps records; history.Service is one.
type History interface {
	Save(ctx context.Context, r history.Record)
}

// Observer hears of each query that was answered, kept in the history or not, with the keys of its corpora and the latency that
// the history shows. It must not wait.
type Observer interface {
	Searched(corpora []string, took time.Duration)
}

// Config is what a Service needs.
type Config struct {
	Searcher  Searcher
	Rephraser Rephraser
	Rewriter  Rewriter
	Planner   Planner
	History   History
	Models    llm.Models
	Observer  Observer // nil for nobody
	// MaxCorpora bounds the sources of a query; 0 is no bound.
	MaxCorpora int
}

// Service answers queries. Safe for concurrent use.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg} }
