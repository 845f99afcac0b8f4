package jq_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"quarry/internal/expr/jq"
)

// plain returns what the library makes of a program alone.
func plain(t *testing.T, program string, v any) string {
	t.Helper()
	q, err := gojq.Parse(program)
	if err != nil {
		return "error"
	}
	all := []string{}
	for run := q.Run(v); ; {
		out, ok := run.Next()
		if !ok {
			return strings.Join(all, " ")
		}
		if _, failed := out.(error); failed {
			return "error"
		}
		raw, err := gojq.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(raw))
	}
}

func texts(all []json.RawMessage) (out []string) {
	for _, raw := range all {
		out = append(out, string(raw))
	}
	return out
}

// Proves that a program means what it means without the guards.
func TestGuardedMeaning(t *testing.T) {
	t.Parallel()
	for _, program := range []string{
		`.a * 3`, `"ab" * .a`, `.a * "ab"`, `.o * {x: {z: 9}}`, `[(1, 2) * (3, 4)]`, `[(1, 2) - (3, 4)]`, `[(1,2) == (2,1)]`, `.a *= 4 | .a`, `.l[] *= 2 | .l`, `.a *= (2, 3)`,
		`[.a *= (2, 3) | .a]`, `.l -= [2] | .l`, `.a -= 1`, `[.l[] | select(. > 1)]`, `.l | sort | join("-")`, `[.l[] | tostring] | join(", ")`, `"\(.o) and \(.l | length)"`, `@json "x\(.o)"`,
		`@json`, `.l | @csv`, `@base64 "a\("b" * 2)c"`, `.o | tojson | fromjson`, `.l | min, max`, `.l | index(2)`, `.l | contains([1])`, `[.l[] | {k: (. * 2)}] | group_by(.k) | map(length)`,
		`try error("x") catch .`, `try error catch .a`, `def f(x): x * 2; f(.a)`, `def tojson: "mine"; tojson`, `def f: 2; . as $v | .a * f`, `.a * f`, `. as {a: $x} | $x * $x`, `reduce .l[] as $i (1; . * $i)`,
		`[foreach .l[] as $i (1; . * $i)]`, `if .a == 3 then "y" else "n" end`, `.l | .[1:] == [2]`, `.o."x" == .o["x"]`, `label $out | .l[] | if . == 2 then ., break $out else empty end`,
		`.l | map(. * . - 1) | add`, `.o | to_entries | map("\(.key)=\(.value)") | join(";")`, `-(.a) * 2`, `[.l[] * 2, .a][0]`, `"a" * 0`, `"a" * -1`, `.l | tojson[1:2]`, `.l | sort[0]`, `[1,[2]] | flatten`,
		`.l * .l`, `.a - "x"`, `.missing * 2`, `[limit(3; repeat("x")) ] | join(" ")`, `.l | sort_by(-.)`, `.l|IN([1])`, `input`, `@text "\("a\(.a)b")"`,
		`{"k\(.a)": 1}`, `."o"`, `."\("a")"`, `.["\("a")"]`, `. as {"\("a")": $x} | $x`, `{("a", "b"): 1}`, `{a}`, `{$__loc__}`, `{"a"}`, `{"a\("")"}`, `@base64 "\(.a)"`, `{@base64 "x\(.a)": 1}`,
		`.l[0]`, `.l[-1]`, `.l[.a - 3]`, `.l[(0, 1)]`, `.["a"]`, `.o["x"].y`, `.l[.a] = 5 | .l`, `[paths]`, `setpath(["l", 1]; 9) | .l`, `fromstream(.l | tostream)`, `[.l[] | tojson | fromjson]`,
		`"12" | tonumber`, `.l | .[100000]`, `.l | .[1000000]`, `del(.l[0]) | .l`, `pick(.l[1])`, `.l | first`, `.l[1:][0]`, `.o[.missing]?`, `12345678901234567890 * 10`, `to_entries | from_entries | .l`,
		`[(1, 2) + (3, 4)]`, `.a + .missing`, `.l + .l`, `"a" + "b" + .a`, `.o + {z: 1}`, `.l[] += 2 | .l`, `[.a += (2, 3) | .a]`, `.a += 1 | .a`, `.l += .l | .l`, `.a + 1 * 2 - 3`, `[.l[] + 1]`,
		`def f: . + 1; .a | f | f`, `reduce .l[] as $i (0; . + $i)`, `.new += 1 | .new`, `"a" + 1`, `_add(1; 2)`, `.l | add`, `path(.a + 1)`, `-.a + 1`, `.a + (.l | length) | . + .`, `[limit(2; .l[] + .l[])]`,
	} {
		v := map[string]any{"a": 3, "l": []any{2, 1}, "o": map[string]any{"x": map[string]any{"y": 1}}}
		want, got := plain(t, program, v), "error"
		p, err := jq.Parse(program)
		if err == nil {
			var all []json.RawMessage
			if all, _, err = p.All(t.Context(), v, jq.MaxMemory, 1<<20); err == nil {
				got = strings.Join(texts(all), " ")
			}
		}
		if got != want {
			t.Errorf("%s is %s (%v), want %s", program, got, err, want)
		}
	}
}

