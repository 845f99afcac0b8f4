package filter_test

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/expr/filter"
)

// show returns a tree as text.
func show(s *filter.Schema, n filter.Node) string {
	name := func(i int) string { return s.Attributes()[i].Level.String() + "." + s.Attributes()[i].Name }
	list := func(word string, all []filter.Node) string {
		var parts []string
		for _, m := range all {
			parts = append(parts, show(s, m))
		}
		return word + "(" + strings.Join(parts, " ") + ")"
	}
	switch x := n.(type) {
	case filter.And:
		return list("and", x.Nodes)
	case filter.Or:
		return list("or", x.Nodes)
	case filter.Not:
		return list("not", []filter.Node{x.Node})
	case filter.Compare:
		return name(x.Attr) + [...]string{"=", "<>", "<", "<=", ">", ">="}[x.Op] + x.Const.String()
	case filter.In:
		var parts []string
		for _, c := range x.Consts {
			parts = append(parts, c.String())
		}
		return name(x.Attr) + " in " + strings.Join(parts, ",")
	case filter.Contains:
		return name(x.Attr) + " has " + x.Const.String()
	case filter.IsNull:
		return name(x.Attr) + " null"
	case filter.Const:
		return fmt.Sprint(x.Holds)
	case filter.General:
		return fmt.Sprint("general", x.Attrs())
	}
	return "?"
}

// TestRoot proves the shape of normalised trees: attribute left, constants of the attribute's type, flat and free of
// constants.
func TestRoot(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, tc := range []struct{ filter, want string }{
		{"2021 < doc.year", "doc.year>2021"},
		{"doc.year > 2020.5", "doc.year>2020"},
		{"doc.year >= 2020.5", "doc.year>=2021"},
		{"doc.year < 2020.5", "doc.year<2021"},
		{"doc.year <= -2020.5", "doc.year<=-2021"},
		{"doc.year = 2.0", "doc.year=2"},
		{"doc.year = 2.5", "false"},
		{"doc.year <= 1e19", "not(doc.year null)"},
		{"doc.year = 9007199254740992.0", "general[1]"},
		{"doc.year = 9223372036854775808.0", "general[1]"},
		{"doc.year >= -9223372036854775808.0", "general[1]"},
		{"doc.price = 1 + 1", "doc.price=2"},
		{"doc.year IN (3, 1, 2.0, 1, 7.5, null)", "doc.year in 1,2,3"},
		{"doc.year IN (3, 3.0)", "doc.year=3"},
		{"doc.year IN (1, 2, doc.a)", "or(general[1 7] doc.year in 1,2)"},
		{"'x' IN (doc.dept, part.kind, 'y')", "or(doc.dept='x' part.kind='x')"},
		{"'x' IN doc.tags", "doc.tags has 'x'"},
		{"'x' IN doc.dept", "doc.dept='x'"},
		{"doc.dept IN doc.tags", "general[0 2]"},
		{"doc.a = 1 AND (doc.b = 2 AND true) AND (doc.year = 3 OR false)", "and(doc.a=1 doc.b=2 doc.year=3)"},
		{"doc.a = 1 OR (doc.b = 2 OR 1 = 2)", "or(doc.a=1 doc.b=2)"},
		{"doc.a = 1 AND false", "false"},
		{"NOT NOT doc.published", "doc.published=true"},
		{"NOT (doc.year > 1)", "not(doc.year>1)"},
		{"NOT (doc.a = 1 AND false)", "true"},
		{"doc.a IS NOT NULL", "not(doc.a null)"},
		{"doc.a = null", "doc.a null"},
		{"doc.a <> null", "not(doc.a null)"},
		{"part.is_title = false", "part.is_title<>true"},
		{"part.is_title IN (true, false)", "or(part.is_title=true part.is_title<>true)"},
		{"doc.a - doc.b > 3", "general[7 8]"},
		{"doc.id = 'a' OR 'b'", "or(doc.id='a' doc.id='b')"},
	} {
		f, err := filter.Parse(tc.filter, s, filter.Both)
		if err != nil {
			t.Errorf("%s: %v", tc.filter, err)
			continue
		}
		if got := show(s, f.Root()); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.filter, got, tc.want)
		}
	}
}

// TestUses proves that a filter knows its text and its attributes, and that no filter passes everything.
func TestUses(t *testing.T) {
	t.Parallel()
	s := schema(t)
	const text = "doc.b = 1 AND (doc.a - 1 > doc.b OR 'x' IN doc.tags)"
	f, err := filter.Parse(text, s, filter.Both)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{2, 7, 8}, f.Attrs()); d != "" || f.Text() != text {
		t.Errorf("attributes %s, text %q", d, f.Text())
	}
	var none *filter.Filter
	if none.Root() != (filter.Const{Holds: true}) || none.Attrs() != nil || !none.Match(nil) {
		t.Error("no filter does not pass everything")
	}
}

