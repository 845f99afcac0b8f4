package generate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate"
	"quarry/internal/answer/generate/cite"
	"quarry/internal/answer/verify"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

const template = `Answer in $vectaraLangName: $vectaraQuery
#foreach ($r in $vectaraQueryResults)[$foreach.count] $r.getText()
#end`

// presetsByName is presets by name.
type presetsByName map[string]generate.Preset

func (s presetsByName) Find(_ context.Context, name string) (generate.Preset, error) {
	if p, ok := s[name]; ok {
		return p, nil
	}
	return generate.Preset{}, &fault.Fault{Kind: fault.KindInvalid, Code: "invalid_request", Text: "there is no preset " + name}
}

// model is one that says the same words to everybody.
type model struct {
	name    string
	context int
	local   bool
	full    error    // what Admit answers
	says    []string // one event each
	refusal string
	reason  llm.Reason
	fails   error // after it has said everything
	asked   *llm.Request
}

func (m *model) Admit(context.Context) error { return m.full }

func (m *model) Stream(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	m.asked = &r
	for _, s := range m.says {
		if err := emit(llm.Event{Text: s}); err != nil {
			return llm.Answer{}, err
		}
	}
	return llm.Answer{Text: strings.Join(m.says, ""), Refusal: m.refusal, Reason: m.reason}, m.fails
}

// modelsByName is models by name.
type modelsByName map[string]*model

func (h modelsByName) Model(_ context.Context, name string) (*llm.Model, error) {
	if m, ok := h[name]; ok {
		return &llm.Model{Provider: m, Name: m.name, Embedded: m.local, Can: llm.Abilities{Context: max(m.context, llm.MinContext)}}, nil
	}
	return nil, &fault.Fault{Kind: fault.KindInvalid, Code: "invalid_request", Text: "there is no language model " + name}
}

// scorer scores everything alike and keeps what it was asked.
type scorer struct {
	score float64
	err   error
	asked []verify.Claim
}

func (j *scorer) Score(_ context.Context, c verify.Claim) (verify.Score, error) {
	j.asked = append(j.asked, c)
	return verify.Score{Value: j.score}, j.err
}

func ptr[T any](v T) *T { return &v }

// some returns passages, the second of them long.
func some(n int) []generate.Passage {
	out := make([]generate.Passage, n)
	for i := range out {
		out[i] = generate.Passage{
			Text: fmt.Sprintf("Passage number %d tells of pumps.", i+1), DocumentID: fmt.Sprintf("doc-%d", i+1), Score: 1 / float64(i+1),
			DocumentMetadata: json.RawMessage(fmt.Sprintf(`{"title":"Title %d"}`, i+1)), PartMetadata: json.RawMessage(`{}`),
		}
	}
	return out
}

// told writes events down, one word each.
func told(into *[]string) func(generate.Event) error {
	return func(e generate.Event) error {
		switch {
		case e.Prompt != nil:
			*into = append(*into, "prompt")
		case e.Score != nil:
			*into = append(*into, fmt.Sprint("score ", *e.Score))
		case e.Done:
			*into = append(*into, "done")
		default:
			*into = append(*into, e.Chunk)
		}
		return nil
	}
}

// fixture is a service over one preset and one model.
type fixture struct {
	*generate.Service
	model  *model
	scorer *scorer
	log    bytes.Buffer
}

func newRig(m *model) *fixture {
	m.name = "small"
	r := &fixture{model: m, scorer: &scorer{score: 0.75}}
	presets := presetsByName{"": {LLM: "small", Template: template}, "short": {LLM: "small", Template: template, MaxResults: 2, MaxTokens: ptr(77), Temperature: ptr(0.5), Extra: map[string]json.RawMessage{"top_k": json.RawMessage("1"), "seed": json.RawMessage("2")}}, "lost": {LLM: "gone", Template: template}}
	r.Service = generate.New(presets, modelsByName{"small": m, "other": {name: "other"}}, r.scorer, slog.New(slog.NewTextHandler(&r.log, nil)))
	return r
}

func request() generate.Request {
	return generate.Request{Question: "How often is the filter of the pump changed?", Score: true}
}

