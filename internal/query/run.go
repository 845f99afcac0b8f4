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

// Run answers a query. emit, which may be nil, gets each piece as soon as it is known, and an error of it ends the query;
// what fails before the first piece has no answer. What fails after it leaves an answer that holds what there was by
// then, and a record: when Run returns, the history has the query, also when ctx has ended meanwhile.
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

// run is a query on its way.
type run struct {
	*Service
	ask     Ask
	started time.Time
	found   retrieve.Answer
	draft   *generate.Draft // nil without generation
	answer  Answer
}

// search finds the results and makes the prompt. A model that is over its bounds or does not exist is refused first.
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

// generate asks the model.
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

// passages returns results as a prompt shows them.
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
