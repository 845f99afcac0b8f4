package dial

import "testing"

// TestAdapters proves that there is no adapter for a wire format that can't be registered; that each that can be has one
// is proved in package registry.
func TestAdapters(t *testing.T) {
	t.Parallel()
	for kind := range adapters {
		if !kind.Known() {
			t.Errorf("%s is not in the table of formats", kind)
		}
	}
}
