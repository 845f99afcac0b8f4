package correct_test

import (
	"strings"
	"sync"
	"testing"

	"quarry/internal/answer/verify"
	"quarry/internal/answer/verify/correct"
	"quarry/internal/embed"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

var encoders = sync.OnceValues(embed.NewRegistry)

func service(t testing.TB, models llm.Models) *correct.Service {
	t.Helper()
	r, err := encoders()
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get("")
	if err != nil {
		t.Fatal(err)
	}
	return correct.New(correct.Config{Verify: verify.New(verify.Config{Encoder: e}), Models: models})
}

var valve = []string{
	"The relief valve opens at 3 bar and closes again at 2.5 bar. It was designed in 1987 by Erika Lund. The housing does not contain lead.",
	"Maintenance is due every twelve months. Use only original seals.",
}

func with(a llmtest.Fixed, embedded bool) llm.Models {
	return llmtest.Only{Use: &llm.Model{Provider: a, Name: "judge", Embedded: embedded}}
}

// remake applies the edits by hand.
func remake(t *testing.T, text string, edits []correct.Edit) string {
	t.Helper()
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.Start < at || text[e.Start:e.End] != e.Original || e.Explanation == "" {
			t.Fatalf("edit %+v does not fit the text %q", e, text)
		}
		b.WriteString(text[at:e.Start])
		b.WriteString(e.Corrected)
		at = e.End
	}
	return b.String() + text[at:]
}

// Proves what the embedded corrector does with right, wrong, half wrong and unsupported sentences, in several
// languages, that its edits make its text of the original, and that nothing comes from outside.
func TestCorrect(t *testing.T) {
	t.Parallel()
	s := service(t, nil)
	lead := "The relief valve opens at 3 bar. It was designed in 1987 by Erika Lund. The housing does not contain lead."
	for name, test := range map[string]struct {
		text, question, want string
		sources              []string
		edits                int
	}{
		"nothing wrong":         {lead + " [1]", "", lead + " [1]", []string{lead}, 0},
		"a number":              {"The relief valve opens at 5 bar.", "", "The relief valve opens at 3 bar.", []string{lead}, 1},
		"number and clause":     {"The valve opens at 5 bar and was made in Oslo.", "When does it open?", "The valve opens at 3 bar.", []string{"The valve opens at 3 bar."}, 2},
		"a name":                {"It was designed in 1987 by Erika Olsen.", "", "It was designed in 1987 by Erika Lund.", []string{lead}, 1},
		"a negation put in":     {"The relief valve does not open at 3 bar.", "", "The relief valve does open at 3 bar.", []string{lead}, 1},
		"a short contradiction": {"The pump is not waterproof.", "", "The pump is waterproof.", []string{"The pump is waterproof."}, 1},
		"the opposite":          {"Sales rise in winter.", "", "Sales fall in winter.", []string{"Sales fall in winter."}, 1},
		"all of it elsewhere":   {"Bread is baked from flour. Cats sleep all day long.", "", "", []string{lead}, 2},
		"one sentence of two":   {"The relief valve opens at 3 bar [1]. Cats sleep all day long [2].", "", "The relief valve opens at 3 bar [1].", []string{lead}, 1},
		"an item of a list":     {"- The relief valve opens at 3 bar.\n- Cats sleep all day long.\n- It was designed in 1987 by Erika Lund.\n", "", "- The relief valve opens at 3 bar.\n- It was designed in 1987 by Erika Lund.\n", []string{lead}, 1},
		"code stays":            {"The relief valve opens at 3 bar.\n```\nopen(5)\n```\n", "", "The relief valve opens at 3 bar.\n```\nopen(5)\n```\n", []string{lead}, 0},
		"short answers":         {"3 bar", "At which pressure does the relief valve open?", "3 bar", []string{lead}, 0},
		"a list as the answer":  {"- Berlin\n- Madrid\n- Paris", "Which cities have offices?", "- Berlin\n- Paris", []string{"Our offices are in Berlin, Paris and Rome."}, 1},
		"no":                    {"No.", "Does the relief valve open at 3 bar?", "The relief valve opens at 3 bar.", []string{lead}, 1},
		"yes":                   {"Yes.", "Does the relief valve open at 3 bar?", "Yes.", []string{lead}, 0},
		"German":                {"Das Ventil öffnet bei 5 bar.", "", "Das Ventil öffnet bei 3 bar.", []string{"Das Ventil öffnet bei 3 bar. Es wurde in Lübeck gebaut."}, 1},
		"Chinese, as it is":     {"阀门在3巴时打开。", "", "阀门在3巴时打开。", []string{"阀门在3巴时打开。它于1987年设计。"}, 0},
		"a language not served": {"Zawór otwiera się przy 5 barach.", "", "Zawór otwiera się przy 3 barach.", []string{"Zawór otwiera się przy 3 barach."}, 1},
	} {
		got, err := s.Correct(t.Context(), correct.Correction{Text: test.text, Sources: test.sources, Question: test.question, Corrector: correct.Embedded})
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != test.want || len(got.Edits) != test.edits || got.By != correct.Embedded {
			t.Errorf("%s: corrected to %q by %+v, want %q by %d edits", name, got.Text, got.Edits, test.want, test.edits)
		}
		if made := remake(t, test.text, got.Edits); strings.TrimSpace(got.Text) != "" && made != got.Text {
			t.Errorf("%s: the edits make %q, the text is %q", name, made, got.Text)
		}
	}
}

