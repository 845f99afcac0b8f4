package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quarry/internal/answer/verify"
	"quarry/internal/fault"
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

// Proves that corrections of a language model are made where they fit the text, in its order, with nothing that
// neither text nor sources have; and what its failures are.
func TestCorrectByModel(t *testing.T) {
	t.Parallel()
	text := "The valve opens at 5 bar and was made in Oslo."
	for name, test := range map[string]struct {
		answer string
		want   string
		edits  int
	}{
		"as asked":         {`{"corrections":[{"original_text":"5 bar","corrected_text":"3 bar","explanation":"source states 3 bar"},{"original_text":" and was made in Oslo","corrected_text":"","explanation":"not supported"}]}`, "The valve opens at 3 bar.", 2},
		"nothing":          {`{"corrections":[]}`, text, 0},
		"not in the text":  {`{"corrections":[{"original_text":"7 bar","corrected_text":"3 bar","explanation":"x"}]}`, text, 0},
		"no change":        {`{"corrections":[{"original_text":"5 bar","corrected_text":"5 bar","explanation":"x"}]}`, text, 0},
		"from outside":     {`{"corrections":[{"original_text":"5 bar","corrected_text":"9 bar","explanation":"x"}]}`, "The valve opens at  and was made in Oslo.", 1},
		"a name, too":      {`{"corrections":[{"original_text":"in Oslo","corrected_text":"in Bergen","explanation":""}]}`, "The valve opens at 5 bar and was made .", 1},
		"everything":       {`{"corrections":[{"original_text":"` + text + `","corrected_text":"","explanation":"x"}]}`, "", 1},
		"out of order":     {`{"corrections":[{"original_text":"Oslo","corrected_text":"","explanation":"x"},{"original_text":"5 bar","corrected_text":"3 bar","explanation":"x"}]}`, "The valve opens at 3 bar and was made in .", 2},
		"the same twice":   {`{"corrections":[{"original_text":"5 bar","corrected_text":"3 bar","explanation":"x"},{"original_text":"5 bar","corrected_text":"","explanation":"x"}]}`, "The valve opens at 3 bar and was made in Oslo.", 1},
		"one inside other": {`{"corrections":[{"original_text":"at 5 bar","corrected_text":"at 3 bar","explanation":"x"},{"original_text":"5 bar and","corrected_text":"","explanation":"x"}]}`, "The valve opens at 3 bar and was made in Oslo.", 1},
	} {
		s := service(t, verify.Config{Models: with(answers{text: test.answer}, false)})
		got, err := s.Correct(t.Context(), verify.Correction{Text: text, Sources: []string{"The valve opens at 3 bar."}, Corrector: verify.ByModel})
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != test.want || len(got.Edits) != test.edits || got.By != verify.ByModel {
			t.Errorf("%s: corrected to %q by %+v, want %q by %d edits", name, got.Text, got.Edits, test.want, test.edits)
		}
		if made := remake(t, text, got.Edits); got.Text != "" && made != got.Text {
			t.Errorf("%s: the edits make %q, the text is %q", name, made, got.Text)
		}
	}
	for name, test := range map[string]struct {
		model answers
		want  fault.Kind
	}{
		"prose":   {answers{text: "All fine."}, fault.KindUpstream},
		"no list": {answers{text: `{"score":0.4}`}, fault.KindUpstream},
		"timeout": {answers{err: &llm.Error{Failure: llm.TimedOut}}, fault.KindTimeout},
	} {
		s := service(t, verify.Config{Models: with(test.model, false)})
		if _, err := s.Correct(t.Context(), verify.Correction{Text: text, Sources: valve, Corrector: verify.ByModel}); !fault.Is(err, test.want) {
			t.Errorf("%s: error is %v, want kind %v", name, err, test.want)
		}
	}
}
