package retrieve

import (
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/embed"
	"quarry/internal/opt"
)

// TestRoles proves in which role the encoder reads a query: what the source says, else what the corpus says; and that
// documents_are_questions changes nothing here.
func TestRoles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name               string
		answers, questions bool // of the corpus
		response, query    bool // semantics of the source
		want               embed.Kind
	}{
		{"nothing said", false, false, false, false, embed.Question},
		{"semantics query", false, false, false, true, embed.Question},
		{"semantics response", false, false, true, false, embed.Answer},
		{"queries are answers", true, false, false, false, embed.Answer},
		{"queries are answers, semantics query", true, false, false, true, embed.Question},
		{"queries are answers, semantics response", true, false, true, false, embed.Answer},
		{"documents are questions", false, true, false, false, embed.Question},
	} {
		encoders, err := embed.NewRegistry()
		if err != nil {
			t.Fatal(err)
		}
		asked := &documenttest.Encoder{}
		encoders.Decorate(func(embed.Encoder) embed.Encoder { return asked })
		s := &Service{encoders: encoders, engine: fixed{}}
		c := corpus.Corpus{EncoderName: embed.DefaultName, QueriesAreAnswers: tc.answers, DocumentsAreQuestions: tc.questions}
		src := Source{Lambda: opt.Some(DefaultLambda), Response: tc.response, Question: tc.query}
		s.corpora = single{c}
		if _, err := s.plan(t.Context(), Query{Text: "why", Sources: []Source{src}}); err != nil {
			t.Fatal(err)
		}
		if _, kind, _ := asked.Asked(); kind != tc.want {
			t.Errorf("%s: read as %v, want %v", tc.name, kind, tc.want)
		}
	}
}