func TestAnswer(t *testing.T) {
	// Proves the order of events, that they add up to the summary, what the model is asked, and that the claim that is
	// scored is free of marks.
	t.Parallel()
	r := newRig(&model{says: []string{"Every 500 h ", "[", "2", "]", " [9]. Ask", " Ada [1]."}})
	p, err := r.Plan(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	got, err := p.Answer(t.Context(), some(2), told(&events))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"prompt", "Every 500 h", " [2]", ". Ask", " Ada [1].", "done", "score 0.75"}, events); diff != "" {
		t.Errorf("events (-want +got): %s", diff)
	}
	if got.Summary != "Every 500 h [2]. Ask Ada [1]." || got.Language != "eng" || got.Score == nil || *got.Score != 0.75 || len(got.Warnings) > 0 {
		t.Errorf("answer %+v", got)
	}
	if len(got.Steps) != 2 || got.Steps[0].Name != generate.StepGeneration || got.Steps[1].Name != generate.StepScore {
		t.Errorf("steps %+v", got.Steps)
	}
	if q := r.model.asked; q.Question != request().Question || q.Language != "eng" || len(q.Evidence) != 2 || q.Evidence[1].N != 2 ||
		q.Evidence[1].Title != "Title 2" || q.Evidence[1].Text != some(2)[1].Text || !strings.Contains(q.Messages[0].Plain(), some(2)[1].Text) {
		t.Errorf("the model is asked %+v", q)
	}
	if c := r.scorer.asked[0]; c.Text != "Every 500 h. Ask Ada." || len(c.Sources) != 2 || c.Language != "eng" || c.Question != request().Question {
		t.Errorf("the claim is %+v", c)
	}
}

func TestPrecedence(t *testing.T) {
	// Proves for every parameter that the request comes before the preset, and the preset before the model's own.
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*generate.Request)
		wants  llm.Parameters
		used   int
	}{
		{"nothing said", func(*generate.Request) {}, llm.Parameters{}, 25},
		{"preset", func(r *generate.Request) { r.Preset = "short" }, llm.Parameters{MaxTokens: ptr(77), Temperature: ptr(0.5), Extra: map[string]json.RawMessage{"top_k": json.RawMessage("1"), "seed": json.RawMessage("2")}}, 2},
		{"request", func(r *generate.Request) {
			r.Preset, r.MaxResults = "short", ptr(3)
			r.Parameters = llm.Parameters{MaxTokens: ptr(5), Temperature: ptr(0.0), PresencePenalty: ptr(1.0), FrequencyPenalty: ptr(0.1), Extra: map[string]json.RawMessage{"seed": json.RawMessage("null"), "x": json.RawMessage("{}")}}
		}, llm.Parameters{
			MaxTokens: ptr(5), Temperature: ptr(0.0), PresencePenalty: ptr(1.0), FrequencyPenalty: ptr(0.1),
			Extra: map[string]json.RawMessage{"top_k": json.RawMessage("1"), "seed": json.RawMessage("null"), "x": json.RawMessage("{}")},
		}, 3},
		{"no results wanted", func(r *generate.Request) { r.MaxResults = ptr(0) }, llm.Parameters{}, 0},
	} {
		r := newRig(&model{says: []string{"Yes [1]."}, context: 100_000})
		q := request()
		c.change(&q)
		p, err := r.Plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Answer(t.Context(), some(30), told(new([]string)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.wants, r.model.asked.Parameters); diff != "" || len(r.model.asked.Evidence) != c.used {
			t.Errorf("%s: %d results are used, want %d; parameters (-want +got): %s", c.name, len(r.model.asked.Evidence), c.used, diff)
		}
		if c.used == 0 && (got.Summary != "Yes." || got.Score != nil || len(r.scorer.asked) > 0) {
			t.Errorf("%s: %+v, scored %d times; want no citation and no score", c.name, got, len(r.scorer.asked))
		}
	}
}

