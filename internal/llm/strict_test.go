package llm_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// TestCheckStrict proves which rules of strict schemas are kept and which places are named where one is broken.
func TestCheckStrict(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string {
		s := `{"type":"string"}`
		for range depth {
			s = fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":%s}}`, s)
		}
		return s
	}
	wide := func(n int) string {
		var names, members []string
		for i := range n {
			names, members = append(names, fmt.Sprintf(`"p%d"`, i)), append(members, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
		}
		return `{"type":"object","additionalProperties":false,"required":[` + strings.Join(names, ",") + `],"properties":{` + strings.Join(members, ",") + `}}`
	}
	object := func(member string) string {
		return `{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":` + member + `}}`
	}
	listed := func(item string) string { return `{"type":"array","items":` + item + `}` }
	for schema, want := range map[string][]string{
		object(`{"type":["string","null"],"enum":["x",null]}`):  nil,
		object(`{"anyOf":[{"type":"string"},{"type":"null"}]}`): nil,
		nested(5): nil,
		nested(6): {"properties.a.properties.a.properties.a.properties.a.properties.a"},
		object(listed(object(listed(object(`{"type":"string"}`))))): nil,
		object(listed(object(listed(object(listed(`{}`)))))):        {"properties.a.items.properties.a.items.properties.a"},
		wide(100): nil,
		wide(101): {""},
		`[]`:      {""},
		`{"type":"array","items":{"type":"string","maxLength":3}}`:                              {"items.maxLength", "type"},
		`{"type":"object","additionalProperties":false,"anyOf":[{"type":"string"}]}`:            {"anyOf"},
		`{"type":"object","properties":{"a":{"type":"string"}}}`:                                {"additionalProperties", "required"},
		object(`{"type":"object","additionalProperties":{"type":"string"}}`):                    {"properties.a.additionalProperties"},
		object(`{"anyOf":[{"type":"integer","minimum":1}]}`):                                    {"properties.a.anyOf[0].minimum"},
		object(`{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}`):     nil,
		object(`{"type":"integer","minimum":-9007199254740990,"maximum":9007199254740990}`):     {"properties.a.maximum", "properties.a.minimum"},
		object(`{"type":["object","null"],"additionalProperties":false,"properties":{"b":{}}}`): {"properties.a.required"},
		`{"type":"object","additionalProperties":false,"$defs":{"d":{"type":"object"}}}`:        {"$defs.d.additionalProperties"},
	} {
		var got []string
		if f, ok := fault.As(llm.CheckStrict([]byte(schema))); ok {
			got = slices.Sorted(maps.Keys(f.Fields))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.120s: at fault are %q, want %q", schema, got, want)
		}
	}
}
