// Package heap puts the first garbage collection off until there is something to collect. Most commands of the client are over before
// it: while the heap grows to its first ten megabytes Go collects five times, which was a third of the processor time of a command
// (decision 0102).
//
// The package imports little, so that Go initialises it before the packages of the program, which make most of these megabytes.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
)

// first is how much memory the Go runtime holds when the first collection starts, in bytes.
const first = 32 << 20

func init() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" { // which say when to collect
		return
	}
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(first)
	runtime.AddCleanup(new([64]byte), func(struct{}) { // of what the first collection finds
		debug.SetGCPercent(percent)
		if debug.SetMemoryLimit(-1) == first { // else somebody has set another since
			debug.SetMemoryLimit(limit)
		}
	}, struct{}{})
}