func TestRefusals(t *testing.T) {
	// Proves what is refused before the search, and with which field.
	t.Parallel()
	full := fault.Limited("llm_quota_exhausted", "over")
	for _, c := range []struct {
		name   string
		change func(*generate.Request)
		full   error
		field  string
	}{
		{"unknown preset", func(r *generate.Request) { r.Preset = "none" }, nil, "generation_preset_name"},
		{"preset whose model is gone", func(r *generate.Request) { r.Preset = "lost" }, nil, "generation_preset_name"},
		{"unknown model", func(r *generate.Request) { r.LLM = ptr("none") }, nil, "model_parameters.llm_name"},
		{"empty model", func(r *generate.Request) { r.LLM = ptr("") }, nil, "model_parameters.llm_name"},
		{"bad template", func(r *generate.Request) { r.Template = "#bad #foreach (" }, nil, "prompt_template"},
		{"full model", func(*generate.Request) {}, full, ""},
	} {
		r := newRig(&model{full: c.full})
		q := request()
		c.change(&q)
		_, err := r.Plan(t.Context(), q)
		f, ok := fault.As(err)
		switch {
		case !ok:
			t.Errorf("%s: %v", c.name, err)
		case c.full != nil && f.Kind != fault.KindLimited, c.full == nil && (f.Kind != fault.KindInvalid || f.Fields[c.field] == ""):
			t.Errorf("%s: %v, fields %v", c.name, f, f.Fields)
		}
	}
}

func TestOtherModel(t *testing.T) {
	// Proves that model_parameters.llm_name takes the place of the preset's model, and only that.
	t.Parallel()
	r := newRig(&model{says: []string{"small"}})
	q := request()
	q.LLM = ptr("other")
	p, err := r.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Answer(t.Context(), some(1), told(new([]string))); err == nil || r.model.asked != nil {
		t.Errorf("%v, the preset's model was asked: %v", err, r.model.asked)
	}
}

