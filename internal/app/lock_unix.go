//go:build unix

package app

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockExclusive takes the lock that ends with the process, without waiting.
func lockExclusive(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// unlock releases the lock.
// moment, for as long as that one has a copy of the file.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
