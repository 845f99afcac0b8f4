package builtin_test

import (
	"strings"
	"testing"

	"quarry/internal/llm"
)

// TestSummarizes proves that a summary is made of sentences of the evidence without numbers, one event each, that its tokens are
// counted, and that max_tokens takes whole sentences away.
func TestSummarizes(t *testing.T) {
	t.Parallel()
	document := []llm.Evidence{
		{Text: "Bridges", Label: true},
		{Text: "The Golden Gate Bridge spans the strait between San Francisco and Marin County."},
		{Text: "The main span of the bridge is 1,280 metres long."},
		{Text: "Designers", Label: true, Section: 1},
		{Text: "The bridge was designed by Joseph Strauss, Irving Morrow and Charles Ellis.", Section: 1},
		{Text: "The colour of the bridge is called international orange.", Section: 1},
	}
	r := llm.Request{Messages: []llm.Message{llm.Text(llm.User, "Summarise this document: ...")}, Evidence: document, Summarize: true}
	var events []string
	out, err := generator(t).Stream(t.Context(), r, func(e llm.Event) error { events = append(events, e.Text); return nil })
	if err != nil || out.Reason != llm.Stop || len(events) != 3 || strings.Join(events, "") != out.Text || strings.ContainsAny(out.Text, "[]") {
		t.Fatalf("%v, reason %s, events %q", err, out.Reason, events)
	}
	if out.Usage.Input == 0 || out.Usage.Output == 0 || out.Usage.Estimated {
		t.Errorf("usage %+v", out.Usage)
	}
	for _, e := range events {
		found := false
		for _, p := range document {
			found = found || p.Text == strings.TrimSpace(e) && !p.Label
		}
		if !found {
			t.Errorf("%q is no sentence of the document", e)
		}
	}
	r.Parameters.MaxTokens = new(25)
	if short := complete(t, r); short.Reason != llm.Length || short.Text == "" || short.Usage.Output > 25 {
		t.Errorf("at most 25 tokens: %q, %s, %+v", short.Text, short.Reason, short.Usage)
	}
}

// TestSummarizesMessages proves that a conversation is summed up where there is no evidence, without what the system says.
func TestSummarizesMessages(t *testing.T) {
	t.Parallel()
	out := complete(t, llm.Request{Summarize: true, Messages: []llm.Message{
		llm.Text(llm.System, "You sum up what was said so far in this talk."),
		llm.Text(llm.User, "The pump of the north hall loses oil every night."),
		llm.Text(llm.Assistant, "The gasket of the pump has to be replaced soon."),
	}})
	if want := "The pump of the north hall loses oil every night. The gasket of the pump has to be replaced soon."; out.Text != want {
		t.Errorf("%q, want %q", out.Text, want)
	}
}
