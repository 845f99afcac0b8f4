package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quarry/internal/llm"
)

// accepts holds a JSON value to a schema, formats included.
func accepts(t *testing.T, schema, value json.RawMessage) {
	t.Helper()
	s, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("s.json", s); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(value)))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	if err := compiled.Validate(v); err != nil {
		t.Errorf("%s: %v", value, err)
	}
}

func filled(t *testing.T, schema string, evidence []llm.Evidence) map[string]any {
	t.Helper()
	out := complete(t, llm.Request{Question: "Tell me about the Golden Gate Bridge", Evidence: evidence, Format: &llm.Format{Type: "json_schema", Schema: json.RawMessage(schema)}})
	accepts(t, json.RawMessage(schema), json.RawMessage(out.Text))
	var v map[string]any
	_ = json.Unmarshal([]byte(out.Text), &v) // a value that is no object has no members
	return v
}

// Proves that members are filled with what the passages say of them.
func TestFillsFromEvidence(t *testing.T) {
	t.Parallel()
	got := filled(t, `{"type":"object","properties":{
		"answer":{"type":"string"},
		"opening_date":{"type":"string","format":"date","description":"day on which the bridge opened to traffic"},
		"main_span_length":{"type":"integer","description":"length of the main span in metres"},
		"year_opened":{"type":"integer","description":"year in which the bridge opened to traffic"},
		"designer":{"type":"string","description":"who designed the bridge"},
		"colour":{"enum":["grey","international orange","green"],"description":"colour of the bridge"},
		"bread":{"type":"object","properties":{"needs":{"type":"string","description":"what sourdough bread needs"}}}
	},"required":["answer","opening_date","main_span_length","designer","colour"],"additionalProperties":false}`, passages())
	for name, want := range map[string]any{"opening_date": "1937-05-27", "main_span_length": 1280.0, "year_opened": 1937.0, "designer": "Joseph Strauss", "colour": "international orange"} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if answer, _ := got["answer"].(string); !strings.Contains(answer, "Golden Gate") {
		t.Errorf("the answer is %q", answer)
	}
}

// Proves that what is required is there and valid whatever the schema, with evidence and without.
func TestFillIsValid(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{}`, `true`, `{"type":"string","minLength":5,"maxLength":9}`, `{"type":"array","items":{"type":"integer"},"minItems":2}`, `{"type":"boolean"}`, `{"type":"null"}`,
		`{"type":"number","minimum":3,"maximum":4}`, `{"type":"integer","exclusiveMinimum":3,"multipleOf":7}`, `{"const":{"a":1}}`, `{"enum":[null,1,"x"]}`,
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"integer","minimum":10000000},{"type":"null"}]}}}`,
		`{"type":"object","required":["x"],"properties":{"x":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"next":{"$ref":"#/$defs/node"}}}}}`,
		`{"type":"object","required":["p","d","t","e","u","i"],"properties":{"p":{"type":"string","pattern":"^[A-Z]{3}-\\d{2,4}$"},"d":{"type":"string","format":"date"},"t":{"type":"string","format":"date-time"},"e":{"type":"string","format":"email"},"u":{"type":"string","format":"uri"},"i":{"type":"string","format":"uuid"}}}`,
		`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"boolean"}},"required":["b"]}]}`,
		`{"type":"object","required":["list"],"properties":{"list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["fact","source"],"properties":{"fact":{"type":"string"},"source":{"type":"integer","minimum":1}},"additionalProperties":false}}}}`,
		`{"type":"object","required":["tags","sources"],"properties":{"tags":{"type":"array","items":{"enum":["bridge","bread","cars"]}},"sources":{"type":"array","items":{"type":"integer"},"uniqueItems":true,"minItems":2}}}`,
		`{"type":"object","required":["undeclared"]}`,
		`{"oneOf":[{"type":"object","required":["kind"],"properties":{"kind":{"const":"a"}},"additionalProperties":false},{"type":"string","maxLength":0}]}`,
	} {
		for _, e := range [][]llm.Evidence{nil, passages()} {
			filled(t, schema, e)
		}
	}
}

// Proves that an object without a schema holds the answer.
func TestPlainObject(t *testing.T) {
	t.Parallel()
	out := complete(t, llm.Request{Question: "When did the Golden Gate Bridge open to traffic?", Evidence: passages(), Format: &llm.Format{Type: "json_object"}})
	var v struct{ Answer string }
	if err := json.Unmarshal([]byte(out.Text), &v); err != nil || !strings.Contains(v.Answer, "27 May 1937") {
		t.Errorf("%s, error %v", out.Text, err)
	}
}

// FuzzFill proves that no schema breaks the generator and that every answer is JSON.
func FuzzFill(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"integer","multipleOf":0.1}},"required":["a"]}`)
	f.Add(`{"$ref":"#"}`)
	f.Add(`{"anyOf":[{"$ref":"#"}]}`)
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`)
	f.Add(`{"type":"array","minItems":1e9,"items":{"type":"array","minItems":1e9}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		out := complete(t, llm.Request{Question: "What is it?", Evidence: passages()[:1], Format: &llm.Format{Type: "json_schema", Schema: json.RawMessage(schema)}})
		if !json.Valid([]byte(out.Text)) {
			t.Errorf("%q gave %q", schema, out.Text)
		}
	})
}
