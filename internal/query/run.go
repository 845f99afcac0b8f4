package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/query/history"
	"quarry/internal/query/rephrase"
	"quarry/internal/query/retrieve"
	"quarry/internal/query/rewrite"
)

// Run answers a query. It calls emit, if not nil, with each event; an error from emit ends the query. On an error before
// the first event the answer is zero; on a later one it holds what is known so far. When Run returns, a query that got to
// its first event is in the history if it belongs there, even if ctx has ended.
func (s *Service) Run(ctx context.Context, ask Ask, emit func(Event) error) (Answer, error) {
	f := fault.Invalid()
	if s.Check(&ask, f); len(f.Fields) > 0 {
		return Answer{}, f
	}
	if emit == nil {
		emit = func(Event) error { return nil }
	}
	r := &run{Service: s, ask: ask, search: ask.Search}
	for _, step := range []func(context.Context) error{r.admit, r.reword, r.find, r.compose} {
		if err := step(ctx); err != nil {
			return Answer{}, err
		}
	}
	err := emit(Event{Found: new(r.answer)})
	if err == nil && r.draft != nil {
		err = r.generate(ctx, emit)
	}
	r.observe()
	r.save(ctx)
	return r.answer, err
}

// run is one query in progress.
type run struct {
	*Service
	ask     Ask
	plan    *generate.Plan // nil without generation
	search  retrieve.Query // ask.Search until its words are changed
	started time.Time
	found   retrieve.Answer
	ahead   time.Duration   // from started to the search
	draft   *generate.Draft // nil without generation
	answer  Answer

	rephrased history.Span // without a type if nothing was to be rephrased
}

// admit checks the generation and takes its place at the model, before anything is searched for and before the calls of a
// model that reword makes.
func (r *run) admit(ctx context.Context) (err error) {
	if r.ask.Generation == nil {
		return nil
	}
	if r.plan, err = r.cfg.Planner.Plan(ctx, *r.ask.Generation); err != nil {
		return fault.Under(err, "generation")
	}
	r.search.Vectors, r.search.Around = r.plan.Vectors(), r.plan.Vectors()
	return nil
}

// reword changes the words that are searched for: those that were asked stay in the prompt and in the history. Its steps
// ask a model, mostly one outside this process, so they run together outside. What is wrong with the search is found before.
func (r *run) reword(ctx context.Context) error {
	r.started = time.Now()
	follows := r.plan != nil && len(r.plan.Earlier()) > 0
	if !follows && !r.ask.Rewriting {
		return nil
	}
	corpora, err := r.cfg.Searcher.Check(ctx, r.search)
	if err != nil {
		return fault.Under(err, "search")
	}
	return r.outside(ctx, func(ctx context.Context) error {
		if follows {
			if err := r.rephrase(ctx); err != nil {
				return err
			}
		}
		if r.ask.Rewriting {
			return r.rewrite(ctx, corpora)
		}
		return nil
	})
}

// rephrase replaces the question by one that stands by itself.
func (r *run) rephrase(ctx context.Context) (err error) {
	r.rephrased.Started = time.Now().UTC()
	text, err := r.cfg.Rephraser.Question(ctx, rephrase.Request{
		Question: r.search.Text, Earlier: r.plan.Earlier(), Model: r.plan.Model(), Plain: r.plan.Parameters().Temperature == nil,
	})
	if err != nil {
		return err
	}
	r.rephrased = history.Span{
		Type: history.Rephrase, Started: r.rephrased.Started, Latency: time.Since(r.rephrased.Started), Rephrased: text,
	}
	r.search.Text, r.answer.Rephrased = text, text
	r.plan.Restate(text)
	return nil
}

// model returns the name of the model that answers, "" for the default one if there is no answer.
func (r *run) model() string {
	if r.plan == nil {
		return ""
	}
	return r.plan.Model()
}

// outside runs f, which waits for that model.
func (r *run) outside(ctx context.Context, f func(context.Context) error) error {
	m, err := r.cfg.Models.Model(ctx, r.model())
	if err != nil || m.Embedded || r.ask.Places == nil {
		return f(ctx)
	}
	return r.ask.Places.Outside(ctx, f)
}

// rewrite moves words of the query into filters.
func (r *run) rewrite(ctx context.Context, corpora []corpus.Corpus) error {
	queries := make([]rewrite.Query, len(corpora))
	for i, src := range r.search.Sources {
		queries[i] = rewrite.Query{Corpus: corpora[i], Text: cmp.Or(src.Text, r.search.Text), Filter: src.Filter}
	}
	outcomes, err := r.cfg.Rewriter.Run(ctx, r.model(), queries)
	if err != nil {
		return err
	}
	r.search.Sources = slices.Clone(r.search.Sources) // the caller's
	for i, out := range outcomes {
		if out.Warning == "" {
			r.search.Sources[i].Text, r.search.Sources[i].Filter = out.Text, out.Filter
		}
		r.answer.Rewritten = append(r.answer.Rewritten, Rewritten{corpora[i].Key, out})
	}
	return nil
}

// find searches. Where rewriting has changed the search and it is refused now, the attributes have been replaced since they
// were looked at: then it is the caller's own that is refused or not.
func (r *run) find(ctx context.Context) (err error) {
	r.ahead = time.Since(r.started)
	r.found, err = r.cfg.Searcher.Run(ctx, r.search)
	if f, ok := fault.As(err); ok && f.Kind == fault.KindInvalid && r.unrewrite() {
		r.found, err = r.cfg.Searcher.Run(ctx, r.search)
	}
	if err != nil {
		return fault.Under(err, "search")
	}
	r.answer.Results, r.answer.Absent, r.answer.Corpora = r.found.Results, r.found.Absent, r.found.Corpora
	r.answer.Plan = r.found.Plan
	failed := func(x Rewritten) bool { return x.Warning.Failed() }
	if slices.ContainsFunc(r.answer.Rewritten, failed) {
		r.answer.Warnings = append(r.answer.Warnings, WarningRewriting)
	}
	return nil
}

// unrewrite takes back what rewriting has changed, and reports whether there was anything.
func (r *run) unrewrite() (changed bool) {
	r.search.Sources = r.ask.Search.Sources
	for i := range r.answer.Rewritten {
		if x := &r.answer.Rewritten[i]; x.Warning == "" {
			x.Warning, changed = rewrite.Unreadable, true
		}
	}
	return changed
}

// compose renders the prompt.
func (r *run) compose(ctx context.Context) (err error) {
	if r.plan == nil {
		return nil
	}
	if r.draft, err = r.plan.Draft(passages(r.found.Results)); err != nil {
		return fault.Under(err, "generation")
	}
	if r.plan.Remote() && r.ask.Places != nil {
		return r.ask.Places.Await(ctx)
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
			Text: r.Text, Plain: r.Plain, Before: r.Before, After: r.After, Score: r.Score, DocumentID: r.DocumentID, Title: r.Title,
			DocumentMetadata: r.DocumentMetadata, PartMetadata: r.PartMetadata, Table: r.Table, Vector: r.Vector,
		}
	}
	return out
}
