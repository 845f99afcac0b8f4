package filter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/expr/filter"
	"quarry/internal/fault"
)

// row holds attribute values by reference.
type row struct {
	schema *filter.Schema
	values []filter.Value
}

func (r row) Value(i int) filter.Value { return r.values[i] }

func schema(t testing.TB) *filter.Schema {
	t.Helper()
	s, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "dept", Type: filter.TextType},
		{Level: filter.Document, Name: "year", Type: filter.Integer},
		{Level: filter.Document, Name: "tags", Type: filter.TextList},
		{Level: filter.Part, Name: "kind", Type: filter.TextType},
		{Level: filter.Document, Name: "price", Type: filter.RealNumber},
		{Level: filter.Document, Name: "published", Type: filter.Boolean},
		{Level: filter.Document, Name: "a-b", Type: filter.Integer},
		{Level: filter.Document, Name: "a", Type: filter.Integer},
		{Level: filter.Document, Name: "b", Type: filter.Integer},
		{Level: filter.Document, Name: "any name", Type: filter.TextType},
		{Level: filter.Document, Name: "deep.er", Type: filter.Integer},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newRow(t testing.TB, s *filter.Schema, id, document, part string) row {
	t.Helper()
	doc, bad := s.Values(filter.Document, decode(t, document))
	if bad != nil {
		t.Fatal(bad)
	}
	values, bad := s.Values(filter.Part, decode(t, part))
	if bad != nil {
		t.Fatal(bad)
	}
	for i, v := range values {
		if !v.IsAbsent() {
			doc[i] = v
		}
	}
	i, _ := s.Find(filter.Document, "id")
	doc[i] = filter.Text(id)
	return row{s, doc}
}

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMatch proves the meaning of the language on rows like the contract's worked examples: D1 has everything, D2
// nearly nothing, T is a title part.
func TestMatch(t *testing.T) {
	t.Parallel()
	s := schema(t)
	rows := map[string]row{
		"D1": newRow(t, s, "one", `{"dept":"hr","year":2024,"tags":["a","b"],"price":2.5,"published":true,"a-b":5,"a":9,"b":2,"any name":"x","deep":{"er":3}}`, `{"kind":"rule","lang":"eng"}`),
		"D2": newRow(t, s, "two", `{"year":2020,"tags":[]}`, `{}`),
		"T":  newRow(t, s, "Ann's", `{"dept":""}`, `{"is_title":true,"lang":"deu"}`),
	}
	for _, tc := range []struct{ filter, want string }{
		{"doc.dept = 'hr'", "D1"},
		{"doc.dept <> 'hr'", "D2 T"},
		{"doc.dept != 'hr' and doc.dept == ''", "T"},
		{"NOT (doc.dept = 'it')", "D1 D2 T"},
		{"doc.dept IS NULL", "D2"},
		{"doc.dept is not null", "D1 T"},
		{"doc.dept = null", "D2"},
		{"null <> doc.dept", "D1 T"},
		{"doc.year % 2 = 0 AND doc.year >= 2021", "D1"},
		{"'b' IN doc.tags OR part.kind IN ('rule','note')", "D1"},
		{"NOT ('a' IN doc.tags)", "D2 T"},
		{"doc.tags IS NULL", "T"},
		{"doc.year > 2021 OR doc.dept = 'it' AND doc.year < 2000", "D1"},
		{"part.is_title <> true", "D1 D2"},
		{"part.is_title = true", "T"},
		{"part.is_title", "T"},
		{"part.is_title = false", "D1 D2"},
		{"false = part.is_title", "D1 D2"},
		{"part.is_title != false", "T"},
		{"part.lang = 'eng'", "D1"},
		{"doc.id = 'one' OR 'two'", "D1 D2"},
		{"doc.id = 'Ann''s'", "T"},
		{`doc.id = "one"`, "D1"},
		{"doc.id IN ('one', 'two')", "D1 D2"},
		{"doc.id NOT IN ('one', 'two')", "T"},
		{"'hr' IN doc.dept", "D1"},
		{"2021 <= doc.year", "D1"},
		{"doc.year = 2024.0", "D1"},
		{"doc.price * 2 = 5", "D1"},
		{"doc.price / 0 = 1 OR doc.year / 0 IS NULL", "D1 D2 T"},
		{"doc.year / 2 = 1012", "D1"},
		{"doc.year % 0 = 1", ""},
		{"doc.a - doc.b = 7", "D1"},
		{"doc.a-b = 5", "D1"},
		{"doc.b-doc.a IS NULL", "D2 T"},
		{"-doc.a < -8", "D1"},
		{"- 9 = -doc.a", "D1"},
		{"doc.published AND doc.year > 2020", "D1"},
		{"NOT doc.published", "D2 T"},
		{"doc.published = (doc.year > 2020)", "D1"},
		{"doc.metadata.dept = 'hr'", "D1"},
		{`doc."any name" = 'x'`, "D1"},
		{"doc.`any name` = 'x'", "D1"},
		{"doc.deep.er = 3", "D1"},
		{"doc.dept < 'i' AND doc.dept >= 'h'", "D1"},
		{"doc.dept > 'zz'", ""},
		{"true", "D1 D2 T"},
		{"1 > 2", ""},
		{"doc.year + 1 IN (2025, doc.a)", "D1"},
		{"doc.dept IN (null, 'hr')", "D1"},
		{"doc.year = -9223372036854775808", ""},
		{"doc.year + 9223372036854775807 IS NULL", "D1 D2 T"},
		{"doc.a\n=\n9", "D1"},
		{"doc.year IN (2024) IS NOT NULL", "ERR"},
		{"1e3 < doc.year", "D1 D2"},
		{".5 < doc.price", "D1"},
		{"doc.id = 'one' OR 'two' OR 'Ann''s'", "D1 D2 T"},
		{"doc.id <> 'one' AND 'two'", "T"},
		{"doc.year = 1 OR doc.dept <> 'hr' AND doc.id = 'two' OR 'one'", "D1 D2"},
		{"part.is_title IN (false, null)", "D1 D2"},
		{"false IN (part.is_title)", "D1 D2"},
		{"false IN part.is_title", "D1 D2"},
		{"part.is_title NOT IN (true)", "D1 D2"},
		{"(part.is_title = false) = true", "D1 D2"},
		{"(part.is_title <> false) <> (doc.year > 2000)", "D1 D2 T"},
		{"part.metadata.is_title = true", "T"},
		{"part.is_title is null", "D1 D2"},
		{"doc.dept IN (null)", ""},
		{"null IN doc.dept", ""},
		{"null IN doc.tags", ""},
		{"null IN (null, 1)", ""},
		{"null = null", "D1 D2 T"},
		{"doc.year = null + 1", ""},
		{"doc.year <> 1 / 0", "D1 D2 T"},
		{"doc.a = doc.b", ""},
		{"doc.a <> doc.b", "D1 D2 T"},
		{"doc.tags = null", "T"},
		{"doc.year > 2020.5", "D1"},
		{"doc.year >= 2020.5", "D1"},
		{"doc.year < 2020.5", "D2"},
		{"doc.year <= 2020.5", "D2"},
		{"doc.year <> 2020.5", "D1 D2 T"},
		{"doc.year < 1e30", "D1 D2"},
		{"doc.year > -1e30", "D1 D2"},
		{"doc.year < -1e30 OR doc.year = 1e30", ""},
		{"doc.year <> 1e30", "D1 D2 T"},
		{"doc.year < 9007199254740992.0", "D1 D2"},
		{"doc.year IN (2024.0, 2020.5, 1e30, 9e15)", "D1"},
		{"doc.price IN (2, 2.5)", "D1"},
		{"2024.0 IN doc.year", "D1"},
		{"2024.5 IN doc.year", ""},
		{"doc.dept IN doc.tags", ""},
		{"'hr' IN (doc.dept, part.kind)", "D1"},
		{"doc.dept IN ('hr', part.kind)", "D1"},
		{"doc.dept || 'x'", "ERR"},
		{"doc.a-b-doc.b = 3", "D1"},
		{"doc.a-doc.b-2 = 5", "D1"},
		{"doc.metadata.a-b = 5", "D1"},
		{"doc.\"a\"-doc.b = 7", "D1"},
		{"doc.a - b = 5", "ERR"},
		{"doc.year IS NULL = false", "ERR"},
		{"NOT NOT doc.published", "D1"},
		{"+doc.a = 9 AND -(-doc.a) = 9 AND --doc.a = 9", "D1"},
		{"7 % -4 = 3 AND -7 % 4 = -3 AND 7.5 % 2 = 1.5", "D1 D2 T"},
		{"1 + 2 * 3 - 4 / 2 = 5", "D1 D2 T"},
		{"10 - 4 - 3 = 3", "D1 D2 T"},
		{"(doc.a = 9) IS NULL", ""},
		{"doc.a + doc.b IS NULL", "D2 T"},
		{"doc.published = false", ""},
		{"doc.published <> true", "D2 T"},
		{"doc.year > 2000 AND true", "D1 D2"},
		{"doc.year > 2000 OR true", "D1 D2 T"},
		{"(doc.a = 9 OR doc.b = 1) OR (doc.year = 2020 OR false)", "D1 D2"},
		{"9223372036854775807 + 1 IS NULL AND -9223372036854775808 - 1 IS NULL", "D1 D2 T"},
		{"-(-9223372036854775808) IS NULL AND 4611686018427387904 * 2 IS NULL", "D1 D2 T"},
		{"-9223372036854775808 % -1 = 0 AND -9223372036854775808 * -1 IS NULL AND 0 * 5 = 0", "D1 D2 T"},
		{"1e308 * 10 IS NULL AND 0 - 5 = -5 AND -(1.5) = -1.5", "D1 D2 T"},
	} {
		f, err := filter.Parse(tc.filter, s, filter.Both)
		if tc.want == "ERR" {
			if err == nil {
				t.Errorf("%s: compiled, want an error", tc.filter)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.filter, err)
			continue
		}
		var got, tree []string
		for _, name := range []string{"D1", "D2", "T"} {
			if f.Match(rows[name]) {
				got = append(got, name)
			}
			if evaluate(f.Root(), rows[name]) {
				tree = append(tree, name)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s matches %v, want %s", tc.filter, got, tc.want)
		}
		if strings.Join(tree, " ") != tc.want {
			t.Errorf("%s: the tree %#v matches %v, want %s", tc.filter, f.Root(), tree, tc.want)
		}
	}
}

// evaluate evaluates a normalised tree naively.
func evaluate(n filter.Node, r filter.Row) bool {
	switch x := n.(type) {
	case filter.And:
		for _, m := range x.Nodes {
			if !evaluate(m, r) {
				return false
			}
		}
		return true
	case filter.Or:
		for _, m := range x.Nodes {
			if evaluate(m, r) {
				return true
			}
		}
		return false
	case filter.Not:
		return !evaluate(x.Node, r)
	case filter.Compare:
		order, ok := filter.Order(r.Value(x.Attr), x.Const)
		switch x.Op {
		case filter.Eq:
			return ok && order == 0
		case filter.Ne:
			return !ok || order != 0
		case filter.Lt:
			return ok && order < 0
		case filter.Le:
			return ok && order <= 0
		case filter.Gt:
			return ok && order > 0
		}
		return ok && order >= 0
	case filter.In:
		for _, c := range x.Consts {
			if filter.Equal(r.Value(x.Attr), c) {
				return true
			}
		}
		return false
	case filter.Contains:
		for _, e := range r.Value(x.Attr).Elements() {
			if filter.Equal(e, x.Const) {
				return true
			}
		}
		return false
	case filter.IsNull:
		return r.Value(x.Attr).IsAbsent()
	case filter.Const:
		return x.Holds
	case filter.General:
		return x.Match(r)
	}
	panic("unknown node")
}

// TestErrors proves the texts and positions of errors, which clients recognise.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := schema(t)
	deep := strings.Repeat("(", 3000) + "true" + strings.Repeat(")", 3000)
	for _, tc := range []struct{ filter, want string }{
		{"doc.nope = 1 AND part.dept = 'x' OR doc.nope = 2", "Unrecognized references: doc.nope, part.dept"},
		{"foo = 1", "Syntax error at 1:0 foo must be referenced as doc.foo or part.foo"},
		{"doc.year =\n  foo", "Syntax error at 2:2 foo must be referenced as doc.foo or part.foo"},
		{"doc.dept LIKE 'h%'", "Syntax error at 1:9 LIKE is not part of the filter language"},
		{"doc.year BETWEEN 1 AND 2", "BETWEEN is not part of the filter language"},
		{"upper(doc.dept) = 'HR'", "which has no functions"},
		{"doc.dept = 'open", "Syntax error at 1:11 the text that begins with ' has no closing quote"},
		{"doc.dept = ", "found the end of the expression"},
		{"doc.dept = 'é' 5", `Syntax error at 1:15 expected an operator or the end, found "5"`},
		{"doc.year = 'x'", "integer can't be compared with text"},
		{"doc.published > true", "boolean can't be compared with boolean"},
		{"doc.year < null", "null can be compared with ="},
		{"doc.tags = 'a'", "value IN doc.tags"},
		{"doc.tags IN ('a')", "value IN doc.tags"},
		{"doc.tags < 'a'", "value IN doc.tags"},
		{"5 IN doc.tags", "holds text"},
		{"doc.dept + 1 = 2", "arithmetic needs numbers"},
		{"doc.dept", "a condition is needed here"},
		{"doc.year = 1 AND 5", "a condition is needed here"},
		{"doc.year IN (1, 'a')", "text can't be compared with integer"},
		{"doc.year = 99999999999999999999", "outside the range of 64 bits"},
		{"doc.year = 1 # comment", `found "#"`},
		{"Doc.year = 1", "Doc must be written in lower case, as doc"},
		{"doc. year = 1", "expected a name after the period"},
		{"doc.dept CONTAINS 'x'", "Syntax error at 1:9 CONTAINS is not part of the filter language"},
		{"LIKE = 1", "Syntax error at 1:0 LIKE is not part of the filter language"},
		{"doc = 1", "Syntax error at 1:0 doc must be referenced as doc.doc or part.doc"},
		{"doc.year = 1 && doc.a = 2", `Syntax error at 1:13 expected an operator or the end, found "&&"; write AND`},
		{"doc.dept = ‘hr’", `Syntax error at 1:11 expected a value, a reference or (, found "‘"; write '`},
		{"doc.a-bc = 5", "Syntax error at 1:6 bc must be referenced as doc.bc or part.bc"},
		{"doc.x-y = 5 AND doc.u-1 = 2 AND doc.v-doc.a = 1", "Unrecognized references: doc.x-y, doc.u, doc.v"},
		{`doc."no such" = 1`, `Unrecognized references: doc."no such"`},
		{"part.id = 'x' OR doc.kind = 'x' OR doc.Dept = 'x'", "Unrecognized references: part.id, doc.kind, doc.Dept"},
		{"'a' = doc.id OR 'b'", "a condition is needed here"},
		{"(doc.id = 'a') OR 'b'", "a condition is needed here"},
		{"doc.id = 'a' OR ('b')", "a condition is needed here"},
		{"doc.id > 'a' OR 'b'", "a condition is needed here"},
		{"NOT doc.year", "a condition is needed here"},
		{"null", "null is not a condition"},
		{"doc.tags", "value IN doc.tags"},
		{"doc.tags + 1 = 2", "value IN doc.tags"},
		{"doc.tags IN doc.dept", "value IN doc.tags"},
		{"'a' IN (doc.tags)", "value IN doc.tags"},
		{"doc.published = 1", "boolean can't be compared with integer"},
		{"doc.year IN ()", `Syntax error at 1:13 expected a value, a reference or (, found ")"`},
		{"doc.year IN (1", `expected "," or ")", found the end`},
		{"doc.year IN 5", "Syntax error at 1:12 expected a list in parentheses or a reference after IN"},
		{"doc.year NOT 5", "Syntax error at 1:13 expected IN after NOT"},
		{"doc.year IS 5", "Syntax error at 1:12 expected NULL or NOT NULL after IS"},
		{"(doc.year = 5", `expected ")", found the end`},
		{"doc.year = 5)", `found ")"`},
		{"doc.year = 1e999", "Syntax error at 1:11 the number 1e999 is too large"},
		{"doc.year = 12abc", `found "abc"`},
		{"doc.year = AND", `found "AND"`},
		{"`year` = 1", `found "` + "`year`" + `"`},
		{"doc.dept = '\xff'", "not valid UTF-8"},
		{"doc.dept '" + strings.Repeat("x", 100) + "'", `found "'` + strings.Repeat("x", 39) + `…"`},
		{strings.Repeat("-", 3000) + "1 = 1", "nested deeper than 200 levels"},
		{strings.Repeat("1 IN (", 1000), "nested deeper than 200 levels"},
		{deep, "nested deeper than 200 levels"},
		{strings.Repeat("NOT ", 1500) + "true", "nested deeper than 200 levels"},
		{"'" + strings.Repeat("x", 8000) + "' = doc.dept", "at most 8000 are allowed"},
	} {
		_, err := filter.Parse(tc.filter, s, filter.Both)
		bad, ok := fault.As(err)
		if !ok || len(bad.Fields) != 1 {
			t.Errorf("%.80s: got %v, want a fault of one field", tc.filter, err)
			continue
		}
		detail := bad.Fields["metadata_filter"]
		if !strings.Contains(detail, tc.want) {
			t.Errorf("%.80s: got %q, want it to contain %q", tc.filter, detail, tc.want)
		}
		if got, want := bad.Text, "INVALID_ARGUMENT: The filter expression contains an error. "+detail; got != want {
			t.Errorf("%.80s: message %q, want %q", tc.filter, got, want)
		}
	}
}

