package metadata_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
)

func TestAmendment(t *testing.T) {
	// Proves what comes of merging and replacing: order, exact values, nulls.
	t.Parallel()
	tests := []struct {
		name, old, given string
		merge            bool
		want             string
	}{
		{"merge adds behind", `{"b":1,"a":2}`, `{"z":3,"c":4}`, true, `{"b":1,"a":2,"z":3,"c":4}`},
		{"merge keeps the place", `{"b":1,"a":2}`, `{"b":"x"}`, true, `{"b":"x","a":2}`},
		{"merge is shallow", `{"a":{"x":1,"y":2}}`, `{"a":{"x":3}}`, true, `{"a":{"x":3}}`},
		{"null removes", `{"a":1,"b":2}`, `{"a":null,"none":null}`, true, `{"b":2}`},
		{"null inside stays", `{"a":1}`, `{"a":{"x":null}}`, true, `{"a":{"x":null}}`},
		{"a null that was there stays", `{"a":null,"b":1}`, `{"b":2}`, true, `{"a":null,"b":2}`},
		{"null alone is nothing", `{"a":1}`, `null`, true, `{"a":1}`},
		{"absent is nothing", `{"a":1}`, ``, true, `{"a":1}`},
		{"values keep their text", `{"n":1.50,"s":"\u00e9"}`, ` { "m" : 1e3 , "t" : "\/" } `, true, `{"n":1.50,"s":"\u00e9","m":1e3,"t":"\/"}`},
		{"one name twice", `{}`, `{"a":1,"a":2}`, true, `{"a":2}`},
		{"one name twice, null last", `{"a":0}`, `{"a":1,"a":null}`, true, `{}`},
		{"into nothing", `{}`, `{"a":1}`, true, `{"a":1}`},
		{"replace", `{"a":1}`, `{ "b": null, "a": [1, 2] }`, false, `{"b":null,"a":[1,2]}`},
		{"replace by nothing", `{"a":1}`, ``, false, `{}`},
		{"replace by null", `{"a":1}`, `null`, false, `{}`},
	}
	for _, tt := range tests {
		a, err := metadata.NewAmendment(corpus.Corpus{}, json.RawMessage(tt.given), tt.merge)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		old := json.RawMessage(tt.old)
		got, err := a.Apply(old)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
		if again, err := a.Apply(got); err != nil || string(again) != tt.want {
			t.Errorf("%s, once more: %s, %v", tt.name, again, err)
		}
		if string(old) != tt.old {
			t.Errorf("%s: the old metadata was changed to %s", tt.name, old)
		}
	}
}

func TestAmendmentTypes(t *testing.T) {
	// Proves that what is sent is held to the declared attributes, nested names included, and that what a merge leaves
	// alone is not.
	t.Parallel()
	c := corpus.Corpus{Key: "c", Attributes: []corpus.Attribute{
		{Name: "year", Level: "document", Type: "integer"}, {Name: "a.b", Level: "document", Type: "real"},
		{Name: "tags", Level: "document", Type: "list[text]"}, {Name: "ok", Level: "document", Type: "boolean"},
		{Name: "kind", Level: "part", Type: "text"}}}
	for given, paths := range map[string][]string{
		`{"year":2024,"a":{"b":1},"tags":[],"ok":false,"kind":7}`: nil,
		`{"year":2e3,"a.b":1.5,"ok":null}`:                        nil,
		`{"year":"2024"}`:                                         {"metadata.year"},
		`{"year":1.5,"a":{"b":"x"},"tags":["a",2],"ok":0}`:        {"metadata.a.b", "metadata.ok", "metadata.tags", "metadata.year"},
		`[1]`: {"metadata"},
		`"x"`: {"metadata"},
	} {
		for _, merge := range []bool{true, false} {
			_, err := metadata.NewAmendment(c, json.RawMessage(given), merge)
			f, _ := fault.As(err)
			if paths == nil && err != nil || paths != nil && (f == nil || cmp.Diff(paths, f.Paths()) != "") {
				t.Errorf("%s, merge %v: %v, want %v", given, merge, err, paths)
			}
		}
	}
	a, err := metadata.NewAmendment(c, json.RawMessage(`{"ok":true}`), true)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Apply(json.RawMessage(`{"year":"from a file"}`)); err != nil || string(got) != `{"year":"from a file","ok":true}` {
		t.Errorf("beside a value that does not fit: %s, %v", got, err)
	}
}

func TestAmendmentGrowth(t *testing.T) {
	// Proves that merging can't grow metadata beyond 10 MiB, and that merging many names is not quadratic in them.
	t.Parallel()
	half := `"` + strings.Repeat("x", 6<<20) + `"`
	a, err := metadata.NewAmendment(corpus.Corpus{}, json.RawMessage(`{"b":`+half+`}`), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Apply(json.RawMessage(`{"b":` + half + `}`)); err != nil {
		t.Errorf("6 MiB over 6 MiB of the same name: %v", err)
	}
	_, err = a.Apply(json.RawMessage(`{"a":` + half + `}`))
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields["metadata"] == "" {
		t.Errorf("12 MiB: %v, want a refusal of metadata", err)
	}
	var many []string
	for i := range 200_000 {
		many = append(many, `"`+strings.Repeat("k", i%7)+string(rune('a'+i%26))+json.Number(strings.Repeat("1", 1+i%5)).String()+string(rune(0x4e00+i%20000))+`":1`)
	}
	object := json.RawMessage("{" + strings.Join(many, ",") + "}")
	if a, err = metadata.NewAmendment(corpus.Corpus{}, object, true); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Apply(object); err != nil {
		t.Error(err)
	}
}
