package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quarry/internal/api"
	"quarry/internal/fault"
)

// The tests of this file are inside the package: the walk over schemas has no other way in for every schema.

func contractSchemas(t testing.TB) (*Schemas, map[string]map[string]any) {
	t.Helper()
	s, err := newSchemas(api.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	var docs map[string]map[string]any
	if err := json.Unmarshal(api.Schemas, &docs); err != nil {
		t.Fatal(err)
	}
	return s, docs
}

func TestCheckKnowsEveryKeyword(t *testing.T) {
	// Proves that the contract's schemas hold no keyword that check would pass over in silence.
	t.Parallel()
	known := strings.Fields("$ref additionalProperties allOf const enum format if then items maxItems maxLength maxProperties " +
		"$comment maximum minItems minLength minProperties minimum not oneOf pattern patternProperties properties required type writeOnly")
	_, docs := contractSchemas(t)
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case []any:
			for _, part := range v {
				walk(name, part)
			}
		case map[string]any:
			for keyword, under := range v {
				switch {
				case keyword == "$comment" && under != takesMask && under != repeats && under != noNull:
					t.Errorf("%s has the comment %q", name, under)
				case !slices.Contains(known, keyword):
					t.Errorf("%s has the keyword %s", name, keyword)
				case keyword == "properties" || keyword == "patternProperties":
					for _, part := range under.(map[string]any) {
						walk(name, part)
					}
				case keyword != "const" && keyword != "enum" && keyword != "$comment":
					walk(name, under)
				}
			}
		}
	}
	for name, doc := range docs {
		walk(name, doc)
	}
}

func TestCheckAgreesWithTheLibrary(t *testing.T) {
	// Proves that check takes and refuses the same values as the library that compiles the schemas, for values made at
	// random from each schema, some of them spoilt. A null that stands for a member left out is gone after the check.
	t.Parallel()
	s, docs := contractSchemas(t)
	m := maker{docs, rand.New(rand.NewPCG(1, 2))}
	taken, refused := 0, 0
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		sch, err := s.get(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			raw, err := json.Marshal(m.value(docs[name], 0))
			if err != nil {
				t.Fatal(err)
			}
			v, err := Parse(raw, "body")
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			bad := fault.Invalid()
			if _, err := s.Check(name, v, "body", bad); err != nil {
				t.Fatal(err)
			}
			want := sch.Validate(v) == nil // without the nulls that stood for members left out
			if got := len(bad.Fields) == 0; got != want {
				t.Fatalf("%s: check takes it: %v, the library: %v\n%s\n%v", name, got, want, raw, bad)
			}
			if want {
				taken++
			} else {
				refused++
			}
		}
	}
	if taken < 5000 || refused < 5000 {
		t.Errorf("%d values taken, %d refused: too few of a kind to prove anything", taken, refused)
	}
}

