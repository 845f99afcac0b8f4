package queries

import (
	"context"
	"errors"
	"net/http"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/llm"
	"quarry/internal/query/retrieve"
)

// work is one query on its way to an answer.
type work struct {
	area    *Area
	call    *httpapi.Call
	query   retrieve.Query
	asked   *request
	plan    *generate.Plan // nil without generation
	names   fault.Names    // of fields of the generation, as the body has them
	started time.Time

	found     retrieve.Answer
	draft     *generate.Draft  // nil without generation
	generated *generate.Answer // nil before the model was asked
}

// find searches and makes the prompt. What fails here is an ordinary error, streamed or not.
func (k *work) find(ctx context.Context) (err error) {
	k.started = time.Now()
	k.query.Vectors = k.plan != nil && k.plan.Vectors()
	if k.found, err = k.area.run.Run(ctx, k.query); err != nil || k.plan == nil {
		return err
	}
	if k.draft, err = k.plan.Draft(passages(k.found.Results)); err != nil {
		return fault.Under(err, "body.generation", k.names)
	}
	if k.plan.Remote() {
		return k.call.Await(ctx)
	}
	return nil
}

// generate asks the model, if there is one to ask.
func (k *work) generate(ctx context.Context, emit func(generate.Event) error) error {
	if k.draft == nil {
		return nil
	}
	answer, err := k.draft.Run(ctx, emit)
	k.generated = &answer
	var failure *llm.Error
	if errors.As(err, &failure) {
		return failure.Fault()
	}
	return err
}

// warnings are what could not be done as asked.
func (k *work) warnings() []string {
	var out []string
	if k.asked.rewriting { // is not built yet: the query ran as it was
		out = append(out, "intelligent_query_rewriting_failed")
	}
	if k.generated != nil {
		out = append(out, k.generated.Warnings...)
	}
	return out
}

// rewritten is what became of each query by rewriting: nothing.
func (k *work) rewritten() (out []rewritten) {
	if k.asked.rewriting {
		for _, s := range k.query.Sources {
			out = append(out, rewritten{CorpusKey: s.Corpus})
		}
	}
	return out
}

// saveTime is how long the history may take for a query whose caller is gone.
const saveTime = 10 * time.Second

// save puts the query into its history, before the end of the answer goes out, so that the next call finds it. A query
// whose model was asked is kept whatever came of it, also when the caller is gone: it says what was paid for.
func (k *work) save(ctx context.Context) error {
	if !k.found.Save {
		return nil
	}
	made, err := saved(k)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	k.area.history.Save(ctx, made)
	return nil
}

// whole answers in one piece.
func (k *work) whole(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := k.find(ctx); err != nil {
		return err
	}
	failed := k.generate(ctx, func(generate.Event) error { return nil })
	if err := k.save(ctx); err != nil {
		return err
	}
	results := wireResults(k.found.Results)
	if failed != nil {
		return httpapi.Keep(failed, results)
	}
	out := answer{Results: results, Absent: wireAbsent(k.found.Absent), Rewritten: k.rewritten(), Warnings: k.warnings()}
	if g := k.generated; g != nil {
		out.Summary, out.Language, out.Score, out.Prompt = &g.Summary, g.Language, g.Score, g.Prompt
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// stream answers in events.
func (k *work) stream(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := k.find(ctx); err != nil {
		return err
	}
	s := k.call.Stream(w)
	defer s.Close()
	failed := s.Send("search_results", foundEvent{
		"search_results", wireResults(k.found.Results), wireAbsent(k.found.Absent), k.rewritten(),
	})
	if failed == nil {
		failed = k.generate(ctx, func(e generate.Event) error { return send(s, e) })
	}
	if failed != nil {
		_ = s.Fail(failed) // the client may be gone
	}
	if err := k.save(ctx); err != nil && failed == nil {
		_ = s.Fail(err)
	}
	_ = s.Send("end", doneEvent{"end", k.warnings()})
	return nil
}
