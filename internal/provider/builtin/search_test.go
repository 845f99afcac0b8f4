package builtin_test

import (
	"strings"
	"testing"

	"quarry/internal/embed"
	"quarry/internal/llm"
)

// under returns sentences as the service finds them: each a passage of its own, with a vector that has the title in it.
func under(t *testing.T, title string, headings []string, sentences ...string) []llm.Evidence {
	t.Helper()
	encoders, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	e, err := encoders.Get("")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]llm.Evidence, len(sentences))
	texts, vectors := make([]string, len(sentences)), make([][]float32, len(sentences))
	for i, s := range sentences {
		out[i] = llm.Evidence{N: i + 1, Text: s, Title: title, Headings: headings, Score: 0.5}
		texts[i], vectors[i] = strings.Join(append(append([]string{title}, headings...), s), ". "), make([]float32, e.Dim())
	}
	if err := e.Encode(t.Context(), embed.Passage, texts, vectors); err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		out[i].Vector = v
	}
	return out
}

// Proves that under a heading that is the question a sentence is judged by what it says itself.
func TestSentencesAreJudgedWithoutTheirHeading(t *testing.T) {
	t.Parallel()
	const question = "How can I keep snails away from lettuce?"
	evidence := under(t, "Garden", []string{question},
		"Many gardeners know this problem well.",
		"The garden was laid out by a monk.",
		"A ring of sand around the lettuce stops the snails.",
		"Our readers sent us forty letters.")
	got := complete(t, llm.Request{Question: question, Evidence: evidence}).Text
	if !strings.HasPrefix(got, "A ring of sand around the lettuce stops the snails. [3]") {
		t.Errorf("answer %q", got)
	}
}

// Proves that of sentences that say the same the one is quoted whose headings have the subject of the question.
func TestHeadingsTellSentencesApart(t *testing.T) {
	t.Parallel()
	var evidence []llm.Evidence
	for i, about := range []string{"Compressor", "Turbine", "Generator"} {
		e := under(t, "Manual", []string{about}, "Its bearings are greased every "+[]string{"40", "60", "90"}[i]+" days.")
		e[0].N = i + 1
		evidence = append(evidence, e...)
	}
	for i, about := range []string{"compressor", "turbine", "generator"} {
		got := complete(t, llm.Request{Question: "How often are the bearings of the " + about + " greased?", Evidence: evidence}).Text
		if want := evidence[i].Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s: answer %q, want %q first", about, got, want)
		}
	}
}

// Proves for the types of questions that the sentence of the type is the first of the answer, before others that say as much of
// the subject.
func TestTheTypeThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, want, others string }{
		{"When was the mill of Rosenau built?", "The mill of Rosenau was built in 1764.", "The mill of Rosenau was built by the river. Many came to see the mill of Rosenau being built."},
		{"How many grindstones has the mill of Rosenau?", "The mill of Rosenau has three grindstones.", "The mill of Rosenau has grindstones from France. The grindstones of the mill of Rosenau are heavy."},
		{"Who built the mill of Rosenau?", "The mill of Rosenau was built by Jakob Lind.", "The mill of Rosenau was built on sand. Nobody built another mill in Rosenau."},
		{"What is a quern?", "A quern is a mill that is turned by hand.", "Every quern has two stones. In old houses a quern was kept by the door."},
		{"What is the default depth of the queue?", "By default the queue has a depth of 64.", "The default depth of the queue can be changed. The depth of the queue is more than a default."},
		{"How do I clean the sieve?", "Clean the sieve with warm water.", "The clean sieve is hung up. Whether the sieve is clean is seen in the flour."},
		{"Why does the sieve tear?", "The sieve tears because the flour is wet.", "The sieve tears in the middle. When the sieve tears, the flour is coarse."},
	} {
		for _, text := range []string{c.want + " " + c.others, c.others + " " + c.want} {
			got := complete(t, llm.Request{Question: c.question, Evidence: []llm.Evidence{{N: 1, Score: 1, Text: text}}}).Text
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%q: answer %q, want %q first", c.question, got, c.want)
			}
		}
	}
}
