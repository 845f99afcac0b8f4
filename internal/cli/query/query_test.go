package query

import (
	"slices"
	"strings"
	"testing"
)

// TestDocumentTitle proves that the title shown is the way from the document to the passage, without repetition.
func TestDocumentTitle(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		document, part map[string]any
		want           string
	}{
		{nil, nil, ""},
		{map[string]any{"title": "Manual"}, map[string]any{"title": "Start"}, "Manual › Start"},
		{map[string]any{"title": "Manual"}, map[string]any{"title": "Cold", "breadcrumb": []any{"Manual", "Start"}}, "Manual › Start › Cold"},
		{map[string]any{"title": 7}, map[string]any{"title": "Start"}, "Start"},
	} {
		if got := Title(tc.document, tc.part); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// TestExcerpt proves that an excerpt is the stretch around the words that are asked for, in whatever form they stand, and that
// the marks fit the words.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("const answer = function (x) { return x } ", 20)
	for _, tc := range []struct {
		name, question, text, lang string
		want                       string // how the excerpt begins
		marked                     []string
	}{
		{"short", "imports of packages", "No group imports upward.", "eng", "No group", []string{"imports"}},
		{"at the end", "zebra constant", filler + "Nothing here. The zebra constants are 4711.", "eng", "… The zebra", []string{"zebra", "constants"}},
		{"in the middle", "zebra", filler + "Here: one ZEBRA! " + filler, "eng", "… ", []string{"ZEBRA"}},
		{"at the beginning", "answer", filler, "eng", "const answer", nil},
		{"most of them", "red zebra", "A zebra. " + filler + "So. A red zebra. " + filler, "eng", "… A red", []string{"red", "zebra"}},
		{"none", "giraffe", filler, "eng", "const answer", []string{}},
		{"German", "Wartung der Pumpen", "Die Pumpe wird jährlich gewartet.", "deu", "Die Pumpe", []string{"Pumpe"}},
		{"no spaces", "日本語", "これは日本語の文章です。", "jpn", "これは", []string{"日本語"}},
		{"nothing asked", "", "Text", "", "Text", []string{}},
		{"empty", "word", "", "eng", "", []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			text := []rune(tc.text)
			got, found := excerpt(text, matches(tc.question, text, tc.lang))
			if !strings.HasPrefix(string(got), tc.want) || len(got) > longest+3 {
				t.Errorf("got %d characters: %s", len(got), string(got))
			}
			if tc.marked == nil {
				return
			}
			marked := []string{}
			for _, m := range found {
				marked = append(marked, string(got[m.from:m.to]))
			}
			if !slices.Equal(marked, tc.marked) {
				t.Errorf("marked %q, want %q", marked, tc.marked)
			}
		})
	}
}

// TestScope proves that titles are left out first, with the user's own filter kept whole, and that what the user wrote has the
// last word.
func TestScope(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		scope Scope
		found int
		want  []any // the filters that are asked
	}{
		{"found", Scope{}, 1, []any{noTitles}},
		{"nothing found", Scope{}, 0, []any{noTitles, nil}},
		{"own filter", Scope{Filter: "doc.a = 1 OR doc.b = 2"}, 1, []any{"(doc.a = 1 OR doc.b = 2) AND " + noTitles}},
		{"own filter finds nothing", Scope{Filter: "doc.a = 1"}, 0, []any{"(doc.a = 1) AND " + noTitles, "doc.a = 1"}},
		{"asked for", Scope{Titles: true}, 0, []any{nil}},
		{"filtered by the user", Scope{Filter: "part.is_title = true"}, 0, []any{"part.is_title = true"}},
	} {
		var got []any
		err := tc.scope.Ask("a, b", func(corpora []map[string]any) (int, error) {
			if len(corpora) != 2 || corpora[1]["corpus_key"] != "b" || corpora[0]["metadata_filter"] != corpora[1]["metadata_filter"] {
				t.Errorf("%s: asked %v", tc.name, corpora)
			}
			got = append(got, corpora[0]["metadata_filter"])
			return tc.found, nil
		})
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: asked %q (%v), want %q", tc.name, got, err, tc.want)
		}
	}
}
