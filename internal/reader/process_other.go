//go:build !linux

package reader

import (
	"os"
	"syscall"
	"time"
)

// Program returns the path of this program.
func Program() (string, error) { return os.Executable() }

// attributes are those of every process.
func attributes() *syscall.SysProcAttr { return nil }

func keepOpenFiles() {}

func rename() {}

// resident returns 0: workers see for themselves how much memory they hold.
func resident(int) int64 { return 0 }

// began is when this process did.
var began = time.Now()

// worked returns the time on the clock: there is no other for a process that still runs.
func worked(int) time.Duration { return time.Since(began) }
