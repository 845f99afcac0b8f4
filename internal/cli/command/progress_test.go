package command_test

import (
	"bytes"
	"strings"
	"testing"

	"quarry/internal/cli/command"
)

// TestProgress proves that a bar off the terminal is one line per state, with count, rate and time left.
func TestProgress(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := command.NewProgress(&b, 3, "files")
	p.Step("a")
	p.Step("b")
	if b.Len() != 0 {
		t.Errorf("printed before it was worth it: %q", b.String())
	}
	p.Step("c")
	p.Done()
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "3/3 files") || !strings.Contains(got, "0s left") {
		t.Errorf("got %q", got)
	}
}
