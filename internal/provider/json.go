package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// BareJSON removes the Markdown fence that models put around JSON, and reports whether the rest is JSON.
func BareJSON(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return s, json.Valid([]byte(s))
}

// Present reports whether a member is there and is not null.
func Present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// Object returns the arguments of a call as an object, which not every model sends; nil if there are none.
func Object(arguments json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(arguments, &members) == nil && members != nil {
		return arguments
	}
	if len(arguments) == 0 {
		return nil
	}
	out, _ := json.Marshal(map[string]string{"arguments": string(arguments)}) // texts always encode
	return out
}

// Join joins the texts that are not blank by empty lines.
func Join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n\n")
}
