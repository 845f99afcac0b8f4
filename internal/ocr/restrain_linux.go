package ocr

import (
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/background"
)

// mostMemory is the address space of a process, in bytes: for the largest picture that is read tesseract takes a quarter of it.
const mostMemory = 2 << 30

// attributes has the kernel kill a process when the service dies.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// restrain bounds what a process takes. It waits for its input meanwhile. Searches come before text recognition.
func restrain(pid int) {
	for resource, most := range map[int]uint64{unix.RLIMIT_AS: mostMemory, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0} {
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil) // a process that has ended needs none
	}
	background.Lower(pid)
}