// TestScope proves that a document filter refuses part references and accepts doc.id.
func TestScope(t *testing.T) {
	t.Parallel()
	s := schema(t)
	if _, err := filter.Parse("part.kind = 'x'", s, filter.DocumentOnly); err == nil || !strings.Contains(err.Error(), "doc. references only") {
		t.Errorf("got %v, want a refusal of part.kind", err)
	}
	if _, err := filter.Parse("doc.id = 'x'", s, filter.DocumentOnly); err != nil {
		t.Errorf("doc.id: %v", err)
	}
}

// TestBlank proves that blank text is a nil filter, which matches everything.
func TestBlank(t *testing.T) {
	t.Parallel()
	f, err := filter.Parse(" \n\t", schema(t), filter.Both)
	if err != nil || f != nil || !f.Match(nil) {
		t.Errorf("got %v, %v", f, err)
	}
}

// TestValues proves the coercions of metadata into attribute values and the report of what does not fit.
func TestValues(t *testing.T) {
	t.Parallel()
	s, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "i", Type: filter.Integer},
		{Level: filter.Document, Name: "r", Type: filter.RealNumber},
		{Level: filter.Document, Name: "t", Type: filter.TextType},
		{Level: filter.Document, Name: "b", Type: filter.Boolean},
		{Level: filter.Document, Name: "l", Type: filter.IntegerList},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		metadata string
		want     string // values i, r, t, b, l
		bad      []string
	}{
		{`{"i":7,"r":7,"t":"x","b":false,"l":[1,2.0]}`, "7 7 'x' false (1, 2)", nil},
		{`{"i":9223372036854775807,"r":1e400}`, "9223372036854775807 null null null null", []string{"r"}},
		{`{"i":9223372036854775808,"r":null,"l":[]}`, "null null null null ()", []string{"i"}},
		{`{"i":1.5,"t":5,"b":"true","l":[1,"x"]}`, "null null null null null", []string{"i", "t", "b", "l"}},
		{`{"i":1e3,"l":5}`, "1000 null null null null", []string{"l"}},
		{`{"i":9007199254740993.0,"l":[0.0,-0,-1.20e1,922337203685477580700e-2]}`, "9007199254740993 null null null (0, 0, -12, 9223372036854775807)", nil},
		{`{"i":1.00000000000000000001}`, "null null null null null", []string{"i"}},
		{`{"i":1e999999999999999999999}`, "null null null null null", []string{"i"}},
		{`{"i":1e-9223372036854775808}`, "null null null null null", []string{"i"}},
		{`{"i":92233720368547758070e-1,"r":-9223372036854775808}`, "9223372036854775807 -9.223372036854776e+18 null null null", nil},
		{`{"i":true,"r":"1","t":{},"b":[],"l":[null]}`, "null null null null null", []string{"i", "r", "t", "b", "l"}},
		{`{"id":"not the id"}`, "null null null null null", nil},
	} {
		values, bad := s.Values(filter.Document, decode(t, tc.metadata))
		var got, names []string
		for _, v := range values[:5] {
			got = append(got, v.String())
		}
		for _, b := range bad {
			names = append(names, b.Name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %s, want %s", tc.metadata, strings.Join(got, " "), tc.want)
		}
		if d := cmp.Diff(tc.bad, names); d != "" {
			t.Errorf("%s: mismatches %s", tc.metadata, d)
		}
		if i, _ := s.Find(filter.Document, "id"); !values[i].IsAbsent() {
			t.Errorf("%s: doc.id was taken from metadata", tc.metadata)
		}
	}
}

