//go:build unix

package reader

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// root is the folder that workers are in.
func root() string { return "/" }

// confine takes from this process what parsing doesn't need: from now on it opens no file and no socket, writes to no file and
// leaves no memory behind when it crashes.
func confine() error {
	time.Sleep(time.Microsecond) // the runtime opens what its timers need with the first of them
	err := restrict()
	for _, resource := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_FSIZE, unix.RLIMIT_CORE} {
		err = errors.Join(err, os.NewSyscallError("setrlimit", unix.Setrlimit(resource, &unix.Rlimit{})))
	}
	return err
}