// Proves that steps which would write out, compare or make a value of any size are refused.
func TestGuardedSteps(t *testing.T) {
	t.Parallel()
	const twice = `reduce range(60) as $i ([1]; [., .]) | `
	for _, program := range []string{
		`"x" * 1000000000`, `1000000000 * "x"`, `"x" as $x | 1e9 * $x`, `("x" * 1e6) as $x | $x * 1e6`, `_multiply("x"; 1e9)`, `. = "x" | . *= 1e9`,
		twice + `tojson`, twice + `tostring`, twice + `"\(.)"`, twice + `@json`, twice + `@html "a\(.)"`, twice + `format("json")`, twice + `. == [.]`, twice + `error`, twice + `error(.)`, twice + `sort`, twice + `[., .] | sort`,
		twice + `[.[0], .[1]] | unique`, twice + `flatten`, twice + `. - .`, twice + `contains([1])`, twice + `{a: .} * {a: .}`, twice + `halt_error`, twice + `[.] | index(.)`, twice + `{"\(.)": 1}`, twice + `{} ."\(.)"`, twice + `. as $x | {a: 1} as {"\($x)": $y} | $y`, twice + `[] | .["\(.)"]?, ("\([[1]])" | length), error("\(1)" * 1e9)`,
		twice + `map(.) | group_by(.)`, `[range(10000)] | join("x" * 1000000)`,
		`[] | .[60000000] = 1`, `60000000 as $i | [] | .[$i] = 1`, `null | setpath([60000000]; 1)`, `fromstream([[60000000], 1], [[60000000]])`, `pick(.[60000000])`, `_index(.; 60000000) = 1`, `[] | .[6e7] += 1`,
		`reduce range(40) as $i (9; . * .)`, `reduce range(40) as $i (9; . *= .)`, `reduce range(40) as $i ("x"; . += .)`, `reduce range(40) as $i ([1]; _add(.; .))`, `"1" * 20000 | tonumber`, `"[1,1]" * 2000000 | fromjson`,
	} {
		p, err := jq.Parse(program)
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		out, err := p.Run(t.Context(), nil, 1<<20)
		refused := []string{"a step makes a value of more than 64 MiB", "a step works with more than 64 MiB", "a list has no more than", "an integer has more than", "too long to be read in a step"}
		if err == nil || !slices.ContainsFunc(refused, func(text string) bool { return strings.Contains(err.Error(), text) }) {
			t.Errorf("%s is %.100s, %v", program, out, err)
		}
	}
}

func FuzzGuarded(f *testing.F) {
	// Proves that a program that the library compiles is compiled with guards, too, and that none breaks them.
	for _, program := range []string{`.a * 3`, `{"k\(.a)": 1}`, `. as {"\("a")": $x} | $x`, `.[1:].a[0]?`, `@json "\(1)"`, `def f(x): x; f(.) *= 2`, `reduce .[] as [$a] (0; . + $a)`, `try error catch .`, `if . then 1 elif 2 then 3 end`,
		`label $x | break $x`, `..`, `.a.b |= .`, `-1`, `[.[] | {a, "b": 1, ("c"): 2, @text "d": 3}]`, `?//`, `. as [$a] ?// $a | $a`, `foreach .[] as $x (0; 1; 2)`} {
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program string) {
		_, err := jq.Parse(program)
		q, plain := gojq.Parse(program)
		if plain == nil {
			_, plain = gojq.Compile(q)
		}
		if (err == nil) != (plain == nil) && len(program) <= 4096 {
			t.Errorf("%q: %v, without guards %v", program, err, plain)
		}
	})
}
