package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"quarry/internal/fault"
)

// TestManyFields proves that a fault names at most a hundred fields.
func TestManyFields(t *testing.T) {
	t.Parallel()
	f := fault.Invalid()
	for i := range 1000 {
		f.Field(fmt.Sprint("body.roles[", i, "]"), "is wrong")
	}
	if len(f.Fields) != 100 || f.Fields["body.roles[0]"] == "" {
		t.Errorf("%d fields, want the first 100", len(f.Fields))
	}
}

// TestFields proves that the first reason for a path is kept and that the text lists paths in order.
func TestFields(t *testing.T) {
	t.Parallel()
	f := fault.Invalid().Field("b", "two").Field("a", "at least %d", 1).Field("b", "again")
	if got, want := f.Error(), "(a: at least 1; b: two)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestGather proves that the fields of another fault are added behind those that are there, also from within a chain, and that an
// error without fields is one itself.
func TestGather(t *testing.T) {
	t.Parallel()
	inner := fault.InvalidField("a", "later").Field("b", "100%% wrong")
	f := fault.Invalid().Field("a", "first").Gather(nil).Gather(fmt.Errorf("read: %w", inner))
	if got, want := f.Error(), "(a: first; b: 100% wrong)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fault.Invalid().Gather(errors.New("no")).Fields[""], "no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := fault.Invalid().Gather(nil).Err(); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestChain proves that a fault is found in a chain of errors, and that its cause is reachable but not in its text.
func TestChain(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk on fire")
	err := fmt.Errorf("write row: %w", fault.Unavailable("storage", "try again").Because(cause).After(time.Second))
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindUnavailable || f.RetryAfter != time.Second {
		t.Fatalf("got %v, %t", f, ok)
	}
	if !errors.Is(err, cause) || f.Error() != "try again" {
		t.Errorf("cause reachable %t, text %q", errors.Is(err, cause), f.Error())
	}
	if fault.Is(err, fault.KindNotFound) || fault.Is(cause, fault.KindInternal) {
		t.Error("a kind matched that is not there")
	}
}
