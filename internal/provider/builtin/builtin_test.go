package builtin_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
	"quarry/internal/text/sentence"
)

var registry = sync.OnceValues(embed.NewRegistry)

func generator(t testing.TB) *builtin.Provider {
	t.Helper()
	r, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	return builtin.New(r)
}

// passages are evidence about three subjects.
func passages() []llm.Evidence {
	return []llm.Evidence{
		{N: 1, Score: 0.9, Text: "The Golden Gate Bridge spans the strait between San Francisco and Marin County. Its main span is 1,280 metres long. It opened to traffic on 27 May 1937."},
		{N: 2, Score: 0.6, Text: "The bridge was designed by Joseph Strauss, Irving Morrow and Charles Ellis. Its colour is called international orange.[4]"},
		{N: 3, Score: 0.2, Text: "Sourdough bread needs flour, water and salt. The dough rests overnight."},
	}
}

func complete(t testing.TB, r llm.Request) llm.Answer {
	t.Helper()
	out, err := llm.Complete(t.Context(), generator(t), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var mark = regexp.MustCompile(` \[(\d+)\]`)

// Proves that an answer is made of sentences of the passages, each, or two that belong together, followed by the number of the
// passage, the best first and the others in the order of the passages, and that the events are its sentences.
func TestQuotes(t *testing.T) {
	t.Parallel()
	var events []string
	out, err := generator(t).Stream(t.Context(), llm.Request{Question: "Describe the Golden Gate Bridge that opened to traffic in 1937.", Evidence: passages()},
		func(e llm.Event) error { events = append(events, e.Text); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.Text, "It opened to traffic on 27 May 1937. [1]") {
		t.Errorf("answer %q lacks the sentence asked for", out.Text)
	}
	if got := strings.Join(events, ""); got != out.Text {
		t.Errorf("the events say %q, the answer %q", got, out.Text)
	}
	if n := len(sentence.Split(mark.ReplaceAllString(out.Text, ""))); n < 3 || len(events) < 2 {
		t.Errorf("%q has %d sentences in %d quotations, want 3 in 2", out.Text, n, len(events))
	}
	last := 0
	for i, e := range events {
		quoted := strings.TrimSpace(mark.ReplaceAllString(e, ""))
		n := mark.FindStringSubmatch(e)
		if n == nil || !strings.Contains(passages()[n[1][0]-'1'].Text, quoted) {
			t.Errorf("%q is not a sentence of the passage it cites", e)
			continue
		}
		if i == 0 {
			continue
		}
		if int(n[1][0]-'0') < last {
			t.Errorf("the sentences of %q behind the first are not in the order of the passages", out.Text)
		}
		last = int(n[1][0] - '0')
	}
	if out.Reason != llm.Stop || out.Usage.Output == 0 || out.Usage.Input == 0 {
		t.Errorf("reason %q, usage %+v", out.Reason, out.Usage)
	}
}

// Proves that nothing to answer from gives one sentence that says so, in the language asked for or else the question's.
func TestSaysThatThereIsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, language, want string }{
		{"Who wrote it?", "", "The search results do not contain enough information to answer this question."},
		{"Wer hat das geschrieben und warum?", "", "Die Suchergebnisse enthalten nicht genug Informationen, um diese Frage zu beantworten."},
		{"Who wrote it?", "fra", "Les résultats de la recherche ne contiennent pas assez d'informations pour répondre à cette question."},
		{"", "xxx", "The search results do not contain enough information to answer this question."},
	} {
		for _, e := range [][]llm.Evidence{nil, {{N: 1, Text: " "}}, {{N: 1, Text: "…"}}} {
			if got := complete(t, llm.Request{Question: c.question, Language: c.language, Evidence: e}); got.Text != c.want {
				t.Errorf("%q over %d passages: %q, want %q", c.question, len(e), got.Text, c.want)
			}
		}
	}
}

// Proves that an error of emit comes back as it is and a done context as its cause.
func TestEnds(t *testing.T) {
	t.Parallel()
	r := llm.Request{Question: "When did the bridge open?", Evidence: passages()}
	mine := errors.New("mine")
	if _, err := generator(t).Stream(t.Context(), r, func(llm.Event) error { return mine }); err != mine {
		t.Errorf("error %v, want the one of emit", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(mine)
	if _, err := llm.Complete(ctx, generator(t), r); !errors.Is(err, mine) {
		t.Errorf("error %v, want the cause of the context", err)
	}
}

// Proves that the token limit takes sentences away as a whole, says so, and leaves one.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	r := llm.Request{Question: "Tell me about the Golden Gate Bridge", Evidence: passages()}
	whole := complete(t, r)
	for _, limit := range []int{1, 20, int(whole.Usage.Output) - 1, 1000} {
		r.Parameters.MaxTokens = &limit
		out := complete(t, r)
		n := len(mark.FindAllString(out.Text, -1))
		if n == 0 || limit > 20 && out.Usage.Output > int64(limit) || (limit < 1000) != (out.Reason == llm.Length) {
			t.Errorf("limit %d: %d sentences of %d tokens, reason %q: %q", limit, n, out.Usage.Output, out.Reason, out.Text)
		}
	}
}

// Proves that the same request has the same answer, whatever the generator has seen between.
func TestSameAnswer(t *testing.T) {
	t.Parallel()
	p := generator(t)
	r := llm.Request{Question: "What colour is the bridge?", Evidence: passages()}
	first, err := llm.Complete(t.Context(), p, r)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if again, err := llm.Complete(t.Context(), p, r); err != nil || again.Text != first.Text {
			t.Errorf("%q and %q, error %v", first.Text, again.Text, err)
		}
	}
	if !strings.Contains(first.Text, "international orange. [2]") {
		t.Errorf("%q does not hold the answer free of foreign marks", first.Text)
	}
}

// Proves that each question in one gets its sentence, in several languages, and that a question which leans on the one
// before is understood.
func TestEachPartIsAnswered(t *testing.T) {
	t.Parallel()
	german := []llm.Evidence{
		{N: 1, Score: 0.9, Text: "Der Kölner Dom ist eine Kirche in Köln. Der Grundstein des Doms wurde 1248 gelegt. Er gehört zum Welterbe."},
		{N: 2, Score: 0.8, Text: "Das Museum Ludwig liegt beim Dom. Direktor des Museums Ludwig ist Yilmaz Dziewior."},
	}
	for _, c := range []struct {
		question string
		evidence []llm.Evidence
		want     []string
	}{
		{"Who designed the bridge and when did it open to traffic?", passages(), []string{"Joseph Strauss", "27 May 1937"}},
		{"How long is the main span? What does sourdough bread need?", passages(), []string{"1,280 metres", "flour, water and salt"}},
		{"When did the Golden Gate Bridge open to traffic; what is its colour called?", passages(), []string{"27 May 1937", "international orange"}},
		{"Wann wurde der Grundstein des Doms gelegt und wer ist Direktor des Museums Ludwig?", german, []string{"1248", "Dziewior"}},
	} {
		got := complete(t, llm.Request{Question: c.question, Evidence: c.evidence}).Text
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q: %q lacks %q", c.question, got, want)
			}
		}
	}
}

