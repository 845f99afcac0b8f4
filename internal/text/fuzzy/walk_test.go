package fuzzy_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/text/fuzzy"
)

// TestValues proves which values a name selects: keys, paths, lists along the path and at its end, keys with dots and
// escapes.
func TestValues(t *testing.T) {
	t.Parallel()
	const object = ` { "a" : "x\"y" , "n":-1.50e3,"t":true,"z":null,"e":{},"l":["p",2,["q",null,{"a":"no"}],false],"o":{"a":{"b":"deep"},"a.b":"dotted"},` +
		`"o.a":{"b":"mixed"},"o.a.b":"plain","people":[{"name":"Ann"},{"name":["Bo","Cy"]},"none",[{"name":"Di"}]],"k\u0065y":"escaped","":"empty","\\":"slash"} `
	for _, c := range []struct {
		name string
		want []string
	}{
		{"a", []string{`x\"y`}},
		{"n", []string{"-1.50e3"}},
		{"t", []string{"true"}},
		{"z", nil},
		{"e", nil},
		{"missing", nil},
		{"l", []string{"p", "2", "q", "false"}},
		{"o", nil},
		{"o.a.b", []string{"deep", "dotted", "mixed", "plain"}},
		{"people.name", []string{"Ann", "Bo", "Cy", "Di"}},
		{"key", []string{"escaped"}},
		{"", []string{"empty"}},
		{`\`, []string{"slash"}},
		{"a.b", nil},
		{"l.a", []string{"no"}},
	} {
		var got []string
		for _, v := range fuzzy.Values([]byte(object), c.name) {
			got = append(got, v.Raw)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got): %s", c.name, diff)
		}
	}
}

// TestBroken proves that the walker terminates on texts that are not JSON.
func TestBroken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{", `{"a`, `{"a"`, `{"a":`, `{"a":"`, `{"a":"\`, `{"a":[`, `{"a":[1,`, `{"a":{"b":`, `{"a" "b"}`, `{a:1}`, `[1]`, `"a"`, "null", `{"a":]}`,
		`{"a":` + strings.Repeat("[", 10_000), strings.Repeat(`{"a":`, 10_000),
	} {
		if got := fuzzy.Values([]byte(text), "a"); len(got) > 1 {
			t.Errorf("%.20q gave %v", text, got)
		}
	}
}

// reference finds the values of a name by decoding, member by member, so that a duplicate key counts twice. ok is false
// if the text is not an object.
func reference(object []byte, name string) (out []string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	root, err := tree(d)
	m, ok := root.(members)
	if err != nil || !ok {
		return nil, false
	}
	inside(m, name, &out)
	return out, true
}

type member struct {
	key   string
	value any
}

type members []member

func tree(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := tree(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		m := members{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := tree(d)
			if err != nil {
				return nil, err
			}
			m = append(m, member{k.(string), v})
		}
		_, err = d.Token()
		return m, err
	}
	return t, nil
}

func inside(v any, name string, out *[]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			inside(e, name, out)
		}
	case members:
		for _, m := range v {
			if m.key == name {
				leaves(m.value, out)
			} else if rest, ok := strings.CutPrefix(name, m.key+"."); ok {
				inside(m.value, rest, out)
			}
		}
	}
}

func leaves(v any, out *[]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			leaves(e, out)
		}
	case string:
		*out = append(*out, v)
	case json.Number:
		*out = append(*out, v.String())
	case bool:
		*out = append(*out, map[bool]string{true: "true", false: "false"}[v])
	}
}

// FuzzValues proves that the walker finds the same values as a decoder in every JSON object, and that no text makes it
// panic.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":["x",1,true,null]},"a.b":"\u00e9\\"}`, `{"a":[{"b":1},{"b":{"c":2}}]}`, `{"a.b":{"c":"d"},"a":{"b.c":"e"}}`, `{"a":"\ud83d\ude00"}`, `{"a":"x`, `{"a.":1,".a":2,"":3}`,
	} {
		f.Add([]byte(seed), "a.b")
		f.Add([]byte(seed), "a.b.c")
		f.Add([]byte(seed), "a")
	}
	f.Fuzz(func(t *testing.T, object []byte, name string) {
		if len(object) > 1<<12 || bytes.Count(object, []byte("["))+bytes.Count(object, []byte("{")) > 50 {
			return // deeper than the walker goes
		}
		found := fuzzy.Values(object, name)
		if !json.Valid(object) {
			return
		}
		want, ok := reference(object, name)
		if !ok {
			return
		}
		var got []string
		for _, v := range found {
			text := v.Raw
			if v.Quoted {
				if err := json.Unmarshal([]byte(`"`+v.Raw+`"`), &text); err != nil {
					t.Fatalf("%q is not the inside of a JSON string: %v", v.Raw, err)
				}
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q in %s (-decoded +found): %s", name, object, diff)
		}
	})
}
