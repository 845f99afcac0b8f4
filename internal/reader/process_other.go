//go:build !linux

package reader

import (
	"os"
	"syscall"
)

// Program returns the path of this program.
func Program() (string, error) { return os.Executable() }

// attributes are those of every process.
func attributes() *syscall.SysProcAttr { return nil }

func keepOpenFiles() {}

func rename() {}

// resident returns 0: workers see for themselves how much memory they hold.
func resident(int) int64 { return 0 }