// Proves that a question in a passage is not quoted for an answer, and that what follows it is.
func TestQuestionsAreNoAnswers(t *testing.T) {
	t.Parallel()
	got := complete(t, llm.Request{Question: "How do I reset my password?", Evidence: []llm.Evidence{
		{N: 1, Score: 0.7, Text: "How do I reset my password? Open the settings and press the button. How do I log in? Type your name."},
		{N: 2, Score: 0.5, Text: "Reset my password"},
	}}).Text
	if !strings.Contains(got, "Open the settings and press the button. [1]") || strings.Contains(got, "?") || strings.Contains(got, "[2]") {
		t.Errorf("answer %q", got)
	}
}

// Proves that titles and summaries of tables are not quoted while a passage says something, and that an item is quoted
// without its sign.
func TestLabelsAreNoAnswers(t *testing.T) {
	t.Parallel()
	got := complete(t, llm.Request{Question: "What do the seals of secrets at rest mean?", Evidence: []llm.Evidence{
		{N: 1, Score: 0.9, Text: "0022 Seals of secrets at rest and what they mean", Title: "0022 Seals of secrets at rest and what they mean"},
		{N: 2, Score: 0.9, Text: "Table with 9 rows and the columns seals, secrets, at rest, mean.", Label: true},
		{N: 3, Score: 0.8, Text: "What the seals of all the secrets that rest here may mean\n\nEvery seal is broken once.", Label: true},
		{N: 4, Score: 0.8, Text: "The keys:\n- The seals of secrets at rest mean that a key is needed.\n- Others mean nothing."},
	}}).Text
	if !strings.Contains(got, "The seals of secrets at rest mean that a key is needed. [4]") || strings.Contains(got, "- ") ||
		strings.Contains(got, "0022") || strings.Contains(got, "Table") {
		t.Errorf("answer %q", got)
	}
}

