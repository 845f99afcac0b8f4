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

// TestScope proves what is asked: the user's filter as it is, and with --titles one that names headings beside it.
func TestScope(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		scope Scope
		want  any
	}{
		{Scope{}, nil},
		{Scope{Filter: "doc.a = 1 OR doc.b = 2"}, "doc.a = 1 OR doc.b = 2"},
		{Scope{Titles: true}, withTitles},
		{Scope{Titles: true, Filter: "doc.a = 1 OR doc.b = 2"}, "(doc.a = 1 OR doc.b = 2) AND " + withTitles},
		{Scope{Titles: true, Filter: "part.is_title = true"}, "part.is_title = true"},
	} {
		got := tc.scope.Corpora("a, b")
		if len(got) != 2 || got[0]["corpus_key"] != "a" || got[1]["corpus_key"] != "b" || got[0]["metadata_filter"] != tc.want || got[1]["metadata_filter"] != tc.want {
			t.Errorf("%+v: asked %v, want the filter %v", tc.scope, got, tc.want)
		}
	}
}
