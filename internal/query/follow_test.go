package query_test

import (
	"context"
	"slices"
	"testing"

	"quarry/internal/answer/generate"
	"quarry/internal/query"
	"quarry/internal/query/history"
)

// TestFollowUp proves that a question with earlier exchanges is searched for and answered as it stands by itself, while
// prompt and record have its own words; that its record begins with that step; and that whoever asks may add to the record
// what it belongs to, or keep it out of the history.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	a := open(t)
	follow := ask()
	follow.Search.Text = "And how often?"
	follow.Generation = &generate.Request{
		Question: follow.Search.Text, Template: "$vectaraQuery", Earlier: func(context.Context, generate.Memory) ([]generate.Exchange, error) {
			return []generate.Exchange{{Question: "Is the oil of the pump changed?", Answer: "Yes."}}, nil
		},
	}
	keep := true
	follow.Label = func(r *history.Record) bool {
		r.ChatID = "cht_1"
		return keep
	}
	got, err := a.Query.Run(t.Context(), follow, func(e query.Event) error {
		if e.Found != nil && e.Found.Rephrased != "And how often? oil pump changed" {
			t.Errorf("found for %q", e.Found.Rephrased)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Rephrased != "And how often? oil pump changed" || got.Results[0].DocumentID != "oil" || len(got.Corpora) != 1 || len(got.Warnings) > 0 ||
		got.Generated.Summary != "Change the oil of the pump every 500 hours. [1]" ||
		got.Generated.Prompt != `[{"role":"user","content":"Is the oil of the pump changed?"},{"role":"assistant","content":"Yes."},{"role":"user","content":"And how often?"}]` {
		t.Errorf("%+v, generated %+v", got, got.Generated)
	}
	keep = false
	if _, err := a.Query.Run(t.Context(), follow, nil); err != nil {
		t.Fatal(err)
	}
	kept := records(t, a)
	if len(kept) != 1 || kept[0].Text != "And how often?" || kept[0].ChatID != "cht_1" {
		t.Fatalf("kept: %+v", kept)
	}
	var types []history.Type
	for _, s := range kept[0].Spans {
		types = append(types, s.Type)
	}
	if s := kept[0].Spans[0]; s.Rephrased != got.Rephrased || s.Started.Before(kept[0].Started) ||
		!slices.Equal(types, []history.Type{history.Rephrase, history.Search, history.Rerank, history.Generation}) {
		t.Errorf("spans %v, the first %+v", types, s)
	}
}
