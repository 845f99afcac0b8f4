package testkit

import (
	"encoding/json"
	"testing"
)

// Object parses a JSON object.
func Object(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}
