package userfn_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"quarry/internal/expr/userfn"
)

// state is a document such as the conditions of an agent's steps read.
const state = `{"output":{"text":"done","queue":"returns","count":3,"flag":false,"items":[{"sku":"A7"}],"none":null},
	"tools":{"stock":{"outputs":{"latest":{"units":12}}},"search":{"outputs":{"latest":null}}},
	"session":{"key":"ase_1","metadata":{"plan":"gold","any name":1}},"agent":{"name":"Shop"},"currentDate":"2024-03-01T00:00:00Z"}`

func document(t testing.TB) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(state))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCondition proves which conditions hold (agents.md section 3.2), and which report operands of the wrong kinds.
func TestCondition(t *testing.T) {
	t.Parallel()
	of := document(t)
	for _, c := range []struct {
		text  string
		holds bool
		wrong string // what the error says
	}{
		{`get('$.output.queue') == 'returns'`, true, ""}, {`get('$.output.queue') != 'returns'`, false, ""}, {`get('$.output.text')`, true, ""},
		{`get('$.session.metadata.plan') == 'gold' and get('$.agent.name') == 'Shop'`, true, ""}, {`get('$.session.metadata[''any name'']') == 1`, true, ""},
		{`get('$.tools.stock.outputs.latest.units') > 10`, true, ""}, {`get('$.tools.stock.outputs.latest') != null`, true, ""},
		{`get('$.tools.search.outputs.latest') != null`, false, ""}, {`get('$.tools.search.outputs.latest') == null`, true, ""}, {`null != get('$.output.items')`, true, ""},
		{`get('$.output.items[0].sku') == 'A7'`, true, ""}, {`iso_datetime_parse(get('$.currentDate')) == now()`, true, ""},
		// The words are the operators.
		{`true and false or true`, true, ""}, {`true or false and false`, true, ""}, {`not true or true`, true, ""}, {`not (true or true)`, false, ""}, {`not not true`, true, ""},
		{`not get('$.output.flag')`, true, ""}, {`not(get('$.output.flag'))`, true, ""}, {`true && (false or true) and !false`, true, ""},
		{`if (true) and (false) then false else true`, true, ""}, {`if not (true) then false else true`, true, ""}, {`if (not false) true else false`, true, ""}, {`if(false or true, true, false)`, true, ""},
		// A side that is null makes a comparison false, unless the other is the literal.
		{`get('$.nowhere') == 'x'`, false, ""}, {`get('$.nowhere') != 'x'`, false, ""}, {`'x' !== get('$.nowhere')`, false, ""}, {`get('$.nowhere') === get('$.none')`, false, ""},
		{`get('$.nowhere') != get('$.output.text')`, false, ""}, {`get('$.nowhere') < 1`, false, ""}, {`get('$.nowhere') >= null`, false, ""}, {`not (get('$.nowhere') != 'x')`, true, ""},
		{`get('$.nowhere') == null`, true, ""}, {`get('$.nowhere') == (null)`, true, ""}, {`get('$.output.none') != null`, false, ""}, {`null == null`, true, ""},
		{`get('$.nowhere', 'x') != 'y'`, true, ""}, {`1 / 0 != 1`, false, ""}, {`get('$.nowhere')`, false, ""}, {`get('$.nowhere') + 1 > 0`, false, ""},
		// Values as conditions.
		{`get('$.output.count')`, true, ""}, {`get('$.output.count') - 3`, false, ""}, {`get('$.output')`, true, ""}, {`get('$')`, true, ""}, {`null`, false, ""}, {`get('$.output.flag')`, false, ""},
		{`1 == '1'`, false, ""}, {`1 != '1'`, true, ""}, {`sqrt(-1) == 1`, false, ""}, {`iso_datetime_parse('never') == now()`, false, ""},
		// Kinds that do not fit.
		{`'a' < 1`, false, "< has no meaning for a string and a number"}, {`not ('a' < 1)`, false, "<"}, {`'a' >= 1 or true`, false, ">="}, {`true or 'a' < 1`, true, ""}, {`false and 'a' < 1`, false, ""},
		{`get('$.output.text') + 1 == null`, false, "+ has no meaning for a string and a number"}, {`get('$.output') == get('$.output')`, false, "== has no meaning for an array or object and an array or object"},
		{`get('$.output') != 1`, false, "!="}, {`hours('x') == null`, false, "hours has no meaning for a string"}, {`abs(get('$.output')) == null`, false, "abs"}, {`-'a' == null`, false, "- has no meaning for a string"},
		{`max(1, 'x') > 0`, false, "max has no meaning for a number and a string"}, {`now() > minutes(1)`, false, "a datetime and a duration"}, {`datetime_parse(5, 'yyyy') == null`, false, "datetime_parse"}, {`to_unix_timestamp(1) == 1`, false, "to_unix_timestamp"},
	} {
		parsed, err := userfn.ParseCondition(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := parsed.Holds(of, now)
		if got != c.holds {
			t.Errorf("%s: got %v", c.text, got)
		}
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: got error %v, want %q", c.text, err, c.wrong)
		}
	}
}

// TestConditionRefused proves that a wrong condition is refused with the position of the error.
func TestConditionRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, reason string }{
		{"", "Syntax error at 1:0 the condition is empty"}, {"1 ==", "Syntax error at 1:4 a value is missing before the end"},
		{"true and", "Syntax error at 1:8 a value is missing before the end"}, {"and true", "Syntax error at 1:0 a value is missing before 'and'"}, {"not", "Syntax error at 1:3 a value is missing"},
		{"true\n  or or true", "Syntax error at 2:5 a value is missing before 'or'"}, {"get('$.a') = 'x'", "Syntax error at 1:11 '=' does not belong here"}, {"output.text == 'x'", "Syntax error at 1:0 'output' is neither"},
		{"knee() > 1", "Syntax error at 1:0 knee belongs to rerankers"}, {"get('$..a')", "Syntax error at 1:6 a path has"}, {strings.Repeat(" ", 20000), "the condition is longer than"},
		{strings.Repeat("not ", 200) + "true", "nested more than"}, {"1" + strings.Repeat("+1", 5000), "the condition has more than"},
	} {
		_, err := userfn.ParseCondition(c.text)
		var bad *userfn.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%.40q: got %v, want %q", c.text, err, c.reason)
		}
	}
}

// TestProgramNulls proves that in a program, unlike a condition, null differs from every other value.
func TestProgramNulls(t *testing.T) {
	t.Parallel()
	check(t, []program{
		{`get('$.nowhere') != 'x'`, expected(1)}, {`get('$.nowhere') == get('$.missing')`, expected(1)}, {`true and not false`, expected(1)}, {`null or 3`, expected(1)},
	})
}

// FuzzCondition proves that no text makes the parser or a condition panic, that a condition which reports an error does not
// hold, and that its value is reproducible.
func FuzzCondition(f *testing.F) {
	for _, s := range []string{
		`get('$.output.queue') == 'returns' and not (get('$.tools.stock.outputs.latest') != null)`, `if get('$.output.count') > 1 then 'a' < 1 else null`, `not not`, `- now() or or`,
	} {
		f.Add(s)
	}
	of := document(f)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := userfn.ParseCondition(text)
		if err != nil {
			var bad *userfn.Error
			if !errors.As(err, &bad) || bad.Line < 1 || bad.Column < 0 || bad.Reason == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		a, err := c.Holds(of, now)
		b, again := c.Holds(of, now)
		if a != b || (err == nil) != (again == nil) || a && err != nil {
			t.Fatalf("%q: %v %v, then %v %v", text, a, err, b, again)
		}
	})
}
