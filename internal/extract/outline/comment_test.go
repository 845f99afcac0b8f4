package outline_test

import (
	"testing"

	"quarry/internal/extract/outline"
)

// TestComment proves what a comment is as a line.
func TestComment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   outline.Comment
		want string
	}{
		{outline.Comment{On: "B4", Author: "Bob", Time: "2026-01-02T03:04:05", Text: "too\n dear"}, "Comment on B4 (author: Bob, time: 2026-01-02T03:04:05): too dear"},
		{outline.Comment{Author: "Bob", Text: "Bob:\ntoo dear"}, "Comment (author: Bob): too dear"},
		{outline.Comment{Text: "why?"}, "Comment: why?"},
		{outline.Comment{Author: "Bob", Text: " "}, ""},
	} {
		if got := tt.in.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
