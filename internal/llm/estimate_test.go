package llm_test

import (
	"testing"

	"quarry/internal/llm"
)

// TestEstimate proves the rule, and that it does not matter where a text is cut into pieces.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "a": 1, "abcd": 1, "abcde": 2, "two words": 3, "a,b": 3, "2026": 4, "né": 2, "日本語": 5, "    x": 2, "\xff": 2,
	} {
		var whole, pieces llm.Estimate
		whole.Add(text)
		for _, r := range text {
			pieces.Add(string(r))
		}
		if got := whole.Tokens(); got != want || pieces.Tokens() != want {
			t.Errorf("%q: %d, in pieces %d, want %d", text, got, pieces.Tokens(), want)
		}
	}
}
