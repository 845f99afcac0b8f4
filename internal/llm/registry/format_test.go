package registry_test

import (
	"net/http"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/llm/registry"
	"quarry/internal/provider/dial"
)

// TestAdapters proves that every wire format that can be registered can be dialled.
func TestAdapters(t *testing.T) {
	t.Parallel()
	d := dial.New(http.DefaultClient)
	for _, kind := range registry.Types() {
		_, err := d.Open(registry.Connection{Type: kind})
		if f, ok := fault.As(err); ok && f.Fields["type"] != "" {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := d.Open(registry.Connection{Type: "pigeon"}); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a type that nobody knows: %v", err)
	}
}
