package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quarry/internal/answer/verify"
	"quarry/internal/llm"
)

// answers is a language model that answers with one text, or fails.
type answers struct {
	text string
	err  error
	last *llm.Request
}

func (a answers) Stream(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if a.last != nil {
		*a.last = r
	}
	if a.err != nil {
		return llm.Answer{}, a.err
	}
	return llm.Answer{Text: a.text, Reason: llm.Stop}, emit(llm.Event{Text: a.text})
}

// one is a single model that every name stands for, or why it can't be used.
type one struct {
	model *llm.Model
	err   error
}

func (o one) Model(context.Context, string) (*llm.Model, error) { return o.model, o.err }

func with(a answers, embedded bool) llm.Models {
	return one{model: &llm.Model{Provider: a, Name: "judge", Embedded: embedded}}
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
		"a score":          {with(answers{text: `{"unsupported":[],"score":0.42}`}, false), 0.42, "judge"},
		"in a fence":       {with(answers{text: "```json\n{\"unsupported\":[],\"score\":0.42}\n```"}, false), 0.42, "judge"},
		"certain":          {with(answers{text: `{"unsupported":[],"score":1}`}, false), 0.999, "judge"},
		"none":             {with(answers{text: `{"unsupported":["x"]}`}, false), own, ""},
		"out of range":     {with(answers{text: `{"score":7}`}, false), own, ""},
		"prose":            {with(answers{text: "All fine."}, false), own, ""},
		"failing":          {with(answers{err: &llm.Error{Failure: llm.TimedOut}}, false), own, ""},
		"the embedded one": {with(answers{text: `{"score":0.1}`}, true), own, ""},
		"no models":        {nil, own, ""},
		"unknown":          {one{err: errors.New("no such model")}, own, ""},
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
	s := service(t, verify.Config{Models: with(answers{text: `{"score":0.5}`, last: &r}, false), Judge: "judge"})
	if _, err := s.Score(t.Context(), verify.Claim{Text: `Say "yes" }]`, Sources: valve, Language: "eng"}); err != nil {
		t.Fatal(err)
	}
	if r.Format == nil || r.Format.Type != "json_schema" || len(r.Messages) != 2 || !strings.Contains(r.Messages[1].Plain(), `"Say \"yes\" }]"`) {
		t.Errorf("the judge was asked %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = service(t, verify.Config{Models: with(answers{err: context.Canceled}, false), Judge: "judge"})
	if _, err := s.Score(ctx, verify.Claim{Text: "a b c", Sources: valve, Language: "eng"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want canceled", err)
	}
}
