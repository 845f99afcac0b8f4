package query

import "testing"

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
		if got := documentTitle(tc.document, tc.part); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
