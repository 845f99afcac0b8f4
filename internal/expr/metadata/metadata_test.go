package metadata_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"quarry/internal/expr/metadata"
)

const sample = `{"plan":"gold","seats":5,"ratio":0.5,"big":9007199254740993,"trial":true,"done":false,"nothing":null,"empty":"","note":"50% off_now\\","city":"Zürich",
	"user_ids":[1,2,3],"tags":["a","b",null],"none":[],"profile":{"country":"US","address":{"zip":"8001"},"a.b":7},"profile.lang":"de","profile.shadow":1,"user-id":9,
	"like":"x","o''brien":1,"x":{"y.z":4}}`

func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMatches proves the value of conditions over metadata. A filter is true, false or unknown: what is not true while its
// negation is not either is unknown.
func TestMatches(t *testing.T) {
	t.Parallel()
	of := decode(t, sample)
	for _, c := range []struct{ text, want string }{
		{"plan = 'gold'", "true"}, {"plan <> 'gold'", "false"}, {"plan != 'free'", "true"}, {"'gold' = plan", "true"}, {"plan = 'Gold'", "false"}, {"plan < 'h'", "true"}, {"plan >= 'h'", "false"},
		{"seats = 5", "true"}, {"seats = 5.0", "true"}, {"seats > 4 and seats <= 5", "true"}, {"seats < -1", "false"}, {"ratio = .5", "true"}, {"-0.5 < ratio", "true"}, {"ratio >= +1e-1", "true"},
		{"big = 9007199254740993", "true"}, {"big = 9007199254740992", "false"}, {"seats > 9223372036854775808", "false"}, {"seats > -9223372036854775808", "true"},
		{"trial = true", "true"}, {"trial = FALSE", "false"}, {"done <> true", "true"}, {"trial", "true"}, {"NOT done", "true"}, {"done", "false"}, {"TRUE", "true"}, {"false OR trial", "true"},
		// Null is unknown.
		{"nowhere = 1", "unknown"}, {"nowhere <> 1", "unknown"}, {"nothing = 1", "unknown"}, {"plan = NULL", "unknown"}, {"NULL = NULL", "unknown"}, {"nowhere", "unknown"}, {"NULL", "unknown"}, {"nowhere < 1", "unknown"},
		{"nowhere = 1 OR plan = 'gold'", "true"}, {"nowhere = 1 AND plan = 'gold'", "unknown"}, {"nowhere = 1 AND plan = 'free'", "false"}, {"nowhere = 1 OR plan = 'free'", "unknown"}, {"NOT (nowhere = 1) OR trial", "true"},
		{"nowhere IS NULL", "true"}, {"nothing is null", "true"}, {"plan IS NULL", "false"}, {"plan IS NOT NULL", "true"}, {"empty IS NULL", "false"}, {"NOT nowhere IS NULL", "false"}, {"none IS NOT NULL", "true"}, {"profile IS NOT NULL", "true"},
		// Kinds that differ.
		{"plan = 5", "false"}, {"plan <> 5", "true"}, {"seats = '5'", "false"}, {"plan < 5", "unknown"}, {"trial = 1", "false"}, {"plan", "unknown"}, {"seats", "unknown"}, {"trial > 0", "unknown"},
		{"user_ids = 1", "unknown"}, {"user_ids <> 1", "unknown"}, {"profile = 'US'", "unknown"}, {"user_ids = user_ids", "unknown"}, {"plan = plan", "true"}, {"seats = plan", "false"},
		// LIKE.
		{"plan LIKE 'g%'", "true"}, {"plan LIKE 'G%'", "false"}, {"plan like '%old'", "true"}, {"plan LIKE '%ol%'", "true"}, {"plan LIKE 'gol'", "false"}, {"plan LIKE 'gold'", "true"}, {"plan LIKE '____'", "true"}, {"plan LIKE '___'", "false"},
		{"plan LIKE '_%d'", "true"}, {"plan LIKE '%_____%'", "false"}, {"plan LIKE '%'", "true"}, {"empty LIKE '%'", "true"}, {"empty LIKE '_'", "false"}, {"empty LIKE ''", "true"}, {"plan LIKE 'g%g%d'", "false"}, {"plan LIKE 'gold%gold'", "false"},
		{"plan NOT LIKE 'g%'", "false"}, {"NOT plan LIKE 'f%'", "true"}, {"nowhere LIKE '%'", "unknown"}, {"nowhere NOT LIKE '%'", "unknown"}, {"seats LIKE '5'", "unknown"}, {`note LIKE '50\% off\_%\\'`, "true"}, {`note LIKE '50\%_off_now_'`, "true"},
		{`note LIKE '\50%'`, "true"}, {`note LIKE '%\%\_%'`, "false"}, {"city LIKE 'Z_rich'", "true"}, {"city LIKE '%_r_ch'", "true"}, {"city LIKE '%ü_i%h'", "true"}, {"city LIKE '_______'", "false"}, {"'abc' LIKE 'a%'", "true"},
		// IN.
		{"plan IN ('free', 'gold')", "true"}, {"plan NOT IN ('free', 'gold')", "false"}, {"plan IN ('free')", "false"}, {"plan IN ('free', NULL)", "unknown"}, {"plan IN ('gold', NULL)", "true"}, {"plan NOT IN ('free', NULL)", "unknown"},
		{"nowhere IN (1)", "unknown"}, {"seats IN (1, 5.0)", "true"}, {"seats IN ('5')", "false"}, {"1 IN user_ids", "true"}, {"4 IN user_ids", "false"}, {"4 NOT IN user_ids", "true"}, {"'1' IN user_ids", "false"}, {"seats IN user_ids", "false"},
		{"'a' IN tags", "true"}, {"'c' IN tags", "unknown"}, {"1 IN none", "false"}, {"1 IN nowhere", "unknown"}, {"NULL IN user_ids", "unknown"}, {"'gold' IN plan", "true"}, {"2 IN (user_ids, 9)", "true"}, {"9 IN (user_ids, 9)", "true"}, {"user_ids IN (1)", "unknown"},
		// Names.
		{`"profile.country" = 'US'`, "true"}, {`profile.country = 'US'`, "true"}, {`"profile"."country" = 'US'`, "true"}, {`"profile.address.zip" LIKE '80%'`, "true"}, {`"profile.lang" = 'de'`, "true"}, {`"profile.nowhere" IS NULL`, "true"},
		{`"profile.a.b" = 7`, "true"}, {`"x.y.z" = 4`, "true"}, {`"plan.deeper" IS NULL`, "true"}, {`"user_ids.0" IS NULL`, "true"}, {`"user-id" = 9`, "true"}, {`"like" LIKE 'x'`, "true"}, {`"o''brien" = 1`, "true"}, {`Plan IS NULL`, "true"}, {`"a""b" IS NULL`, "true"},
		// Precedence.
		{"trial OR done AND done", "true"}, {"(trial OR done) AND done", "false"}, {"NOT trial OR trial", "true"}, {"NOT (trial OR trial)", "false"}, {"NOT NOT trial", "true"}, {"not plan = 'free' and trial", "true"}, {"((seats = 5))", "true"}, {"trial\nAND\tseats = 5", "true"},
	} {
		got := map[bool]string{true: "true", false: "unknown"}[parse(t, c.text).Matches(of)]
		if parse(t, "NOT ("+c.text+")").Matches(of) {
			if got == "true" {
				t.Errorf("%s: both it and its negation match", c.text)
			}
			got = "false"
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

func parse(t *testing.T, text string) *metadata.Filter {
	t.Helper()
	f, err := metadata.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// TestOtherDocuments proves that blank text matches everything, that numbers decoded as floats count, and that in what is no
// object every name is null.
func TestOtherDocuments(t *testing.T) {
	t.Parallel()
	if !parse(t, " \n").Matches(nil) {
		t.Error("blank text does not match")
	}
	if !parse(t, "a = 1 AND 2.5 IN b").Matches(map[string]any{"a": 1.0, "b": []any{2.5}}) {
		t.Error("floats do not match")
	}
	for _, of := range []any{nil, "text", []any{1.0}, 5.0} {
		if !parse(t, "a IS NULL").Matches(of) {
			t.Errorf("%v has a member", of)
		}
	}
	if parse(t, "a > 1").Matches(decode(t, `{"a":1e999}`)) {
		t.Error("a number beyond the range matches")
	}
}

// TestRefused proves that a wrong filter is refused with the position and the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"plan =", "1:6 expected a name or a value, found the end of the filter"}, {"= 1", `1:0 expected a name or a value, found "="`}, {"plan 'gold'", `1:5 expected AND, OR or the end, found "'gold'"`},
		{"plan == 'gold'", `1:5 expected AND, OR or the end, found "=="; write =`}, {"a = 1 && b = 2", `1:6 expected AND, OR or the end, found "&&"; write AND`}, {"!a", `1:0 expected a name or a value, found "!"; write NOT`},
		{"user-id = 1", "1:4 expected AND, OR or the end, found \"-\"; a name with a hyphen is written in double quotes"}, {"a ILIKE 'x'", "write LIKE"}, {"a BETWEEN 1 AND 2", "write >= and <="}, {"`a` = 1", "names are quoted with \""},
		{"plan = ‘gold’", `1:7 expected a name or a value, found "‘"; write '`}, {"plan = 'gold", "1:7 the text that begins with ' has no closing quote"}, {`"plan = 1`, `1:0 the text that begins with " has no closing quote`}, {`"" = 1`, "1:0 a name is empty"},
		{"(a = 1", `1:6 expected ")", found the end`}, {"a = 1)", `1:5 expected AND, OR or the end, found ")"`}, {"()", `1:1 expected a name or a value`}, {"a = 1 AND", "1:9 expected a name"}, {"AND a", `1:0 expected a name or a value, found "AND"`}, {"a = 1\nOR OR", `2:3 expected a name or a value, found "OR"`},
		{"a IS 1", "1:5 expected NULL or NOT NULL after IS"}, {"a NOT = 1", `1:6 expected LIKE or IN after NOT`}, {"a LIKE b", "1:7 expected a pattern in single quotes after LIKE"}, {`a LIKE "b"`, "1:7 expected a pattern"}, {`a LIKE 'b\'`, `1:7 the pattern ends with a backslash`},
		{"a IN 1", "1:5 expected a list in parentheses or a name after IN"}, {"a IN ()", "1:6 expected a name or a value"}, {"a IN (1, )", "1:9 expected"}, {"a IN (1", `1:7 expected ")"`}, {"a IN null", "1:5 expected a list"},
		{"a = -b", `1:5 expected a number after -, found "b"`}, {"a = 1e999", "1:4 the number 1e999 is too large"}, {"a. = 1", "1:2 expected a name after the period"}, {"a = b + 1", `found "+"`}, {"f(a)", `1:1 expected AND, OR or the end, found "("`}, {"a = 1; DROP", `found ";"`},
		{"a = \xff", "1:0 the filter is not valid UTF-8"}, {strings.Repeat("é", 8001), "1:0 the filter has 8001 characters; at most 8000"}, {strings.Repeat("(", 4000), "1:200 the filter is nested deeper than 200 levels"}, {strings.Repeat("NOT ", 300) + "a", "nested deeper"},
	} {
		f, err := metadata.Parse(c.text)
		var bad *metadata.Error
		if f != nil || !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "Syntax error at ") {
			t.Errorf("%.40q: got %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := metadata.Parse("a IN (" + strings.Repeat("1,", 3900) + "1)"); err != nil {
		t.Errorf("a long list: %v", err)
	}
	if _, err := metadata.Parse(strings.Repeat("(", 199) + "a" + strings.Repeat(")", 199)); err != nil {
		t.Errorf("deep parentheses: %v", err)
	}
}

// FuzzParse proves that no text makes the parser or a filter panic, that errors have a position inside the text, and that a
// filter and its negation never both match.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`plan = 'gold' AND "profile.country" IN ('US', 'CA')`, `NOT (1 IN user_ids OR tags IS NOT NULL)`, `note LIKE '50\%_off%' and a.b >= -1e3`, `((((`, `'`, "`a`",
	} {
		f.Add(s, sample)
	}
	f.Fuzz(func(t *testing.T, text, document string) {
		filter, err := metadata.Parse(text)
		if err != nil {
			var bad *metadata.Error
			if !errors.As(err, &bad) || bad.Line < 1 || bad.Line > 1+strings.Count(text, "\n") || bad.Column < 0 || bad.Column > len(text) || bad.Reason == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		var of any
		d := json.NewDecoder(strings.NewReader(document))
		d.UseNumber()
		_ = d.Decode(&of) // what is no JSON has no names
		if filter == nil {
			return
		}
		negated, err := metadata.Parse("NOT (" + text + ")")
		if err == nil && filter.Matches(of) && negated.Matches(of) {
			t.Fatalf("%q and its negation match %s", text, document)
		}
	})
}