// TestLargeIn proves that a list as long as the limit allows compiles into one sorted set.
func TestLargeIn(t *testing.T) {
	t.Parallel()
	s := schema(t)
	text := "doc.year IN (" + strings.TrimSuffix(strings.Repeat("9,8,", 1990), ",") + ",1)"
	f, err := filter.Parse(text, s, filter.Both)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(s, f.Root()); got != "doc.year in 1,8,9" {
		t.Errorf("got %s", got)
	}
}

// checkTree fails the test unless the nodes have the properties that their comments promise.
func checkTree(t interface{ Errorf(string, ...any) }, s *filter.Schema, n filter.Node, parent string) {
	constant := func(attr int, c filter.Value) {
		if c.Kind() != s.Attributes()[attr].Type.Element() {
			t.Errorf("attribute %d is compared with %s %s", attr, c.Kind(), c)
		}
	}
	many := func(kind string, all []filter.Node) {
		if len(all) < 2 || parent == kind {
			t.Errorf("%s of %d nodes within %s", kind, len(all), parent)
		}
		for _, m := range all {
			checkTree(t, s, m, kind)
		}
	}
	switch x := n.(type) {
	case filter.And:
		many("and", x.Nodes)
	case filter.Or:
		many("or", x.Nodes)
	case filter.Not:
		if parent == "not" {
			t.Errorf("not within not")
		}
		checkTree(t, s, x.Node, "not")
	case filter.Compare:
		constant(x.Attr, x.Const)
	case filter.In:
		for _, c := range x.Consts {
			constant(x.Attr, c)
		}
		if len(x.Consts) < 2 || !sort.SliceIsSorted(x.Consts, func(i, j int) bool {
			o, _ := filter.Order(x.Consts[i], x.Consts[j])
			return o < 0
		}) {
			t.Errorf("constants of IN: %v", x.Consts)
		}
	case filter.Contains:
		constant(x.Attr, x.Const)
	case filter.Const:
		if parent != "" {
			t.Errorf("constant within %s", parent)
		}
	}
}

// gen generates random valid filters over the attributes of schema.
type gen struct{ t *rapid.T }

func (g gen) pick(all ...string) string { return rapid.SampledFrom(all).Draw(g.t, "pick") }

func (g gen) number(depth int) string {
	switch k := rapid.IntRange(0, 9).Draw(g.t, "number"); {
	case k < 4 || depth == 0 && k > 7:
		return g.pick("doc.year", "doc.a", "doc.b", "doc.price", "doc.a-b", "doc.deep.er")
	case k < 7:
		return g.pick("0", "1", "2", "-1", "2.0", "1.5", "-0.5", "1e3", "9007199254740993", "9007199254740992.0",
			"9223372036854775807", "-9223372036854775808", "9223372036854775808.0", "1e19", "-1e19", "1e308")
	case k == 7:
		return "-(" + g.number(max(0, depth-1)) + ")"
	}
	return "(" + g.number(depth-1) + g.pick("+", " - ", "*", "/", "%") + g.number(depth-1) + ")"
}

func (g gen) text() string {
	return g.pick("'x'", "'y'", "''", "doc.dept", "part.kind", "part.lang", "doc.id", `doc."any name"`, `"x"`)
}

func (g gen) truth(depth int) string {
	return g.pick("true", "false", "part.is_title", "doc.published", "("+g.condition(depth)+")")
}

func (g gen) list(item func() string) string {
	parts := []string{item()}
	for range rapid.IntRange(0, 3).Draw(g.t, "more") {
		parts = append(parts, item())
	}
	return "(" + strings.Join(parts, ",") + ")"
}

func (g gen) condition(depth int) string {
	equal, order, in := []string{"=", "==", "<>", "!="}, []string{"<", "<=", ">", ">=", "=", "<>"}, []string{" IN ", " not in "}
	d := max(0, depth-1)
	k := rapid.IntRange(0, 12).Draw(g.t, "condition")
	if depth == 0 {
		k = rapid.IntRange(4, 11).Draw(g.t, "leaf")
	}
	switch k {
	case 0, 1:
		return g.condition(d) + " AND " + g.condition(d)
	case 2:
		return "(" + g.condition(d) + " or " + g.condition(d) + ")"
	case 3:
		return "NOT (" + g.condition(d) + ")"
	case 4:
		return g.number(d) + g.pick(order...) + g.number(d)
	case 5:
		return g.text() + g.pick(order...) + g.text()
	case 6:
		return g.number(d) + g.pick(in...) + g.list(func() string { return g.number(d) })
	case 7:
		return g.text() + g.pick(in...) + g.pick("doc.tags", "doc.dept", g.list(g.text), g.list(func() string { return g.pick("null", "'x'") }))
	case 8:
		return g.pick("doc.year", "doc.tags", "doc.dept", "part.is_title", g.number(d)) + g.pick(" IS NULL", " is not null", " = null", " <> null")
	case 9:
		return g.pick("part.is_title", "doc.published", "true", "false")
	case 10:
		return g.pick("part.is_title", "doc.published") + g.pick(equal...) + g.pick("true", "false")
	case 11:
		return g.number(d) + g.pick(in...) + g.pick("doc.year", "doc.price")
	}
	if rapid.Bool().Draw(g.t, "in") {
		return g.truth(d) + g.pick(in...) + g.list(func() string { return g.truth(d) })
	}
	return g.truth(d) + g.pick(equal...) + g.truth(d)
}

