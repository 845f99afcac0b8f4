package rephrase_test

import (
	"strings"
	"testing"

	"quarry/internal/answer/generate"
	"quarry/internal/query/rephrase"
)

func asked(questions ...string) []generate.Exchange {
	out := make([]generate.Exchange, len(questions))
	for i, q := range questions {
		out[i] = generate.Exchange{Question: q, Answer: "Some answer about Norway."}
	}
	return out
}

func TestLean(t *testing.T) {
	// Proves which questions take the words of the one before, in several languages, and which are searched as they are.
	t.Parallel()
	const filter = "How often is the filter of the pump replaced?"
	for _, c := range []struct {
		before   []string
		question string
		want     string
	}{
		{nil, "Why?", "Why?"},
		{[]string{filter}, "And in winter?", "And in winter? often filter pump replaced"},
		{[]string{filter}, "Why?", "Why? often filter pump replaced"},
		{[]string{filter}, "How much does it cost?", "How much does it cost? often filter pump replaced"},
		{[]string{filter}, "How often is it replaced in winter?", "How often is it replaced in winter? filter pump"},
		{[]string{filter}, "What about the red pump?", "What about the red pump? often filter replaced"},
		{[]string{filter}, "Can you explain that in more detail, please?", "Can you explain that in more detail, please? often filter pump replaced"},
		{[]string{filter}, "What is the price?", "What is the price? often filter pump replaced"},
		// in a row
		{[]string{filter, "And in winter?"}, "Why?", "Why? winter often filter pump replaced"},
		{[]string{"Who wrote Hamlet?", filter, "And in winter?"}, "Why is it so?", "Why is it so? winter often filter pump replaced"},
		{[]string{filter, "And in winter?", "How much does it cost?"}, "Where can I get one?", "Where can I get one? cost often filter pump replaced"},
		{[]string{filter, "thanks", "?"}, "Why?", "Why? often filter pump replaced"},
		// of what was told, the question
		{[]string{"My pump stands in the cellar. How often is its filter replaced?"}, "And in winter?", "And in winter? often filter replaced"},
		{[]string{"My pump stands in the cellar. Why?"}, "Since when?", "Since when? pump stands cellar"},
		{[]string{`What is <b>"noise"</b> in (pumps)?`}, "Why?", "Why? b noise pumps"},
		// enough words of their own
		{[]string{filter}, "Which canteen do I have?", "Which canteen do I have?"},
		{[]string{filter}, "Who wrote Hamlet?", "Who wrote Hamlet?"},
		{[]string{filter}, "What is the capital of France?", "What is the capital of France?"},
		{[]string{filter}, "How do I reset my password?", "How do I reset my password?"},
		{[]string{filter}, "Does its warranty cover broken glass parts?", "Does its warranty cover broken glass parts?"},
		{[]string{filter}, filter, filter},
		// other languages
		{[]string{"Wie oft wird der Filter der Pumpe gewechselt?"}, "Und im Winter?", "Und im Winter? oft Filter Pumpe gewechselt"},
		{[]string{"Wie oft wird der Filter der Pumpe gewechselt?"}, "Wer hat den Faust geschrieben?", "Wer hat den Faust geschrieben?"},
		{[]string{"Combien coûte une chambre à Oslo ?"}, "Et à Bergen ?", "Et à Bergen ? coûte chambre Oslo"},
		{[]string{"¿Cuánto cuesta una habitación en Oslo?"}, "¿Y en Bergen?", "¿Y en Bergen? cuesta habitación Oslo"},
		{[]string{"Как часто меняют фильтр насоса?"}, "А зимой?", "А зимой? часто меняют фильтр насоса"},
		{[]string{"水泵的过滤器多久更换一次？"}, "冬天呢？", "冬天呢？ 水泵的过滤器多久更换一次"},
		{[]string{"水泵的过滤器多久更换一次？"}, "法国的首都是哪个城市？", "法国的首都是哪个城市？"},
		{[]string{"ポンプのフィルターはどのくらいの頻度で交換しますか？"}, "冬はどう？", "冬はどう？ ポンプのフィルターはどのくらいの頻度で交換しますか"},
	} {
		if got := rephrase.Lean(c.question, asked(c.before...)); got != c.want {
			t.Errorf("%q after %q: %q, want %q", c.question, c.before, got, c.want)
		}
	}
}

func TestLeanBounds(t *testing.T) {
	// Proves that a long question before gives its rarest words alone, and that a question never grows beyond its bound.
	t.Parallel()
	long := strings.Repeat("The city and the people of the country have water. ", 20) + "How does photosynthesis in chloroplasts depend on magnesium?"
	got := rephrase.Lean("And in winter?", asked(long))
	if !strings.Contains(got, "photosynthesis") || !strings.Contains(got, "magnesium") || len(strings.Fields(got)) > 3+12 {
		t.Errorf("%q", got)
	}
	word := strings.Repeat("x", 4990)
	if got := rephrase.Lean(word, asked("How often is the filter replaced?")); got != word {
		t.Errorf("%d characters", len(got))
	}
}
