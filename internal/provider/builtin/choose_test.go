package builtin_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/llm"
)

// Proves that a sentence that stands out is the whole answer, that a second one is beside it where it has words of the question
// that the first lacks or is about as close, and that the best comes first, wherever it stands.
func TestAsShortAsItCanBe(t *testing.T) {
	t.Parallel()
	garden := []llm.Evidence{
		{N: 1, Score: 0.9, Text: "Mulch keeps the soil moist. Snails hide under wet leaves during the day. Tomatoes are planted in May, after the last frost."},
		{N: 2, Score: 0.8, Text: "Roses are cut in March. Old tools rust."},
	}
	for _, c := range []struct {
		name, question string
		evidence       []llm.Evidence
		want           string
	}{
		{"stands out", "When are tomatoes planted?", garden, "Tomatoes are planted in May, after the last frost. [1]"},
		{"more words", "Which plants follow the last frost in May, and which are roses cut in March?", garden,
			"Tomatoes are planted in May, after the last frost. [1] Roses are cut in March. [2]"},
		{"best first", "When are roses cut?", []llm.Evidence{
			{N: 1, Score: 0.9, Text: "Some roses are cut late. Snails hide under leaves."}, {N: 2, Score: 0.8, Text: "Most roses are cut in March."},
		}, "Most roses are cut in March. [2] Some roses are cut late. [1]"},
	} {
		if got := complete(t, llm.Request{Question: c.question, Evidence: c.evidence}).Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Proves that code is quoted where a way to do something is asked for, and never where a number is, also where there is nothing else.
func TestCodeTellsNoNumber(t *testing.T) {
	t.Parallel()
	code := llm.Evidence{N: 1, Score: 0.9, Text: "const valves = pump.open({\n  valves: 3\n});"}
	prose := llm.Evidence{N: 2, Score: 0.5, Text: "The function pump.open opens three valves."}
	for _, c := range []struct {
		question string
		quoted   int // passage
	}{{"How many valves does pump.open open?", 2}, {"How do I open the valves of the pump with pump.open?", 1}} {
		got := complete(t, llm.Request{Question: c.question, Evidence: []llm.Evidence{code, prose}}).Text
		if first := strings.Index(got, fmt.Sprintf("[%d]", c.quoted)); first < 0 || strings.Contains(got[:first], "[") {
			t.Errorf("%s is answered by %q, want passage %d first", c.question, got, c.quoted)
		}
		if got := complete(t, llm.Request{Question: c.question, Evidence: []llm.Evidence{code}}).Text; strings.Contains(got, "[1]") != (c.quoted == 1) {
			t.Errorf("%s over code alone is answered by %q", c.question, got)
		}
	}
}

// Proves that odd questions over passages, and questions over passages without text, are answered by sentences of the
// passages or by the sentence that there is none, never by an empty text.
func TestOddQuestions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("why does the bridge over the strait carry traffic at night, ", 90)
	for _, question := range []string{"what is the of and to in", "?", "!!!", long, strings.Repeat("Who? ", 1000), "金门大桥什么时候通车？", "Πότε άνοιξε η γέφυρα;", strings.Repeat("🙂", 1250)} {
		for name, evidence := range map[string][]llm.Evidence{"passages": passages(), "no text": {{N: 1}, {N: 2, Text: "\n"}}, "signs": {{N: 1, Text: "((((( ["}}} {
			got := complete(t, llm.Request{Question: question, Evidence: evidence}).Text
			if got == "" {
				t.Errorf("%.30q over %s has an empty answer", question, name)
			}
			if none := complete(t, llm.Request{Question: question}).Text; name != "passages" && got != none {
				t.Errorf("%.30q over %s: %q, want %q", question, name, got, none)
			}
		}
	}
}
