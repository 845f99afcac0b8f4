package llm_test

import (
	"errors"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// TestNamed proves that the field is added to what says that a model can't be used, and to nothing else.
func TestNamed(t *testing.T) {
	t.Parallel()
	unknown := fault.Invalid()
	unknown.Text = "there is no such model"
	f, ok := fault.As(llm.Named(unknown, "llm_name"))
	if !ok || f.Kind != fault.KindInvalid || f.Fields["llm_name"] != unknown.Text || f.Text != unknown.Text {
		t.Errorf("unknown model: %+v", f)
	}
	for _, other := range []error{nil, errors.New("x"), fault.InvalidField("name", "y"), fault.Limited("a", "b")} {
		if got := llm.Named(other, "llm_name"); got != other {
			t.Errorf("%v became %v", other, got)
		}
	}
}
