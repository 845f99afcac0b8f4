package index

import (
	"testing"

	"quarry/internal/cli/command"
)

// TestReason proves that a refusal is told in words of the command line: no path of a request, no word of the protocol.
func TestReason(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]command.Refused{
		"the file must not be empty": {
			Status: 400, Messages: []string{"INVALID_ARGUMENT: body.file must not be empty"}, Fields: map[string]string{"body.file": "must not be empty"},
		},
		"the PDF is damaged": {Status: 400, Messages: []string{"INVALID_ARGUMENT: the PDF is damaged"}, Fields: map[string]string{"body.file": "the PDF is damaged"}},
		"--chars must be at least 100": {
			Status: 400, Fields: map[string]string{"body.chunking_strategy.max_chars_per_chunk": "must be at least 100"},
		},
		"custom_dimensions.trust: is not known": {Status: 400, Fields: map[string]string{"body.file.custom_dimensions.trust": "is not known"}},
		"the service answers 502 Bad Gateway":   {Status: 502},
	} {
		if got := reason(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
