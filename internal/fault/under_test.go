package fault_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"quarry/internal/fault"
)

// TestUnder proves that field paths follow the place that a caller knows, by whole names, through every nesting.
func TestUnder(t *testing.T) {
	t.Parallel()
	names := fault.Names{"rights": "corpus_roles", "rights[0].key": "first_key", "name": "username"}
	for _, tc := range []struct{ place, path, want string }{
		{"body", "limit", "body.limit"},
		{"body", "", "body"},
		{"body.sources", "[2].filter", "body.sources[2].filter"},
		{"", "limit", "limit"},
		{"body", "name", "body.username"},
		{"body", "names", "body.names"},
		{"body", "rights", "body.corpus_roles"},
		{"body", "rights[1].role", "body.corpus_roles[1].role"},
		{"body", "rights[0].key", "body.first_key"},
		{"body", "other.name", "body.other.name"},
	} {
		err := fault.Under(fault.InvalidField(tc.path, "is wrong"), tc.place, names)
		f, _ := fault.As(err)
		if want := map[string]string{tc.want: "is wrong"}; !maps.Equal(f.Fields, want) {
			t.Errorf("%q under %q: %v, want %v", tc.path, tc.place, f.Fields, want)
		}
	}
}

// TestUnderKeepsTheRest proves that kind, texts and cause are kept, that the original fault is not modified, and that
// other errors are returned unchanged.
func TestUnderKeepsTheRest(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk")
	inner := fault.InvalidField("key", "is taken").Because(cause)
	wrapped := fmt.Errorf("create: %w", inner)
	twice := fault.Under(fault.Under(wrapped, "corpora[1]"), "body.search")
	f, _ := fault.As(twice)
	if f.Kind != fault.KindInvalid || f.Fields["body.search.corpora[1].key"] != "is taken" || !errors.Is(twice, cause) {
		t.Errorf("placed twice: %v", twice)
	}
	if len(inner.Fields) != 1 || inner.Fields["key"] == "" {
		t.Errorf("the fault itself has become %v", inner.Fields)
	}
	for _, err := range []error{nil, cause, error(fault.Forbidden("no"))} {
		if got := fault.Under(err, "body"); got != err {
			t.Errorf("Under(%v) is %v", err, got)
		}
	}
}
