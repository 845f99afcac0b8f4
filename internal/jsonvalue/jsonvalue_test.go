package jsonvalue_test

import (
	"testing"

	"quarry/internal/jsonvalue"
)

// TestKept proves that a value comes back as it was written, and that what is no JSON is no value.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":[12345678901234567890,1.50,"<&>",null,true]}`, `"ü"`, `0.10`} {
		if got := string(jsonvalue.Encode(jsonvalue.Decode([]byte(text)))); got != text {
			t.Errorf("%s came back as %s", text, got)
		}
	}
	for _, text := range []string{``, `{`, `nul`} {
		if v := jsonvalue.Decode([]byte(text)); v != nil {
			t.Errorf("%q is %v", text, v)
		}
	}
	if got := string(jsonvalue.Encode(func() {})); got != "null" {
		t.Error(got)
	}
}
