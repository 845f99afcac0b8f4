package filter

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestValueJSON proves that a value and a schema come back from JSON as they were.
func TestValueJSON(t *testing.T) {
	t.Parallel()
	all := []Value{
		{}, Int(math.MinInt64), Int(math.MaxInt64), Real(math.Copysign(0, -1)), Real(math.Inf(1)), Real(0.1), Real(5e-324), Text(""), Text("ä\x00"),
		Bool(true), Bool(false), List(IntegerList), List(TextList, Text("a"), Text("")), List(RealList, Real(-1.5)),
	}
	for _, v := range all {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got Value
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		same := got.kind == v.kind && got.n == v.n && got.s == v.s && (got.list == nil) == (v.list == nil) && len(got.Elements()) == len(v.Elements())
		for i := range v.Elements() {
			same = same && got.Elements()[i] == v.Elements()[i]
		}
		if !same {
			t.Errorf("%s: %+v, want %+v", b, got, v)
		}
	}
	for _, bad := range []string{`{"type":"integer","value":"x"}`, `{"type":"nothing"}`, `{"type":"boolean","value":""}`, `7`} {
		if err := json.Unmarshal([]byte(bad), new(Value)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
	s, err := NewSchema([]Attribute{{Document, "n", Integer}, {Part, "is_title", Boolean}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got Schema
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.declared != s.declared || len(got.all) != len(s.all) || !strings.Contains(string(b), `"n"`) {
		t.Errorf("%s: %+v, want %+v", b, got, s)
	}
	if err := json.Unmarshal([]byte(`[{"Name":"n"},{"Name":"n"}]`), &got); err == nil {
		t.Error("a name that is there twice was read")
	}
}