func TestForms(t *testing.T) {
	// Proves what is told of a value that fits none of several forms: what is wrong with the one for values of its type, the types of
	// all if there is none, also where they stand behind references, and no reasons that contradict one another.
	t.Parallel()
	form := `{"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}`
	s, err := newSchemas([]byte(`{"Form": ` + form + `, "Forms": {"oneOf": [{"$ref": "` + api.SchemaURL("Form") + `"}, {"type": "null"}]},
		"Union": {"oneOf": [{"type": "string"}, {"$ref": "` + api.SchemaURL("Forms") + `"}]},
		"Twins": {"oneOf": [` + form + `, {"type": "object", "required": ["key"]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ schema, value, field, want string }{
		{"Union", `"text"`, "", ""},
		{"Union", `{"id": "x"}`, "", ""},
		{"Union", `5`, "body", "must be null or a string or an object, not the number 5"},
		{"Union", `{}`, "body.id", "is required"},
		{"Forms", `"text"`, "body", "must be null or an object, not a string"},
		{"Twins", `{}`, "body", "has none of the forms that are accepted here"},
		{"Twins", `[]`, "body", "must be an object, not an array"},
	} {
		v, err := Parse([]byte(c.value), "body")
		if err != nil {
			t.Fatal(err)
		}
		bad := fault.Invalid()
		if _, err := s.Check(c.schema, v, "body", bad); err != nil {
			t.Fatal(err)
		}
		if len(bad.Fields) != min(len(c.field), 1) || bad.Fields[c.field] != c.want {
			t.Errorf("%s as %s: %v, want %s %s", c.value, c.schema, bad.Fields, c.field, c.want)
		}
	}
}

// maker generates values that often fit a schema, and often just not.
type maker struct {
	docs map[string]map[string]any
	*rand.Rand
}

func (m maker) value(doc any, depth int) any {
	s, ok := doc.(map[string]any)
	if !ok || m.IntN(25) == 0 || depth > 12 {
		return m.any(depth)
	}
	out := m.one(s, depth)
	object, isObject := out.(map[string]any)
	for _, keyword := range []string{"allOf", "then"} {
		parts, _ := s[keyword].([]any)
		if keyword == "then" && s[keyword] != nil {
			parts = []any{s[keyword]}
		}
		if len(parts) == 0 {
			continue
		}
		part := parts[m.IntN(len(parts))].(map[string]any)
		more := m.value(part, depth+1)
		mores, isMap := more.(map[string]any)
		if !isObject || !isMap {
			if s["type"] == nil && s["properties"] == nil {
				out = more
			}
			continue
		}
		maps.Copy(object, mores)
		if cond, ok := part["if"].(map[string]any); ok { // a union: take the value that chooses this form
			chosen, _ := cond["properties"].(map[string]any)
			for name, p := range chosen {
				if c, ok := p.(map[string]any)["const"]; ok {
					object[name] = c
				}
			}
		}
	}
	return out
}

func (m maker) one(s map[string]any, depth int) any {
	if ref, ok := s["$ref"].(string); ok {
		return m.value(m.docs[strings.TrimPrefix(ref, "schema:")], depth+1)
	}
	if forms, ok := s["oneOf"].([]any); ok {
		return m.value(forms[m.IntN(len(forms))], depth+1)
	}
	if listed, ok := s["enum"].([]any); ok {
		return listed[m.IntN(len(listed))]
	}
	kind, _ := s["type"].(string)
	if kinds, ok := s["type"].([]any); ok {
		kind = kinds[m.IntN(len(kinds))].(string)
	}
	switch {
	case kind == "object" || s["properties"] != nil:
		return m.object(s, depth)
	case kind == "array":
		out := []any{}
		for range m.IntN(3) {
			out = append(out, m.value(s["items"], depth+1))
		}
		return out
	case kind == "integer" || kind == "number":
		low, _ := s["minimum"].(float64)
		high, bounded := s["maximum"].(float64)
		if !bounded {
			high = low + 10
		}
		return json.Number([]string{fmt.Sprintf("%.0f", low), fmt.Sprintf("%.0f", high), "1", "1.5", "10.0", "1e2", "-1"}[m.IntN(7)])
	case kind == "string":
		return []string{"a", "", "k-1", "crp_12", "job_1", "2031-04-02T08:00:00Z", "a@b.test", "https://a.test/b", "ä ö", strings.Repeat("ü", 51), strings.Repeat("x", 5001)}[m.IntN(11)]
	case kind == "boolean":
		return m.IntN(2) == 0
	case kind == "null":
		return nil
	}
	return m.any(depth)
}

func (m maker) object(s map[string]any, depth int) any {
	out := map[string]any{}
	required, _ := s["required"].([]any)
	props, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		odds := 4 + depth
		if slices.Contains(required, any(name)) {
			odds = 1
		}
		if m.IntN(odds) == 0 && m.IntN(20) > 0 {
			out[name] = m.value(props[name], depth+1)
		}
	}
	if m.IntN(8) == 0 {
		out["something_else"] = m.any(depth)
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok && m.IntN(2) == 0 {
		out["k"] = m.value(more, depth+1)
	}
	return out
}

func (m maker) any(depth int) any {
	return []any{nil, true, "text", "", json.Number("3"), json.Number("-0.5"), []any{}, []any{"x"}, map[string]any{}, map[string]any{"a": 1}}[m.IntN(10)]
}

func TestRefusalIsBounded(t *testing.T) {
	// Proves that a body that is wrong in very many places is refused by naming some of them, and that a place far down
	// is put into words of bounded length.
	t.Parallel()
	s, _ := contractSchemas(t)
	v, err := Parse([]byte(`{"key":"k","filter_attributes":[1`+strings.Repeat(",1", 200_000)+`]}`), "body")
	if err != nil {
		t.Fatal(err)
	}
	bad := fault.Invalid()
	if _, err := s.Check("CreateCorpusRequest", v, "body", bad); err != nil {
		t.Fatal(err)
	}
	if got := bad.Fields["body.filter_attributes[0]"]; len(bad.Fields) != maxFaults || got != "must be an object, not the number 1" {
		t.Errorf("%d fields, the first %q; want %d and the type that is wanted", len(bad.Fields), got, maxFaults)
	}

	long := strings.Repeat("k", 99)
	_, err = Parse([]byte(strings.Repeat(`{"`+long+`":`, maxDepth+1)+"1"+strings.Repeat("}", maxDepth+1)), "body")
	f, ok := fault.As(err)
	if !ok || len(f.Fields) != 1 {
		t.Fatalf("got %v, want one field", err)
	}
	for path, reason := range f.Fields {
		if len(path) > maxPath+200 || !strings.HasPrefix(path, "body."+long) || !strings.Contains(reason, "nested deeper") {
			t.Errorf("path of %d bytes, reason %q", len(path), reason)
		}
	}
}

// TestManyValues proves that as many values as are allowed are taken, and that one more is refused in few words.
func TestManyValues(t *testing.T) {
	t.Parallel()
	text := func(n int) []byte { return []byte(`{"a":[` + strings.Repeat("0,", n-3) + "0]}") } // the object and the array count too
	if _, err := Parse(text(maxValues), "body"); err != nil {
		t.Errorf("%d values: %v", maxValues, err)
	}
	_, err := Parse(text(maxValues+1), "body")
	if f, ok := fault.As(err); !ok || len(f.Fields) != 1 || !strings.Contains(f.Fields["body"], "more than") {
		t.Errorf("one value more: %v", err)
	}
}

func TestMembersThatDifferInCaseAreUnknown(t *testing.T) {
	// Proves that a member whose name agrees with a known one but for its case reaches no handler, where encoding/json
	// would read it into the known field past the check, and that free-form objects keep all theirs.
	t.Parallel()
	s, _ := contractSchemas(t)
	for _, tc := range []struct{ schema, body, want string }{
		{"CreateCorpusRequest", `{"key":"k","KEY":"a/b"}`, `{"key":"k"}`},
		{"CreateCorpusRequest", `{"key":"k","color":"blue"}`, ""},
		{"QueryCorpusRequest", `{"query":"q","search":{"LIMIT":-5,"ſemantics":"x"}}`, `{"query":"q","search":{}}`},
		{"CreateDocumentRequest", `{"type":"core","id":"d","Id":"e","metadata":{"A":1,"a":2.50},"document_parts":[{"text":"<t>"}]}`,
			`{"document_parts":[{"text":"\u003ct\u003e"}],"id":"d","metadata":{"A":1,"a":2.50},"type":"core"}`},
	} {
		v, err := Parse([]byte(tc.body), "body")
		if err != nil {
			t.Fatal(err)
		}
		bad := fault.Invalid()
		dropped, err := s.Check(tc.schema, v, "body", bad)
		if err != nil || len(bad.Fields) > 0 {
			t.Fatalf("%s: %v, %v", tc.body, err, bad)
		}
		got, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if dropped != (tc.want != "") || dropped && string(got) != tc.want {
			t.Errorf("%s: dropped %v, left %s, want %s", tc.body, dropped, got, tc.want)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s, _ := contractSchemas(b)
	v, err := Parse([]byte(`{"query":"q","search":{"limit":10,"corpora":[{"corpus_key":"k","metadata_filter":"doc.a = 1","lexical_interpolation":0.1}],`+
		`"context_configuration":{"sentences_before":2},"reranker":{"type":"chain","rerankers":[{"type":"mmr","diversity_bias":0.3},{"type":"none"}]}}}`), "body")
	if err != nil {
		b.Fatal(err)
	}
	sch, err := s.get("QueryRequest")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			bad := fault.Invalid()
			if _, err := s.Check("QueryRequest", v, "body", bad); err != nil || len(bad.Fields) > 0 {
				b.Fatal(err, bad)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			var refused *jsonschema.ValidationError
			if err := sch.Validate(v); errors.As(err, &refused) {
				b.Fatal(err)
			}
		}
	})
}