// FuzzParse proves that no text makes the parser panic, and that a filter that compiles means the same as its tree.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"doc.dept = 'hr' AND NOT doc.year IN (1,2)", "part.is_title = false OR 'a' IN doc.tags", "doc.a-b*-2 <= 1.5e3",
		"doc.id = 'a' OR 'b'", "((doc.year))", "doc.\"x", "NOT NOT null IS NULL", "doc.year % -1 = 0",
	} {
		f.Add(seed)
	}
	s := schema(f)
	rows := []row{
		newRow(f, s, "one", `{"dept":"hr","year":2024,"tags":["a","b"],"price":2.5,"published":true,"a":9,"b":2}`, `{"kind":"rule"}`),
		newRow(f, s, "two", `{}`, `{"is_title":true}`),
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := filter.Parse(text, s, filter.Both)
		if err != nil || c == nil {
			return
		}
		for _, r := range rows {
			if got, want := evaluate(c.Root(), r), c.Match(r); got != want {
				t.Errorf("%q: the tree says %t, Match says %t", text, got, want)
			}
		}
	})
}

// TestCheckSyntax proves that a filter is checked without attributes: what they decide is let through, the rest is not.
func TestCheckSyntax(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"": true, " ": true, "doc.nothing = 'x'": true, "doc.n = 1 and (part.lang = 'eng' or not doc.b)": true, "doc.id = 5": true,
		"doc.x = ": false, "doc.x": true, "= 1": false, "doc.x = 'y": false, "(doc.x = 1": false, strings.Repeat("(", 300): false, "doc.x = \xff": false,
	} {
		err := filter.CheckSyntax(text)
		if f, ok := fault.As(err); (err == nil) != good || err != nil && (!ok || f.Fields["metadata_filter"] == "") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
