//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Take takes the lock on f without waiting. It ends with the process at the latest.
func Take(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

// Release ends the lock. Closing f would not be enough: a child process that is being started has a copy of it for
// a moment.
func Release(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
