package opt_test

import (
	"testing"

	"quarry/internal/opt"
)

// TestStates proves that absent, null and value are told apart, also for the zero value of T.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		f            opt.Field[string]
		absent, null bool
		value        string
		ok           bool
		or           string
	}{
		{"absent", opt.Field[string]{}, true, false, "", false, "d"},
		{"null", opt.Null[string](), false, true, "", false, "d"},
		{"value", opt.Some("x"), false, false, "x", true, "x"},
		{"empty value", opt.Some(""), false, false, "", true, ""},
	} {
		v, ok := tc.f.Get()
		if v != tc.value || ok != tc.ok || tc.f.IsAbsent() != tc.absent || tc.f.IsNull() != tc.null || tc.f.Or("d") != tc.or {
			t.Errorf("%s: got %q %t, absent %t, null %t, or %q", tc.name, v, ok, tc.f.IsAbsent(), tc.f.IsNull(), tc.f.Or("d"))
		}
	}
}
