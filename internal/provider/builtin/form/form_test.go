package form_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/provider/builtin/form"
)

// tower is a source whose passage says three things.
var tower = form.Source{
	Question: "How tall is the tower?",
	Answer:   []form.Sentence{{Text: "The tower is 330 metres tall.", N: 2}},
	About: func(string, int) ([]form.Sentence, error) {
		return []form.Sentence{{Text: "The tower is 330 metres tall."}, {Text: "Color: brown"}}, nil
	},
}

// TestFill proves which value each kind of schema gets, found or not.
func TestFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schema string
		from         form.Source
		want         string
	}{
		{"a number", `{"type":"object","properties":{"height":{"type":"integer"}}}`, tower, `{"height":330}`},
		{"a number out of bounds", `{"type":"object","properties":{"height":{"type":"integer","maximum":9}},"required":["height"]}`, tower, `{"height":0}`},
		{"a labelled text", `{"type":"object","properties":{"color":{"type":"string"}}}`, tower, `{"color":"brown"}`},
		{"the answer", `{"type":"object","properties":{"answer":{"type":"string"}}}`, tower, `{"answer":"The tower is 330 metres tall."}`},
		{"a truth value", `{"type":"object","properties":{"tall":{"type":"boolean"}}}`, tower, `{"tall":true}`},
		{"citations", `{"type":"object","properties":{"citations":{"type":"array","items":{"type":"integer"}}}}`, tower, `{"citations":[2]}`},
		{"an enumeration", `{"type":"object","properties":{"x":{"enum":["bridge","tower"]}}}`, tower, `{"x":"tower"}`},
		{"a constant", `{"const":7}`, tower, `7`},
		{"a reference", `{"$ref":"#/$defs/h","$defs":{"h":{"type":"number"}}}`, tower, `330`},
		{"nothing required", `{"type":"object","properties":{"a":{"type":"string"}}}`, form.Source{}, `{}`},
		{"required and not found", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"},"c":{"type":["string","null"]}},"required":["a","b","c"]}`,
			form.Source{}, `{"a":"","b":false,"c":null}`},
		{"a format not found", `{"type":"object","properties":{"a":{"type":"string","format":"date"}},"required":["a"]}`, form.Source{}, `{"a":"0001-01-01"}`},
		{"unique items", `{"type":"array","items":{"type":"integer"},"minItems":2,"uniqueItems":true}`, form.Source{}, `[0,1]`},
		{"a recursion", `{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`, form.Source{}, ``},
	} {
		if !form.Readable(json.RawMessage(c.schema)) {
			t.Fatalf("%s: the schema is not readable", c.name)
		}
		value, err := form.Fill(json.RawMessage(c.schema), "", "", c.from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, string(got)); c.want != "" && d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestMember proves that one property is filled by itself, and that an error of the source comes back.
func TestMember(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"height":{"type":"integer"}}}`)
	if got, err := form.Member(schema, "height", tower); err != nil || got != int64(330) {
		t.Errorf("got %v, %v", got, err)
	}
	broken := errors.New("no encoder")
	if _, err := form.Member(schema, "height", form.Source{About: func(string, int) ([]form.Sentence, error) { return nil, broken }}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the source", err)
	}
	for _, schema := range []string{"", "{", "null"} {
		if form.Readable(json.RawMessage(schema)) {
			t.Errorf("%q is readable", schema)
		}
	}
}
