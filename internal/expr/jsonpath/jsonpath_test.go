package jsonpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"quarry/internal/expr/jsonpath"
)

// Proves that what paths select is removed, wherever it stands, and nothing else.
func TestRemove(t *testing.T) {
	t.Parallel()
	const whole = `{"a":[{"c":1,"x":1},{"c":2},{"c":3,"x":[1,2]}],"a b":{"x":{"x":1}},"n":null,"x":2}`
	for path, want := range map[string]string{
		"$.x":             `{"a":[{"c":1,"x":1},{"c":2},{"c":3,"x":[1,2]}],"a b":{"x":{"x":1}},"n":null}`,
		"x":               `{"a":[{"c":1,"x":1},{"c":2},{"c":3,"x":[1,2]}],"a b":{"x":{"x":1}},"n":null}`,
		"$..x":            `{"a":[{"c":1},{"c":2},{"c":3}],"a b":{},"n":null}`,
		"$.a":             `{"a b":{"x":{"x":1}},"n":null,"x":2}`,
		"$.a[*].c":        `{"a":[{"x":1},{},{"x":[1,2]}],"a b":{"x":{"x":1}},"n":null,"x":2}`,
		"$.a[*]":          `{"a":[],"a b":{"x":{"x":1}},"n":null,"x":2}`,
		"$.a[0:2]":        `{"a":[{"c":3,"x":[1,2]}],"a b":{"x":{"x":1}},"n":null,"x":2}`,
		"$.a[-1]":         `{"a":[{"c":1,"x":1},{"c":2}],"a b":{"x":{"x":1}},"n":null,"x":2}`,
		"$['a b']['x']":   `{"a":[{"c":1,"x":1},{"c":2},{"c":3,"x":[1,2]}],"a b":{},"n":null,"x":2}`,
		"$['a','n']":      `{"a b":{"x":{"x":1}},"x":2}`,
		"$.a[?@.c == 2]":  `{"a":[{"c":1,"x":1},{"c":3,"x":[1,2]}],"a b":{"x":{"x":1}},"n":null,"x":2}`,
		"$.a[?(@.c > 1)]": `{"a":[{"c":1,"x":1}],"a b":{"x":{"x":1}},"n":null,"x":2}`,
		"$.*":             `{}`,
		"$..*":            `{}`,
		"$.none.x":        whole,
		"$.x.y":           whole,
	} {
		p, err := jsonpath.Parse(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var v any
		d := json.NewDecoder(strings.NewReader(whole))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(p.Remove(v)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
}

// Proves that what is no path, or names nothing, is refused.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "$", "@", "$.", "$[", "$..", "hello world", "((((", "$.a-b", "$.a[?(@.x ~= /(a/)]", "$." + strings.Repeat("a", 500)} {
		if _, err := jsonpath.Parse(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