// Proves that unknown correctors are refused, that the one that asks a language model is answered by the embedded one
// while there is none that writes, and that it is disabled while the one to ask can't be used.
func TestCorrectors(t *testing.T) {
	t.Parallel()
	broken := llmtest.Only{Err: fault.Invalid()}
	for name, test := range map[string]struct {
		models llm.Models
		kind   fault.Kind // of the refusal; 0 for none
		about  bool       // the description says who answers
	}{
		"no model":       {nil, 0, true},
		"embedded model": {with(llmtest.Fixed{}, true), 0, true},
		"a model":        {with(llmtest.Fixed{Text: `{"corrections":[]}`}, false), 0, false},
		"a broken model": {broken, fault.KindInvalid, false},
	} {
		s := service(t, test.models)
		all, err := s.Correctors(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != correct.Embedded || all[1].Name != correct.ByModel || !all[0].Enabled {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		if all[1].Enabled != (test.kind == 0) || strings.Contains(all[1].Description, correct.Embedded) != test.about {
			t.Errorf("%s: %+v", name, all[1])
		}
		for _, unknown := range []string{"", "other"} {
			if _, err := s.Correct(t.Context(), correct.Correction{Text: "a", Sources: valve, Corrector: unknown}); !fault.Is(err, fault.KindInvalid) {
				t.Errorf("corrector %q: error is %v, want invalid", unknown, err)
			}
		}
		got, err := s.Correct(t.Context(), correct.Correction{Text: "Cats sleep all day long.", Sources: valve, Corrector: correct.ByModel})
		switch {
		case test.kind != 0:
			if !fault.Is(err, test.kind) {
				t.Errorf("%s: error is %v", name, err)
			}
		case err != nil || got.By != correct.ByModel || test.about != (got.Text == ""):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
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
		s := service(t, with(llmtest.Fixed{Text: test.answer}, false))
		got, err := s.Correct(t.Context(), correct.Correction{Text: text, Sources: []string{"The valve opens at 3 bar."}, Corrector: correct.ByModel})
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != test.want || len(got.Edits) != test.edits || got.By != correct.ByModel {
			t.Errorf("%s: corrected to %q by %+v, want %q by %d edits", name, got.Text, got.Edits, test.want, test.edits)
		}
		if made := remake(t, text, got.Edits); got.Text != "" && made != got.Text {
			t.Errorf("%s: the edits make %q, the text is %q", name, made, got.Text)
		}
	}
	for name, test := range map[string]struct {
		model llmtest.Fixed
		want  fault.Kind
	}{
		"prose":   {llmtest.Fixed{Text: "All fine."}, fault.KindUpstream},
		"no list": {llmtest.Fixed{Text: `{"score":0.4}`}, fault.KindUpstream},
		"timeout": {llmtest.Fixed{Err: &llm.Error{Failure: llm.TimedOut}}, fault.KindTimeout},
	} {
		s := service(t, with(test.model, false))
		if _, err := s.Correct(t.Context(), correct.Correction{Text: text, Sources: valve, Corrector: correct.ByModel}); !fault.Is(err, test.want) {
			t.Errorf("%s: error is %v, want kind %v", name, err, test.want)
		}
	}
}
