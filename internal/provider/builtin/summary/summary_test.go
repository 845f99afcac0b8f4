package summary_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/internal/llm"
	"quarry/internal/provider/builtin/summary"
)

func whatever([]summary.Sentence) bool { return true }

func choose(document []llm.Evidence, language string) (out []string) {
	chosen, _ := summary.Choose(document, language, whatever)
	for _, s := range chosen {
		out = append(out, s.Text)
	}
	return out
}

// manual is a document of sections with a title, a table and sentences about pumps, the second of each section the most central.
func manual(sections int) []llm.Evidence {
	var out []llm.Evidence
	for i := range sections {
		thing := []string{"filter", "motor", "valve", "gasket", "hose", "tank", "sensor", "bearing", "cable"}[i%9]
		out = append(out,
			llm.Evidence{Text: "The " + thing + " of the pump and of each other pump.", Label: true, Section: i},
			llm.Evidence{Text: fmt.Sprintf("Colours%d of%d walls%d please%d visitors%d.", i, i, i, i, i), Section: i},
			llm.Evidence{Text: fmt.Sprintf("The %s of pump %d is replaced by the service team of the pump.", thing, i), Section: i},
			llm.Evidence{Text: fmt.Sprintf("Weather%d differs%d between%d distant%d cities%d.", i, i, i, i, i), Section: i},
			llm.Evidence{Text: "Name: " + thing + "; Interval: the service team replaces the pump.", Label: true, Section: i},
		)
	}
	return out
}

// TestChoosesCentralSentences proves that a summary has the central sentences of the sections, word for word and in their order, and
// neither titles nor rows.
func TestChoosesCentralSentences(t *testing.T) {
	t.Parallel()
	for sections, want := range map[int]int{3: 3, 5: 5, 7: 7, 30: 7} {
		chosen, cut := summary.Choose(manual(sections), "eng", whatever)
		if len(chosen) != want || cut {
			t.Fatalf("%d sections: %d sentences, cut %v; want %d", sections, len(chosen), cut, want)
		}
		var in []int
		for _, s := range chosen {
			in = append(in, s.Section)
			if text := manual(sections)[s.Passage]; text.Text != s.Text || text.Label {
				t.Errorf("%q is not the sentence of passage %d", s.Text, s.Passage)
			}
			if !strings.Contains(s.Text, "service team") {
				t.Errorf("%d sections: %q has nothing to do with the rest", sections, s.Text)
			}
		}
		if !slices.IsSorted(in) || len(slices.Compact(in)) != want {
			t.Errorf("%d sections: the sentences are of sections %v", sections, in)
		}
	}
}

// TestVectors proves that stored vectors decide where the words do not.
func TestVectors(t *testing.T) {
	t.Parallel()
	var document []llm.Evidence
	for i := range 12 {
		e := llm.Evidence{Text: fmt.Sprintf("Alpha%d beta%d gamma%d delta%d epsilon%d zeta%d eta%d theta%d.", i, i, i, i, i, i, i, i), Vector: make([]float32, 16)}
		e.Vector[i] = 1
		if i == 4 || i == 7 || i == 10 { // near all others
			e.Vector = slices.Repeat([]float32{0.25}, 16)
			e.Vector[i] = 0.3
		}
		document = append(document, e)
	}
	got := choose(document, "eng")
	if len(got) != 3 || !strings.Contains(strings.Join(got, " "), "Alpha4") && !strings.Contains(strings.Join(got, " "), "Alpha7") {
		t.Errorf("chosen: %q", got)
	}
	document[3].Vector = nil
	document[5].Vector = document[5].Vector[:3] // of another encoder
	if got := choose(document, "eng"); len(got) != 3 {
		t.Errorf("with vectors that are missing: %q", got)
	}
}

// TestLimit proves that a summary that has to be short has fewer sentences, and one in any case.
func TestLimit(t *testing.T) {
	t.Parallel()
	bytes := func(n int) func([]summary.Sentence) bool {
		return func(s []summary.Sentence) bool {
			for _, x := range s {
				n -= len(x.Text)
			}
			ok := n >= 0
			for _, x := range s {
				n += len(x.Text)
			}
			return ok
		}
	}
	for room, want := range map[int]int{150: 2, 70: 1, 1: 1} {
		if chosen, cut := summary.Choose(manual(5), "eng", bytes(room)); len(chosen) != want || !cut {
			t.Errorf("room for %d bytes: %d sentences, cut %v; want %d", room, len(chosen), cut, want)
		}
	}
	labels := []llm.Evidence{{Text: "Plan", Label: true}, {Text: "North", Label: true}}
	if chosen, cut := summary.Choose(labels, "eng", bytes(5)); len(chosen) != 1 || !cut {
		t.Errorf("titles alone: %v, cut %v", chosen, cut)
	}
}

// TestDocumentsOfLittle proves what is chosen where there are no sentences to choose from: pieces of text, then titles and rows, and
// nothing that the document does not have.
func TestDocumentsOfLittle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 400)
	for _, c := range []struct {
		name     string
		document []llm.Evidence
		want     []string
	}{
		{"nothing", nil, nil},
		{"signs", []llm.Evidence{{Text: "… —"}}, nil},
		{"one sentence", []llm.Evidence{{Text: "Der Filter wird alle 500 Stunden gewechselt."}}, []string{"Der Filter wird alle 500 Stunden gewechselt."}},
		{"one sentence twice", []llm.Evidence{{Text: "The filter is replaced every year. The filter is replaced every year."}}, []string{"The filter is replaced every year."}},
		{"a sentence under a title", []llm.Evidence{{Text: "Filter", Label: true}, {Text: "The filter is replaced every year."}}, []string{"The filter is replaced every year."}},
		{"titles", []llm.Evidence{{Text: "A", Label: true}, {Text: "B", Label: true}, {Text: "C", Label: true}, {Text: "D", Label: true}}, []string{"A", "B", "C"}},
		{"a list", []llm.Evidence{{Text: "- bread\n- butter"}}, []string{"bread", "butter"}},
		{"its own title again", []llm.Evidence{{Text: "The pump of the hall is old.", Title: "The pump of the hall is old."}, {Text: "The pump is replaced every ten years."}}, []string{"The pump is replaced every ten years."}},
		{"Chinese", []llm.Evidence{{Text: "过滤器每五百小时更换一次。"}}, []string{"过滤器每五百小时更换一次。"}},
	} {
		if got := choose(c.document, "eng"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, text := range choose([]llm.Evidence{{Text: long}}, "eng") {
		if !strings.Contains(long, text) || len(text) > 900 {
			t.Errorf("%d bytes of a text without sentences", len(text))
		}
	}
}

// FuzzChoose proves that whatever is chosen stands in the document, and that it is the same every time.
func FuzzChoose(f *testing.F) {
	for _, seed := range []string{"A pump is old. It is red.\n\nThe tank is new!", "- a\n- b\n1. c", strings.Repeat("ก", 400), "\xff\xfe. x", "## T\n> The pump is a good pump."} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, text string, cutAt int) {
		at := min(max(cutAt, 0), len(text))
		document := []llm.Evidence{{Text: text[:at]}, {Text: text[at:], Section: 1}}
		got := choose(document, "eng")
		for _, s := range got {
			if !strings.Contains(document[0].Text, s) && !strings.Contains(document[1].Text, s) {
				t.Fatalf("%q is not in %q", s, text)
			}
		}
		if len(got) > 7 || !slices.Equal(got, choose(document, "eng")) {
			t.Fatalf("%q: %q", text, got)
		}
	})
}
