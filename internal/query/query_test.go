package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate"
	"quarry/internal/answer/generate/cite"
	"quarry/internal/app"
	"quarry/internal/app/apptest"
	"quarry/internal/corpus"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/query"
	"quarry/internal/query/history"
	"quarry/internal/query/rerank"
	"quarry/internal/query/retrieve"
	"quarry/internal/query/rewrite"
)

const question = "How often is the oil of the pump changed?"

// open starts a service with a corpus "c" of two documents.
func open(t *testing.T) *app.App {
	t.Helper()
	a, _ := apptest.Start(t, nil)
	if _, err := a.Corpora.Create(t.Context(), corpus.Create{Key: "c"}); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{"oil": "Change the oil of the pump every 500 hours.", "lunch": "The canteen serves lunch at noon."} {
		d := &draft.Core{ID: id, Metadata: json.RawMessage(`{}`), Parts: []draft.CorePart{{Text: text}}}
		if _, err := a.Ingest.Create(t.Context(), "c", d, ingest.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func ask() query.Ask {
	return query.Ask{
		Search: retrieve.Query{
			Text: question, Limit: 10, Sources: []retrieve.Source{{Corpus: "c", Lambda: opt.Some(retrieve.DefaultLambda)}}, Save: opt.Some(true),
		},
		Generation: &generate.Request{Question: question, Score: true, Citations: cite.Options{Style: cite.Markdown, URL: "https://x/{doc.id}", Text: "see"}},
	}
}

// records returns what the history keeps, the newest first.
func records(t *testing.T, a *app.App) (out []history.Record) {
	t.Helper()
	all, _, err := a.History.List(t.Context(), history.List{Limit: 10, Reader: history.Reader{All: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		r, err := a.History.Get(t.Context(), string(s.ID), history.Reader{All: true})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestRun proves that one call without HTTP searches, answers with citations, scores and keeps the record, and that its
// events add up to the same answer.
func TestRun(t *testing.T) {
	t.Parallel()
	a := open(t)
	whole, err := a.Query.Run(t.Context(), ask(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Results) != 2 || whole.Results[0].DocumentID != "oil" {
		t.Errorf("results: %+v", whole.Results)
	}
	if g := whole.Generated; g == nil || !strings.Contains(g.Summary, "500 hours") || !strings.Contains(g.Summary, "[see](https://x/oil)") || g.Score == nil {
		t.Errorf("generated: %+v", g)
	}
	var order []string
	var text strings.Builder
	streamed, err := a.Query.Run(t.Context(), ask(), func(e query.Event) error {
		step := "text"
		switch {
		case e.Found != nil:
			step = "found"
			if diff := cmp.Diff(whole.Results, e.Found.Results); diff != "" || e.Found.Generated != nil {
				t.Errorf("found (-want +got): %s", diff)
			}
		case e.Prompt != nil:
			step = "prompt"
		case e.Score != nil:
			step = "score"
		case e.Done:
			step = "done"
		}
		text.WriteString(e.Chunk)
		order = append(order, step)
		return nil
	})
	if err != nil || text.String() != whole.Generated.Summary || streamed.Generated.Summary != whole.Generated.Summary {
		t.Errorf("%v: streamed %q, want %q", err, text.String(), whole.Generated.Summary)
	}
	if got := slices.Compact(order); !slices.Equal(got, []string{"found", "prompt", "text", "done", "score"}) {
		t.Errorf("events: %v", got)
	}
	kept := records(t, a)
	if len(kept) != 2 {
		t.Fatalf("%d records, want 2", len(kept))
	}
	for _, r := range kept {
		var types []history.Type
		for _, s := range r.Spans {
			types = append(types, s.Type)
		}
		if r.Text != question || *r.Generation != whole.Generated.Summary || *r.Consistency != *whole.Generated.Score ||
			string(r.Request) != `{"query":"`+question+`","search":{"corpora":[{"corpus_key":"c"}]}}` ||
			!slices.Equal(types, []history.Type{history.Search, history.Rerank, history.Generation, history.Consistent}) {
			t.Errorf("record with spans %v and request %s: %+v", types, r.Request, r.Summary)
		}
	}
}

// TestCallerLeaves proves that a query whose caller leaves in the middle of the text is kept with the text so far, and that
// its answer holds what there was.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	a := open(t)
	ctx, leave := context.WithCancel(t.Context())
	got, err := a.Query.Run(ctx, ask(), func(e query.Event) error {
		if e.Chunk == "" {
			return nil
		}
		leave()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || len(got.Results) != 2 || got.Generated.Summary == "" || got.Generated.Score != nil {
		t.Errorf("%v: %d results, generated %+v", err, len(got.Results), got.Generated)
	}
	if kept := records(t, a); len(kept) != 1 || *kept[0].Generation != got.Generated.Summary {
		t.Errorf("kept: %+v", kept)
	}
}

// TestFaults proves that faults name fields of the ask, so that search settings nested anywhere get the right paths, and
// that nothing is emitted or kept of a query that is refused.
func TestFaults(t *testing.T) {
	t.Parallel()
	a := open(t)
	limit := 0
	for field, change := range map[string]func(*query.Ask){
		"query":         func(q *query.Ask) { q.Search.Text = " " },
		"search.limit":  func(q *query.Ask) { q.Search.Limit = 0 },
		"search.offset": func(q *query.Ask) { q.Search.Offset = query.MaxOffset + 1 },
		"search.corpora[1].metadata_filter": func(q *query.Ask) {
			q.Search.Sources = append(q.Search.Sources, retrieve.Source{Corpus: "c", Filter: "doc.x = 1"})
		},
		"search.corpora[0].custom_dimensions": func(q *query.Ask) {
			q.Search.Sources[0].Dimensions = map[string]float64{"none": 1}
		},
		"search.reranker": func(q *query.Ask) {
			q.Search.Reranker = rerank.Spec{Type: "chain", Rerankers: make([]rerank.Spec, 51)}
		},
		"search.reranker.rerankers[1].user_function": func(q *query.Ask) {
			q.Search.Reranker = rerank.Spec{Type: "chain", Rerankers: []rerank.Spec{{}, {Type: "userfn"}}}
		},
		"generation.generation_preset_name": func(q *query.Ask) { q.Generation.Preset = "none" },
		"generation.prompt_template":        func(q *query.Ask) { q.Generation.Template, q.Generation.MaxResults = "#foreach (", &limit },
	} {
		bad := ask()
		change(&bad)
		_, err := a.Query.Run(t.Context(), bad, func(query.Event) error {
			t.Errorf("%s: an event", field)
			return nil
		})
		f, ok := fault.As(fault.Under(fault.Under(err, "steps[0]"), "body"))
		if want := fault.Join("body", "steps[0]."+field); !ok || f.Kind != fault.KindInvalid || len(f.Fields) != 1 || f.Fields[want] == "" {
			t.Errorf("%s: %v", want, f)
		}
	}
	if kept := records(t, a); len(kept) > 0 {
		t.Errorf("kept: %+v", kept)
	}
}

// finds is a model that finds a filter in every query.
type finds string

func (m finds) Model(context.Context, string) (*llm.Model, error) {
	return &llm.Model{Provider: m, Can: llm.Abilities{Context: llm.MinContext}}, nil
}

func (m finds) Stream(context.Context, llm.Request, func(llm.Event) error) (llm.Answer, error) {
	return llm.Answer{Text: string(m)}, nil
}

// replaced is a searcher of a corpus whose attributes are replaced behind Check, so that what was found does not hold.
type replaced struct {
	*retrieve.Service
	ran []retrieve.Query
}

func (s *replaced) Run(ctx context.Context, q retrieve.Query) (retrieve.Answer, error) {
	s.ran = append(s.ran, q)
	if strings.Contains(q.Sources[0].Filter, "doc.year") {
		return retrieve.Answer{}, fault.InvalidField("corpora[0].metadata_filter", "Unrecognized references: doc.year")
	}
	return s.Service.Run(ctx, q)
}

// TestAttributesReplaced proves that a filter that was found and does not hold any more costs the rewriting alone, that what
// the caller asked for is left as it was, and that a search which is wrong by itself is refused before a model is called.
func TestAttributesReplaced(t *testing.T) {
	t.Parallel()
	a := open(t)
	if _, err := a.Corpora.Create(t.Context(), corpus.Create{Key: "y", Attributes: []corpus.Attribute{{Name: "year", Level: "document", Type: "integer"}}}); err != nil {
		t.Fatal(err)
	}
	s, models := &replaced{Service: a.Retrieve}, finds(`{"query":"oil","metadata_filter":"doc.year = 1"}`)
	service := query.New(query.Config{
		Searcher: s, Rewriter: rewrite.New(models, slog.New(slog.DiscardHandler)), Planner: nil, History: a.History, Models: models,
	})
	q := ask()
	q.Generation, q.Rewriting = nil, true
	q.Search.Sources = append(q.Search.Sources, q.Search.Sources[0])
	q.Search.Sources[0].Corpus, q.Search.Sources[0].Filter = "y", "doc.id <> 'x'"
	got, err := service.Run(t.Context(), q, nil)
	if err != nil || len(s.ran) != 2 || len(got.Results) != 2 || !slices.Equal(got.Warnings, []string{query.WarningRewriting}) {
		t.Fatalf("%v: %d searches, %d results, warnings %v", err, len(s.ran), len(got.Results), got.Warnings)
	}
	if first := s.ran[0].Sources[0]; first.Text != "oil" || first.Filter != "(doc.id <> 'x') AND (doc.year = 1)" {
		t.Errorf("searched first: %+v", first)
	}
	if diff := cmp.Diff(q.Search.Sources, s.ran[1].Sources, cmp.AllowUnexported(opt.Field[float64]{})); diff != "" || q.Search.Sources[0].Filter != "doc.id <> 'x'" {
		t.Errorf("searched then (-asked +searched): %s", diff)
	}
	if w := got.Rewritten; len(w) != 2 || w[0].Warning != rewrite.Unreadable || w[1].Warning != rewrite.NoAttributes {
		t.Errorf("rewritten: %+v", w)
	}
	spans := records(t, a)[0].Spans
	if len(spans) != 4 || !slices.Equal(spans[0].Warnings, []string{"failed_to_parse_extracted_filter"}) || spans[0].Extracted != nil || spans[2].Type != history.Search {
		t.Errorf("spans: %+v", spans)
	}
	q.Search.Sources[0].Filter = "doc.nothing = 1"
	if _, err := service.Run(t.Context(), q, nil); len(s.ran) != 2 {
		t.Errorf("it searched for what is wrong: %v", err)
	} else if f, ok := fault.As(err); !ok || f.Fields["search.corpora[0].metadata_filter"] == "" {
		t.Error(err)
	}
}
