package provider

import (
	"encoding/json"
	"strings"
)

// BareJSON takes the fence of Markdown off a text that is to be JSON, which models put around it that are only asked
// for JSON, and reports whether it is.
func BareJSON(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return s, json.Valid([]byte(s))
}