// Proves that what has no end of a sentence, such as a row of a table, ends with its line.
func TestRowsEndWithTheirLine(t *testing.T) {
	t.Parallel()
	got := complete(t, llm.Request{Question: "Describe pump and valve.", Evidence: []llm.Evidence{
		{N: 1, Score: 0.9, Text: "part: pump; cost: 45 EUR; place: the store in Oslo"},
		{N: 2, Score: 0.9, Text: "part: valve; cost: 12 EUR; place: the store in Bergen"},
		{N: 3, Score: 0.9, Text: "pump and valve cost 57 EUR."},
	}}).Text
	if want := "pump and valve cost 57 EUR. [3]\n\npart: pump; cost: 45 EUR; place: the store in Oslo [1]\n\npart: valve; cost: 12 EUR; place: the store in Bergen [2]"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	got = complete(t, llm.Request{Question: "What do pump and valve cost?", Evidence: []llm.Evidence{
		{N: 1, Score: 0.9, Text: "The pump costs 45 EUR."}, {N: 2, Score: 0.9, Text: "valve: costs 12 EUR."},
	}}).Text
	if want := "The pump costs 45 EUR. [1]\n\nvalve: costs 12 EUR. [2]"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

// Proves that hostile and huge input ends in an answer of whole characters, and that sentences beyond what is read are
// left out.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no stops":     strings.Repeat("bridge traffic ", 10_000),
		"one word":     strings.Repeat("bridge", 20_000),
		"broken bytes": "The bridge opened \xff\xfe in 1937.\x00 Fine.",
		"marks only":   strings.Repeat("[1] [2, 3] ", 1000),
		"mark inside":  "The bridge [2] opened to traffic [3] in the year 1937 [1].",
		"many":         strings.Repeat("The bridge opened to traffic in 1937. ", 30_000),
		"Chinese":      strings.Repeat("大桥于一九三七年通车。", 3000),
	} {
		e := []llm.Evidence{{N: 1, Score: 1e300, Text: text}, {N: 2, Score: -1, Text: text}, {N: 3, Text: "The bridge opened to traffic in 1937.", Vector: []float32{1}}}
		out := complete(t, llm.Request{Question: "When did the bridge open to traffic?" + strings.Repeat(" ?", 2000), Evidence: e})
		for _, s := range mark.Split(strings.TrimSuffix(out.Text, " "), -1) {
			if s = strings.TrimSpace(s); !strings.Contains(text, s) && !strings.Contains(e[2].Text, s) {
				t.Errorf("%s: %q is in no passage", name, s)
			}
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	r, err := registry()
	if err != nil {
		b.Fatal(err)
	}
	var e []llm.Evidence
	for i := range 10 {
		for _, p := range passages() {
			e = append(e, llm.Evidence{N: len(e) + 1, Score: p.Score / float64(1+i), Text: strings.ReplaceAll(p.Text, "Bridge", strings.Repeat("x", i)+"Bridge")})
		}
	}
	request := llm.Request{Question: "When did the Golden Gate Bridge open to traffic?", Evidence: e}
	b.Run("kept", func(b *testing.B) {
		p := builtin.New(r)
		for b.Loop() {
			if _, err := llm.Complete(b.Context(), p, request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			if _, err := llm.Complete(b.Context(), builtin.New(r), request); err != nil {
				b.Fatal(err)
			}
		}
	})
}
