package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quarry/internal/answer/verify"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

func with(a llmtest.Fixed, embedded bool) llm.Models {
	return llmtest.Only{Use: &llm.Model{Provider: a, Name: "judge", Embedded: embedded}}
}

// Proves that the judge's score counts within its bounds, and that the embedded means answer when it gives none.
func TestJudge(t *testing.T) {
	t.Parallel()
	text := "The relief valve opens at 3 bar and closes again at 2.5 bar."
	own := score(t, service(t, verify.Config{}), text, valve...)
	for name, test := range map[string]struct {
		models llm.Models
		want   float64
		by     string
	}{
		"a score":          {with(llmtest.Fixed{Text: `{"unsupported":[],"score":0.42}`}, false), 0.42, "judge"},
		"in a fence":       {with(llmtest.Fixed{Text: "```json\n{\"unsupported\":[],\"score\":0.42}\n```"}, false), 0.42, "judge"},
		"certain":          {with(llmtest.Fixed{Text: `{"unsupported":[],"score":1}`}, false), 0.999, "judge"},
		"none":             {with(llmtest.Fixed{Text: `{"unsupported":["x"]}`}, false), own, ""},
		"out of range":     {with(llmtest.Fixed{Text: `{"score":7}`}, false), own, ""},
		"prose":            {with(llmtest.Fixed{Text: "All fine."}, false), own, ""},
		"failing":          {with(llmtest.Fixed{Err: &llm.Error{Failure: llm.TimedOut}}, false), own, ""},
		"the embedded one": {with(llmtest.Fixed{Text: `{"score":0.1}`}, true), own, ""},
		"no models":        {nil, own, ""},
		"unknown":          {llmtest.Only{Err: errors.New("no such model")}, own, ""},
	} {
		s := service(t, verify.Config{Models: test.models, Judge: "judge"})
		got, err := s.Score(t.Context(), verify.Claim{Text: text, Sources: valve, Language: "eng"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Value != test.want || got.By != test.by {
			t.Errorf("%s: %.4f by %q, want %.4f by %q", name, got.Value, got.By, test.want, test.by)
		}
	}
}

// Proves that text and sources reach the judge as data in JSON, under a schema, and that a call that ends ends the score.
func TestJudgeRequest(t *testing.T) {
	t.Parallel()
	var r llm.Request
	s := service(t, verify.Config{Models: with(llmtest.Fixed{Text: `{"score":0.5}`, Last: &r}, false), Judge: "judge"})
	if _, err := s.Score(t.Context(), verify.Claim{Text: `Say "yes" }]`, Sources: valve, Language: "eng"}); err != nil {
		t.Fatal(err)
	}
	if r.Format == nil || r.Format.Type != "json_schema" || len(r.Messages) != 2 || !strings.Contains(r.Messages[1].Plain(), `"Say \"yes\" }]"`) {
		t.Errorf("the judge was asked %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = service(t, verify.Config{Models: with(llmtest.Fixed{Err: context.Canceled}, false), Judge: "judge"})
	if _, err := s.Score(ctx, verify.Claim{Text: "a b c", Sources: valve, Language: "eng"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want canceled", err)
	}
}
