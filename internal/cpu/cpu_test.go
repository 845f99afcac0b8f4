package cpu_test

import (
	"slices"
	"testing"

	"quarry/internal/cpu"
)

// TestUse proves that Use takes every path of this CPU by name, and that a name which it refuses leaves the path as it
// was. It does not run in parallel: the path is one of the whole process.
func TestUse(t *testing.T) {
	use := func(name string) {
		t.Helper()
		if err := cpu.Use(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { use("auto") })
	paths := cpu.Available()
	if paths[0] != cpu.Portable {
		t.Errorf("Available = %v, want portable first", paths)
	}
	for _, p := range paths {
		use(p.String())
		if got := cpu.Current(); got != p {
			t.Errorf("Current = %v after Use(%q)", got, p)
		}
	}
	use("portable")
	refused := []string{"sse2", ""}
	for _, p := range []cpu.Path{cpu.AVX2, cpu.AVX512} {
		if !slices.Contains(paths, p) {
			refused = append(refused, p.String())
		}
	}
	for _, name := range refused {
		if err := cpu.Use(name); err == nil {
			t.Errorf("Use(%q) returned no error", name)
		}
		if got := cpu.Current(); got != cpu.Portable {
			t.Errorf("Current = %v after a refused Use(%q)", got, name)
		}
	}
	use("auto")
	if got, want := cpu.Current(), paths[len(paths)-1]; got != want {
		t.Errorf("auto chose %v, want %v", got, want)
	}
}
