package query

import (
	"context"
	"errors"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/query/retrieve"
)

// Run answers a query. It calls emit, if not nil, with each event; an error from emit ends the query. On an error before
// the first event the answer is zero; on a later one it holds what is known so far. When Run returns, a query that got to
// its first event is in the history if it belongs there, even if ctx has ended.
func (s *Service) Run(ctx context.Context, ask Ask, emit func(Event) error) (Answer, error) {
	f := fault.Invalid()
	if ask.Check(f); len(f.Fields) > 0 {
		return Answer{}, f
	}
	if emit == nil {
		emit = func(Event) error { return nil }
	}
	r := &run{Service: s, ask: ask}
	if err := r.search(ctx); err != nil {
		return Answer{}, err
	}
	err := emit(Event{Found: new(r.answer)})
	if err == nil && r.draft != nil {
		err = r.generate(ctx, emit)
	}
	r.save(ctx)
	return r.answer, err
}

// run is one query in progress.
type run struct {
	*Service
	ask     Ask
	started time.Time
	found   retrieve.Answer
	draft   *generate.Draft // nil without generation
	answer  Answer
}

// search finds the results and renders the prompt. What is wrong with the generation is found before the search.
func (r *run) search(ctx context.Context) error {
	var plan *generate.Plan
	var err error
	if r.ask.Generation != nil {
		if plan, err = r.planner.Plan(ctx, *r.ask.Generation); err != nil {
			return fault.Under(err, "generation")
		}
		r.ask.Search.Vectors = plan.Vectors()
	}
	r.started = time.Now()
	if r.found, err = r.searcher.Run(ctx, r.ask.Search); err != nil {
		return fault.Under(err, "search")
	}
	r.answer = Answer{Results: r.found.Results, Absent: r.found.Absent}
	if r.ask.Rewriting {
		r.answer.Warnings = []string{"intelligent_query_rewriting_failed"}
		for _, s := range r.ask.Search.Sources {
			r.answer.Rewritten = append(r.answer.Rewritten, s.Corpus)
		}
	}
	if plan == nil {
		return nil
	}
	if r.draft, err = plan.Draft(passages(r.found.Results)); err != nil {
		return fault.Under(err, "generation")
	}
	if plan.Remote() && r.ask.Await != nil {
		return r.ask.Await(ctx)
	}
	return nil
}

// generate runs the model.
func (r *run) generate(ctx context.Context, emit func(Event) error) error {
	generated, err := r.draft.Run(ctx, func(e generate.Event) error { return emit(Event{Event: e}) })
	r.answer.Generated = &generated
	r.answer.Warnings = append(r.answer.Warnings, generated.Warnings...)
	var failure *llm.Error
	if errors.As(err, &failure) {
		return failure.Fault()
	}
	return fault.Under(err, "generation")
}

// passages returns results in the form that prompts take.
func passages(all []retrieve.Result) []generate.Passage {
	out := make([]generate.Passage, len(all))
	for i, r := range all {
		out[i] = generate.Passage{
			Text: r.Text, Score: r.Score, DocumentID: r.DocumentID, Title: r.Title,
			DocumentMetadata: r.DocumentMetadata, PartMetadata: r.PartMetadata, Table: r.Table, Vector: r.Vector,
		}
	}
	return out
}
