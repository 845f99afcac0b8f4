package jq_test

import (
	"context"
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
