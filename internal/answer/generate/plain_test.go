package generate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate"
)

func TestResultsOfAnyLength(t *testing.T) {
	// Proves that the embedded model is given the beginning of results that are longer than it reads, in whole characters, where other
	// models are refused.
	t.Parallel()
	results := []generate.Passage{{Text: "x" + strings.Repeat("é", 500_000)}, {Text: "<b>Short.</b>", Plain: "Short."}}
	for _, local := range []bool{true, false} {
		r := newRig(&model{says: []string{"Yes [1]."}, local: local, context: 100_000})
		p, err := r.Plan(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Answer(t.Context(), results, told(new([]string)))
		if !local {
			if err == nil {
				t.Error("a prompt of a megabyte is sent to a model")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		e := r.model.asked.Evidence
		if len(e) != 2 || !utf8.ValidString(e[0].Text) || len(e[0].Text) < 100_000 || !strings.HasPrefix(results[0].Text, e[0].Text) || e[1].Text != "Short." {
			t.Errorf("%d passages of evidence, the first of %d bytes", len(e), len(e[0].Text))
		}
	}
	if len(results[0].Text) != 1_000_001 {
		t.Error("the caller's results have changed")
	}
}

func TestMarksOfContext(t *testing.T) {
	// Proves that the marks around matches are in the prompt, and neither in the evidence nor in the sources of the score; and
	// that the evidence has the headings above the passage without the title of its document, and the sentences around it.
	t.Parallel()
	q := request()
	r := newRig(&model{says: []string{"Yes [1]."}, local: true})
	p, err := r.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	results := []generate.Passage{{
		Text: "<b>The pump runs.</b>", Plain: "The pump runs.", Before: "Open it.", After: "Close it.",
		DocumentMetadata: json.RawMessage(`{"title":"Manual"}`),
		PartMetadata:     json.RawMessage(`{"breadcrumb":["Manual","Use",7],"title":"Start"}`),
	}, {Text: "No marks.", PartMetadata: json.RawMessage(`{"breadcrumb":"Use","title":["x"]}`)}}
	got, err := p.Answer(t.Context(), results, told(new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Prompt, "<b>The pump runs.</b>") {
		t.Errorf("the prompt is %q", got.Prompt)
	}
	e := r.model.asked.Evidence
	if e[0].Text != "The pump runs." || e[0].Before != "Open it." || e[0].After != "Close it." || e[1].Text != "No marks." || len(e[1].Headings) > 0 {
		t.Errorf("the evidence is %+v", e)
	}
	if diff := cmp.Diff([]string{"Use", "Start"}, e[0].Headings); diff != "" {
		t.Errorf("headings (-want +got): %s", diff)
	}
	if diff := cmp.Diff([]string{"The pump runs.", "No marks."}, r.scorer.asked[0].Sources); diff != "" {
		t.Errorf("sources (-want +got): %s", diff)
	}
}
