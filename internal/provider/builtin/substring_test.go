package builtin_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/embed"
	"quarry/internal/extract"
	"quarry/internal/extract/outline"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
	"quarry/internal/testkit"
	"quarry/internal/text/chunk"
)

// gather returns sections as evidence, in chunks of these sizes, with the headings above and the chunks around them.
func gather(sections []outline.Section, above []string, sizes chunk.Strategy) (out []llm.Evidence) {
	for _, s := range sections {
		headings := above
		if s.Title != "" {
			headings = append(slices.Clone(above), s.Title)
		}
		chunks := chunk.Split(s.Text, sizes)
		for i, c := range chunks {
			e := llm.Evidence{Text: c.Text, Headings: headings}
			if i > 0 {
				e.Before = chunks[i-1].Text
			}
			if i+1 < len(chunks) {
				e.After = chunks[i+1].Text
			}
			out = append(out, e)
		}
		out = append(out, gather(s.Sections, headings, sizes)...)
	}
	return out
}

// Proves that all that is quoted stands in the passage that is cited, byte for byte, over random HTML, Markdown and PDF files as they
// are read, in passages of one sentence and of many; and that an answer is never empty.
func TestQuotesStandInTheirPassage(t *testing.T) {
	t.Parallel()
	known, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	byWords, byMeaning := builtin.New(&embed.Registry{}), builtin.New(known)
	r := rand.New(rand.NewPCG(20, 30))
	questions := []string{
		"How often is the pump cleaned?", "What is the limit of the filter?", "When does the valve open?", "Who closes the bridge?",
		"How do I clean the server?", "Does the cache keep the token?", "Describe the engine, the river and the harbour.", "cache.returns", "What?",
	}
	quoted := map[string]int{}
	for round := range 240 {
		page, sizes := testkit.NewPage(r), []chunk.Strategy{{}, {MaxChars: 700}, {MaxChars: 120}}[round%3]
		for name, data := range map[string][]byte{"a.html": page.HTML(), "a.md": page.Markdown(), "a.pdf": page.PDF()} {
			doc, err := extract.Read(extract.Input{Name: name, Data: data})
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, data)
			}
			evidence := gather(doc.Sections, nil, sizes)
			r.Shuffle(len(evidence), func(i, j int) { evidence[i], evidence[j] = evidence[j], evidence[i] })
			evidence = evidence[:min(10, len(evidence))]
			for i := range evidence {
				evidence[i].N, evidence[i].Score, evidence[i].Title = i+1, 1/float64(1+i), doc.Title
			}
			request, p := llm.Request{Question: questions[r.IntN(len(questions))], Evidence: evidence}, byWords
			if round%24 == 0 {
				p = byMeaning
			}
			quotes, err := p.Quote(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range quotes {
				quoted[name]++
				if q.Text == "" || !strings.Contains(evidence[q.N-1].Text, q.Text) {
					t.Errorf("%s: %q is not in passage %d, %q", name, q.Text, q.N, evidence[q.N-1].Text)
				}
			}
			answer, err := llm.Complete(t.Context(), p, request)
			if err != nil || strings.TrimSpace(answer.Text) == "" {
				t.Errorf("%s: answer %q and %v", name, answer.Text, err)
			}
			if (len(quotes) == 0) != llm.IsNoAnswer(answer.Text) {
				t.Errorf("%s: %d quotations, and the answer %q", name, len(quotes), answer.Text)
			}
		}
	}
	for _, name := range []string{"a.html", "a.md", "a.pdf"} {
		if quoted[name] < 100 {
			t.Errorf("%s: %d quotations prove little", name, quoted[name])
		}
	}
}

// Proves that each bad passage with each bad question ends in pieces of the passage or in the sentence that there is no answer, and
// never in an empty text, whether passages come alone or together.
func TestBadPassagesAndQuestions(t *testing.T) {
	t.Parallel()
	passages := map[string]string{
		"word":     strings.Repeat("bridge ", 10_000),
		"brackets": strings.Repeat("([{", 10_000),
		"closed":   strings.Repeat("([{}])", 10_000),
		"emoji":    strings.Repeat("😀", 10_000),
		"endless":  strings.Repeat("the bridge over the river opened and ", 5_000),
		"megabyte": strings.Repeat("The bridge opened to traffic in 1937. ", 1<<20/38),
		"line":     strings.Repeat("w", 1<<20),
		"quotes":   strings.Repeat(`"the bridge" `, 10_000),
		"empty":    "",
		"blank":    " \n\t\u00a0",
		"broken":   strings.Repeat("The bridge \xff opened\x00 in 1937. ", 100),
		"turned":   strings.Repeat("\u202eThe bridge opened in 1937.\u202c\u200b ", 100),
	}
	questions := []string{
		"When did the bridge open?", "what is the of and to in", "?", "", "([{", "😀", strings.Repeat("why does the bridge carry traffic, ", 143),
		strings.Repeat("w", 5000), strings.Repeat("When? ", 833), "金门大桥什么时候通车？", "Πότε άνοιξε η γέφυρα;", "когда открылся мост", "bridge\x00\xff",
	}
	p := builtin.New(&embed.Registry{})
	check := func(name, question string, evidence []llm.Evidence) {
		t.Helper()
		request := llm.Request{Question: question, Evidence: evidence}
		quotes, err := p.Quote(t.Context(), request)
		if err != nil {
			t.Fatalf("%s, %.40q: %v", name, question, err)
		}
		for _, q := range quotes {
			if strings.TrimSpace(q.Text) == "" || !strings.Contains(evidence[q.N-1].Text, q.Text) {
				t.Errorf("%s, %.40q: quotes %.80q", name, question, q.Text)
			}
		}
		answer, err := llm.Complete(t.Context(), p, request)
		if err != nil || strings.TrimSpace(answer.Text) == "" || len(answer.Text) > 8<<10 {
			t.Errorf("%s, %.40q: an answer of %d bytes and %v", name, question, len(answer.Text), err)
		}
	}
	for _, question := range questions {
		var all []llm.Evidence
		for _, name := range slices.Sorted(maps.Keys(passages)) {
			text := passages[name]
			check(name, question, []llm.Evidence{{N: 1, Score: 1, Text: text}})
			all = append(all, llm.Evidence{N: len(all) + 1, Score: 1, Text: text})
		}
		check("all", question, all)
	}
}
