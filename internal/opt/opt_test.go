package opt_test

import (
	"encoding/json"
	"testing"

	"quarry/internal/opt"
)

// TestStates proves that absent, null and a value are distinguished, even for the zero value of T.
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

// TestJSON proves that the states are read from members and written back to them.
func TestJSON(t *testing.T) {
	t.Parallel()
	type body struct {
		F opt.Field[int] `json:"f,omitzero"`
	}
	for text, want := range map[string]opt.Field[int]{`{}`: {}, `{"f":null}`: opt.Null[int](), `{"f":0}`: opt.Some(0), `{"f":7}`: opt.Some(7)} {
		var b body
		if err := json.Unmarshal([]byte(text), &b); err != nil || b.F != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, b.F, err, want)
		}
		if out, err := json.Marshal(b); err != nil || string(out) != text {
			t.Errorf("%s: written as %s, %v", text, out, err)
		}
	}
	var b body
	if err := json.Unmarshal([]byte(`{"f":"x"}`), &b); err == nil {
		t.Error("a string was read as a number")
	}
}

// TestPointers proves how optional members, which are pointers, are read and written.
func TestPointers(t *testing.T) {
	t.Parallel()
	seven := 7
	if got := []opt.Field[int]{opt.From[int](nil), opt.From(&seven)}; got[0] != (opt.Field[int]{}) || got[1] != opt.Some(7) {
		t.Errorf("From: %+v", got)
	}
	if a, b := opt.Deref(nil, 1), opt.Deref(&seven, 1); a != 1 || b != 7 {
		t.Errorf("Deref: %d and %d", a, b)
	}
	if a, b := opt.NonZero(""), opt.NonZero("x"); a != nil || b == nil || *b != "x" {
		t.Errorf("NonZero: %v and %v", a, b)
	}
}
