package dial

import (
	"maps"
	"slices"
	"testing"

	"quarry/internal/llm/registry"
)

// TestAdapters proves that every wire format that can be registered has an adapter, and that there is no other adapter.
func TestAdapters(t *testing.T) {
	t.Parallel()
	types := registry.Types()
	slices.Sort(types)
	if got := slices.Sorted(maps.Keys(adapters)); !slices.Equal(got, types) {
		t.Errorf("there are adapters for %v, want %v", got, types)
	}
}
