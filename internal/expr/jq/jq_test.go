package jq_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"quarry/internal/expr/jq"
)

// Proves that a program has one result of bounded size, and that one which asks for too much memory ends.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, program, want string
		err                 error
	}{
		{"a result", `{n: (.list | length)}`, `{"n":3}`, nil},
		{"no result", `empty`, "no result", nil},
		{"two results", `1, 2`, "more than one result", nil},
		{"an error", `error("no")`, "error: no", nil},
		{"too large", `"x" * 2000000`, "more than 1 MiB", nil},
		{"a text doubled forty times", `reduce range(40) as $i ("x"; . + .)`, "", jq.ErrMemory},
		{"a list doubled forty times", `reduce range(40) as $i ([1]; . + .)`, "", jq.ErrMemory},
	} {
		// one after the other: memory counts for the whole process
		t.Run(test.name, func(t *testing.T) {
			p, err := jq.Parse(test.program)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Run(t.Context(), map[string]any{"list": []any{1, 2, 3}}, 1<<20)
			got := string(out)
			if err != nil {
				got = err.Error()
			}
			if test.err != nil && !errors.Is(err, test.err) || !strings.Contains(got, test.want) {
				t.Errorf("got %q, %v; want %q, %v", out, err, test.want, test.err)
			}
		})
	}
}

// Proves that all results come, up to a size, that an error among them is the error of all, and that no program reads the environment, modules
// or further inputs.
func TestAll(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		program, want string
		more          bool
	}{
		{`.list[]`, "1 2 3", false},
		{`empty`, "", false},
		{`range(1000000000)`, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34", true},
		{`"short", "x" * 100`, `"short"`, true},
		{`"x" * 101`, "its result has more than 0 KiB", false},
		{`1, error("no")`, "error: no", false},
		{`env, $ENV`, "{} {}", false},
		{`input`, "is no jq program", false},
		{`inputs`, "is no jq program", false},
		{`import "a" as a; 1`, "is no jq program", false},
		{`include "a"; 1`, "is no jq program", false},
		{`$x`, "is no jq program", false},
		{`"x" * 5000` + strings.Repeat(" ", 4096), "more than the 4096", false},
	} {
		got, more, err := "", false, error(nil)
		p, err := jq.Parse(test.program)
		if err == nil {
			var all []json.RawMessage
			all, more, err = p.All(t.Context(), map[string]any{"list": []any{1, 2, 3}}, 64<<20, 100)
			got = strings.Join(texts(all), " ")
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) && (err == nil || !strings.Contains(got, test.want)) || more != test.more {
			t.Errorf("%.40s: %s, %t", test.program, got, more)
		}
	}
}

// Proves that garbage does not count where memory is bounded, and that what a program holds does.
func TestAllMemory(t *testing.T) {
	for program, want := range map[string]error{
		`[range(40000) | {a: ., b: "x\(.)"} | tojson] | length`:     nil,
		`reduce range(30000) as $i (0; . + ([range(50)] | length))`: nil,
		`[range(100000000)]`: jq.ErrMemory,
		`[range(1000) as $i | "x" * 1000000 + "\($i)"] | length`: jq.ErrMemory,
	} {
		p, err := jq.Parse(program)
		if err != nil {
			t.Fatal(err)
		}
		// on a machine that is busy, the time may be over first
		if _, _, err := p.All(t.Context(), nil, 64<<20, 1<<20); !errors.Is(err, want) && (want == nil || !errors.Is(err, jq.ErrTime)) {
			t.Errorf("%s: %v, want %v", program, err, want)
		}
	}
}

// Proves that a program ends with its caller, and that the cause is told.
func TestRunCanceled(t *testing.T) {
	t.Parallel()
	p, err := jq.Parse(`last(repeat(1))`)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := p.Run(ctx, nil, 1<<20); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