func TestFit(t *testing.T) {
	// Proves that results are left out from the end until the prompt fits, with a warning that says how many are in, that
	// what is left out is not cited, and what is refused because not even one fits.
	t.Parallel()
	long := func(n, words int) []generate.Passage {
		out := some(n)
		for i := range out {
			out[i].Text = fmt.Sprintf("Passage %d. %s", i+1, strings.Repeat("word ", words))
		}
		return out
	}
	for _, c := range []struct {
		name    string
		results []generate.Passage
		change  func(*generate.Request)
		used    int
		field   string
	}{
		{"all fit", long(3, 100), func(*generate.Request) {}, 3, ""},
		{"some fit", long(20, 500), func(*generate.Request) {}, 5, ""},
		{"a long answer", long(20, 500), func(r *generate.Request) { r.Parameters.MaxTokens = ptr(2700) }, 3, ""},
		{"more than a template may write", long(3, 300_000), func(r *generate.Request) {
			r.Template = "#foreach ($r in $vectaraQueryResults)#if ($foreach.count > 2)$r.getText()#else$r.getText().substring(0, 20)#end#end"
		}, 2, ""},
		{"one fits", long(20, 2000), func(*generate.Request) {}, 1, ""},
		{"one is too long", long(2, 5000), func(*generate.Request) {}, 0, "max_used_search_results"},
		{"one alone is too long", long(1, 5000), func(*generate.Request) {}, 0, "max_used_search_results"},
		{"one is longer than a template may write", long(1, 500_000), func(*generate.Request) {}, 0, "max_used_search_results"},
		{"the first is longer than a template may write", long(3, 500_000), func(*generate.Request) {}, 0, "max_used_search_results"},
		{"the template writes without end", long(3, 1), func(r *generate.Request) {
			r.Template = "#foreach ($i in [1..9000])" + strings.Repeat("word ", 100) + "#end"
		}, 0, "prompt_template"},
		{"the template is too long", long(20, 1), func(r *generate.Request) { r.Template = strings.Repeat("word ", 5000) }, 0, "prompt_template"},
		{"an answer of any length", long(20, 500), func(r *generate.Request) { r.Parameters.MaxTokens = ptr(2_000_000_000) }, 3, ""},
	} {
		r := newRig(&model{says: []string{"[1][2][3][4][5][6]"}})
		q := request()
		c.change(&q)
		p, err := r.Plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Answer(t.Context(), c.results, told(new([]string)))
		if c.field != "" {
			if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Text == "" || f.Fields[c.field] != f.Text {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if n := len(r.model.asked.Evidence); n != c.used || strings.Count(got.Summary, "[") != min(n, 6) {
			t.Errorf("%s: %d results are used, want %d; cited %s", c.name, n, c.used, got.Summary)
		}
		if prompt := r.model.asked.Messages[0].Plain(); !strings.Contains(prompt, fmt.Sprintf("Passage %d.", c.used)) || strings.Contains(prompt, fmt.Sprintf("Passage %d.", c.used+1)) {
			t.Errorf("%s: the prompt does not end with passage %d", c.name, c.used)
		}
		warned := len(got.Warnings) == 1 && strings.HasPrefix(got.Warnings[0], fmt.Sprintf("prompt_fitted_to_context: the prompt holds the first %d of %d results", c.used, len(c.results)))
		if warned != (c.used < len(c.results)) {
			t.Errorf("%s: warnings %q", c.name, got.Warnings)
		}
	}
}

func TestNothingFound(t *testing.T) {
	// Proves that no results give one sentence in the language of the answer, no score, and no call of the model.
	t.Parallel()
	for _, c := range []struct{ question, language, code, opens string }{
		{"How often is the filter changed?", "", "eng", "The search results"},
		{"Wie oft wird der Filter der Pumpe gewechselt?", "auto", "deu", "Die Suchergebnisse"},
		{"Wie oft wird der Filter der Pumpe gewechselt?", "fra", "fra", "Les résultats"},
		{"42", "es", "spa", "Los resultados"},
		{"42", "", "eng", "The search results"},
	} {
		r := newRig(&model{says: []string{"no"}})
		q := request()
		q.Question, q.Language = c.question, c.language
		p, err := r.Plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		got, err := p.Answer(t.Context(), nil, told(&events))
		if err != nil || got.Language != c.code || !strings.HasPrefix(got.Summary, c.opens) || got.Score != nil || len(got.Steps) > 0 || r.model.asked != nil {
			t.Errorf("%q: %+v, %v", c.question, got, err)
		}
		if diff := cmp.Diff([]string{"prompt", got.Summary, "done"}, events); diff != "" {
			t.Errorf("%q: events (-want +got): %s", c.question, diff)
		}
	}
}

func TestLanguage(t *testing.T) {
	// Proves that the answer takes the language asked for, else that of the question, else that of the passages, and one
	// that the contract lists in any case.
	t.Parallel()
	german := generate.Passage{Text: "Der Filter der Pumpe wird alle 500 Stunden gewechselt, sonst geht sie kaputt."}
	for _, c := range []struct{ question, language, code string }{
		{"How often is the filter of the pump changed?", "", "eng"},
		{"How often is the filter of the pump changed?", "pt", "por"},
		{"Wie oft wird der Filter der Pumpe gewechselt?", "auto", "deu"},
		{"P-4711", "", "deu"},
		{"Ինչպե՞ս է պոմպի ֆիլտրը փոխվում։", "", "eng"},
	} {
		r := newRig(&model{says: []string{"x"}})
		q := request()
		q.Question, q.Language = c.question, c.language
		p, err := r.Plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Answer(t.Context(), []generate.Passage{german, german}, told(new([]string)))
		if err != nil || got.Language != c.code || r.model.asked.Language != c.code {
			t.Errorf("%q: %s, %v; want %s", c.question, got.Language, err, c.code)
		}
	}
}

func TestScores(t *testing.T) {
	// Proves that a score that can't be told costs the answer nothing, with which warning, and what the log gets.
	t.Parallel()
	for _, c := range []struct {
		err     error
		off     bool
		warning []string
		log     string
	}{
		{nil, true, nil, ""},
		{fmt.Errorf("wrapped: %w", verify.ErrLanguage), false, []string{"fcs_language_not_supported"}, ""},
		{verify.ErrTooLong, false, []string{"exceeded_max_input_length_fcs"}, ""},
		{errors.New("the scorer is down"), false, nil, "the scorer is down"},
	} {
		r := newRig(&model{says: []string{"Yes."}})
		r.scorer.err = c.err
		q := request()
		q.Score = !c.off
		p, err := r.Plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		got, err := p.Answer(t.Context(), some(1), told(&events))
		if err != nil || got.Score != nil || len(got.Steps) != 1 || events[len(events)-1] != "done" {
			t.Errorf("%v: %+v, %v, %q", c.err, got, err, events)
		}
		if diff := cmp.Diff(c.warning, got.Warnings); diff != "" || (c.log != "") != strings.Contains(r.log.String(), "WARN") || !strings.Contains(r.log.String(), c.log) {
			t.Errorf("%v: log %q, warnings (-want +got): %s", c.err, r.log.String(), diff)
		}
		if c.off && len(r.scorer.asked) > 0 {
			t.Error("what nobody asked for is scored")
		}
	}
}

func TestCutOff(t *testing.T) {
	// Proves that an answer which the token limit cut off comes with a warning and its score, and a whole one without.
	t.Parallel()
	for reason, want := range map[llm.Reason]int{llm.Length: 1, llm.Stop: 0, "": 0} {
		r := newRig(&model{says: []string{"The answer stands in the"}, reason: reason})
		p, err := r.Plan(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Answer(t.Context(), some(1), told(new([]string)))
		if err != nil || len(got.Warnings) != want || want == 1 && !strings.HasPrefix(got.Warnings[0], "answer_cut_off: ") || got.Score == nil {
			t.Errorf("%q: %+v, %v", reason, got, err)
		}
	}
}

func TestNoAnswerHasNoScore(t *testing.T) {
	// Proves that the sentence which says that there is no answer is not scored, in whatever language: it claims nothing.
	t.Parallel()
	for _, language := range []string{"eng", "deu", "jpn"} {
		r := newRig(&model{says: []string{llm.NoAnswer(language)}})
		p, err := r.Plan(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Answer(t.Context(), some(1), told(new([]string)))
		if err != nil || got.Score != nil || got.Summary != llm.NoAnswer(language) || len(r.scorer.asked) > 0 {
			t.Errorf("%s: %+v, %v; scored %v", language, got, err, r.scorer.asked)
		}
	}
}

func TestFailures(t *testing.T) {
	// Proves that failures of the model come as they are, with what there was of an answer, that an answer of nothing is a
	// failure, and that an answer without end is.
	t.Parallel()
	gone := errors.New("the client is gone")
	for _, c := range []struct {
		name  string
		model model
		wants llm.Failure
		left  string
	}{
		{"cut", model{says: []string{"Every 500 h [1", "] an"}, fails: &llm.Error{Failure: llm.Broken, Begun: true}}, llm.Broken, "Every 500 h [1] an"},
		{"empty", model{}, llm.Empty, ""},
		{"blank", model{says: []string{" ", "\n"}}, llm.Empty, " \n"},
		{"only a mark that goes", model{says: []string{" [7] "}}, llm.Empty, ""},
		{"refusal", model{refusal: "I would rather not."}, llm.Empty, ""},
		{"without end", model{says: slicesOf(strings.Repeat("word ", 100_000), 20)}, llm.Broken, ""},
	} {
		r := newRig(&c.model)
		p, err := r.Plan(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Answer(t.Context(), some(1), told(new([]string)))
		var f *llm.Error
		if !errors.As(err, &f) || f.Failure != c.wants || c.left != "" && got.Summary != c.left || len(r.scorer.asked) > 0 || len(got.Steps) != 1 {
			t.Errorf("%s: %v, summary %.100q, scored %d times", c.name, err, got.Summary, len(r.scorer.asked))
		}
		if c.model.refusal != "" && !strings.Contains(err.Error(), c.model.refusal) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	r := newRig(&model{says: []string{"a", "b"}})
	p, err := r.Plan(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Answer(t.Context(), some(1), func(e generate.Event) error {
		if e.Chunk == "b" {
			return gone
		}
		return nil
	}); !errors.Is(err, gone) {
		t.Errorf("%v, want what emit said", err)
	}
}

func slicesOf(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestCitations(t *testing.T) {
	// Proves that the style of the request is the one of chunks and summary.
	t.Parallel()
	r := newRig(&model{says: []string{"Yes [1", "]."}})
	q := request()
	q.Citations = cite.Options{Style: cite.Markdown, URL: "https://x.test/{doc.id}", Text: "{doc.title}"}
	p, err := r.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	got, err := p.Answer(t.Context(), some(1), told(&events))
	const want = "Yes [Title 1](https://x.test/doc-1)."
	if err != nil || got.Summary != want || strings.Join(events[1:len(events)-2], "") != want {
		t.Errorf("%q, %q, %v", got.Summary, events, err)
	}
}
