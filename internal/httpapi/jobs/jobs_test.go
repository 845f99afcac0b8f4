package jobs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentIDs proves which commas separate: every one in a single list, encoded or not; the plain ones where the
// parameter is repeated.
func TestDocumentIDs(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"":                                    nil,
		"async=true":                          nil,
		"document_ids=":                       nil,
		"document_ids=,,":                     nil,
		"document_ids=a":                      {"a"},
		"document_ids=a,b,,a":                 {"a", "b", "a"},
		"document_ids=a%2Cb":                  {"a", "b"},
		"x=1&document_ids=a%2cb,c+d%20e&y":    {"a", "b", "c d e"},
		"document%5Fids=a":                    {"a"},
		"document_ids=a%2Cb&document_ids=c,d": {"a,b", "c", "d"},
		"document_ids=a%2Cb&document_ids=":    {"a,b"},
		"document_ids=%C3%BC%26%3D":           {"ü&="},
		"document_id=a&documents_ids=b":       nil,
	} {
		if diff := cmp.Diff(want, documentIDs(raw)); diff != "" {
			t.Errorf("%s (-want +got): %s", raw, diff)
		}
	}
}
