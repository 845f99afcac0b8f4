package heap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"quarry/internal/testkit"
)

// TestFirst proves that after the first collection memory is collected as Go has it. That this comes late is proved in test/binary.
func TestFirst(t *testing.T) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		testkit.Skip(t, "GOGC or GOMEMLIMIT is set, and the package does nothing")
	}
	for runtime.GC(); debug.SetMemoryLimit(-1) != math.MaxInt64; runtime.Gosched() { // the cleanup has a goroutine of its own
	}
	if percent := debug.SetGCPercent(100); percent != 100 {
		t.Errorf("memory is collected when it has grown by %d %%, want 100", percent)
	}
}