func drawRow(t *rapid.T, s *filter.Schema) row {
	numbers := []int64{0, 1, 2, -1, 1000, 2024, 1<<53 + 1, 1 << 53, math.MaxInt64, math.MinInt64}
	values := make([]filter.Value, len(s.Attributes()))
	for i, a := range s.Attributes() {
		if rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
			continue
		}
		switch a.Type {
		case filter.Integer:
			values[i] = filter.Int(rapid.SampledFrom(numbers).Draw(t, "int"))
		case filter.RealNumber:
			values[i] = filter.Real(rapid.SampledFrom([]float64{0, 1.5, 2, -0.5, 1e308, 1 << 63}).Draw(t, "real"))
		case filter.TextType:
			values[i] = filter.Text(rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "text"))
		case filter.Boolean:
			values[i] = filter.Bool(a.Name == "is_title" || rapid.Bool().Draw(t, "bool"))
		case filter.TextList:
			var list []filter.Value
			for _, e := range rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(t, "list") {
				list = append(list, filter.Text(e))
			}
			values[i] = filter.List(filter.TextList, list...)
		}
	}
	return row{s, values}
}

// TestTreeAgrees proves on random filters and rows that the normalised tree means what Match means, that it keeps what
// its nodes promise, and that logic is two-valued: NOT turns every answer around.
func TestTreeAgrees(t *testing.T) {
	t.Parallel()
	s := schema(t)
	rapid.Check(t, func(t *rapid.T) {
		text := gen{t}.condition(3)
		f, err := filter.Parse(text, s, filter.Both)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		inverse, err := filter.Parse("NOT ("+text+")", s, filter.Both)
		if err != nil {
			t.Fatalf("NOT (%s): %v", text, err)
		}
		checkTree(t, s, f.Root(), "")
		for range 8 {
			r := drawRow(t, s)
			want := f.Match(r)
			if got := evaluate(f.Root(), r); got != want {
				t.Fatalf("%s: the tree %s says %t for %v, Match says %t", text, show(s, f.Root()), got, r.values, want)
			}
			if inverse.Match(r) == want || evaluate(inverse.Root(), r) == want {
				t.Fatalf("%s: NOT does not turn the answer around for %v", text, r.values)
			}
		}
	})
}

// TestKey proves that conditions that mean the same by construction have one key, and others have their own, however little
// they differ.
func TestKey(t *testing.T) {
	t.Parallel()
	s := schema(t)
	key := func(text string) string {
		f, err := filter.Parse(text, s, filter.Both)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return filter.Key(f.Root())
	}
	seen := map[string]string{}
	for _, text := range []string{
		"doc.dept = 'a'", "doc.dept <> 'a'", "doc.dept = 'b'", "part.kind = 'a'", "doc.dept < 'a'", "doc.dept <= 'a'", "NOT doc.dept = 'a'",
		"doc.dept = 'a'' 3:b'", "doc.dept IN ('a', 'b')", "doc.dept IN ('a'' 3:', 'b')", "doc.dept IN ('a, b', 'c')", "doc.dept IN ('a', 'b, c')",
		"doc.dept IS NULL", "'a' IN doc.tags", "doc.a = 1 AND doc.b = 2", "doc.a = 1 OR doc.b = 2", "doc.a = 1 AND (doc.b = 2 OR doc.a = 3)",
		"doc.a = 1 AND doc.b = 2 OR doc.a = 3", "doc.a - 1 > doc.b", "doc.a - 1.0 > doc.b", "doc.a + 1 > doc.b", "doc.b - 1 > doc.a", "doc.a - doc.b > 1",
		"doc.a - (1 - doc.b) > 1", "doc.a - 1 - doc.b > 1", "-doc.a > doc.b", "doc.a > doc.b", "1 = 1", "1 = 2", "doc.published",
	} {
		k := key(text)
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s have one key: %s", text, other, k)
		}
		seen[k] = text
	}
	for a, b := range map[string]string{
		"doc.year > 2020": "2020 < (doc.year)", "doc.dept IN ('b', 'a')": "doc.dept in ('a','b','a')", "doc.a-1>doc.b": " doc.a  -  1 > doc.b ",
		"part.is_title = false": "part.is_title <> true",
	} {
		if key(a) != key(b) {
			t.Errorf("%s: %s, but %s: %s", a, key(a), b, key(b))
		}
	}
}
