package filter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/expr/filter"
)

// TestSchema proves the order of ordinals, that built-ins follow what is declared, and that declaring a built-in means
// the built-in.
func TestSchema(t *testing.T) {
	t.Parallel()
	s, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Part, Name: "is_title", Type: filter.TextType},
		{Level: filter.Document, Name: "lang", Type: filter.Integer},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []filter.Attribute{
		{Level: filter.Part, Name: "is_title", Type: filter.Boolean},
		{Level: filter.Document, Name: "lang", Type: filter.Integer},
		{Level: filter.Document, Name: "id", Type: filter.TextType},
		{Level: filter.Part, Name: "lang", Type: filter.TextType},
	}
	if d := cmp.Diff(want, s.Attributes()); d != "" {
		t.Error(d)
	}
	for i, a := range want {
		if got, ok := s.Find(a.Level, a.Name); !ok || got != i {
			t.Errorf("%s.%s: ordinal %d, %t, want %d", a.Level, a.Name, got, ok, i)
		}
	}
	if _, ok := s.Find(filter.Document, "is_title"); ok {
		t.Error("doc.is_title was found")
	}
	if _, err := filter.NewSchema(append(want, want[1])); err == nil {
		t.Error("a name declared twice at one level was accepted")
	}
}

// TestParseType proves the spellings of types.
func TestParseType(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]string{
		"integer": "integer", "real": "real", "real_number": "real", "text": "text", "boolean": "boolean",
		"list[integer]": "list[integer]", "list[real]": "list[real_number]", "list[real_number]": "list[real_number]",
		"list[text]": "list[text]", "Text": "null", "list[boolean]": "null", "": "null",
	} {
		got, ok := filter.ParseType(spelling)
		if got.String() != want || ok != (want != "null") {
			t.Errorf("%q: got %s, %t, want %s", spelling, got, ok, want)
		}
	}
}

// TestMismatchText proves that a refusal names the declared type and the wrong value or element, shortened.
func TestMismatchText(t *testing.T) {
	t.Parallel()
	s, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "n", Type: filter.Integer},
		{Level: filter.Document, Name: "l", Type: filter.TextList},
	})
	if err != nil {
		t.Fatal(err)
	}
	const long = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	for metadata, want := range map[string]string{
		`{"n":"a"}`:               `n must be integer, as the corpus declares it, but is the text "a"`,
		`{"n":"` + long + `"}`:    `n must be integer, as the corpus declares it, but is a text`,
		`{"n":1.5}`:               `n must be integer, as the corpus declares it, but is the number 1.5`,
		`{"n":0.` + digits + `1}`: `n must be integer, as the corpus declares it, but is a number of many digits`,
		`{"n":true}`:              `n must be integer, as the corpus declares it, but is the boolean true`,
		`{"n":[1]}`:               `n must be integer, as the corpus declares it, but is a list`,
		`{"n":{}}`:                `n must be integer, as the corpus declares it, but is an object`,
		`{"l":"a"}`:               `l must be list[text], as the corpus declares it, but is the text "a"`,
		`{"l":["a",5]}`:           `l must be list[text], as the corpus declares it, but element 1 is the number 5`,
		`{"l":[null]}`:            `l must be list[text], as the corpus declares it, but element 0 is null`,
	} {
		_, bad := s.Values(filter.Document, decode(t, metadata))
		if len(bad) != 1 || bad[0].Name+" "+bad[0].Text != want {
			t.Errorf("%s: got %v, want %s", metadata, bad, want)
		}
	}
}

const digits = "00000000000000000000000000000000000000000000000000"

// TestNames proves that a literal key wins over a path, that a path may pass keys with periods, and that null and a
// path through something else than an object are absent.
func TestNames(t *testing.T) {
	t.Parallel()
	s, err := filter.NewSchema([]filter.Attribute{{Level: filter.Part, Name: "a.b.c", Type: filter.Integer}})
	if err != nil {
		t.Fatal(err)
	}
	for metadata, want := range map[string]string{
		`{"a.b.c":1,"a":{"b":{"c":2}}}`:    "1",
		`{"a":{"b":{"c":2}}}`:              "2",
		`{"a.b":{"c":3}}`:                  "3",
		`{"a":{"b.c":4}}`:                  "4",
		`{"a.b.c":null,"a":{"b":{"c":2}}}`: "null",
		`{"a":{"b":5}}`:                    "null",
		`{"A.b.c":1}`:                      "null",
	} {
		values, bad := s.Values(filter.Part, decode(t, metadata))
		if got := values[0].String(); got != want || bad != nil {
			t.Errorf("%s: got %s and %v, want %s", metadata, got, bad, want)
		}
		if doc, _ := s.Values(filter.Document, decode(t, metadata)); !doc[0].IsAbsent() {
			t.Errorf("%s: a part attribute has a value at document level", metadata)
		}
	}
}
