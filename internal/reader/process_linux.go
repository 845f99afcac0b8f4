package reader

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Program returns the path of this program as it was started: a file that was replaced or removed since then is still there behind
// it.
func Program() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// attributes has the kernel kill a worker when the service dies. Its input ends then as well, which is enough wherever there is no
// such signal; a worker that has no memory left may not come to read that.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// keepOpenFiles keeps files that this process was started with from its workers. Those that it opens itself are kept anyway.
func keepOpenFiles() {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // kernels before 5.11 can't
}

// rename has lists of processes show a worker by its name, and not by the path that it was started with.
func rename() {
	_ = os.WriteFile("/proc/self/comm", []byte("quarry-worker"), 0) // a name only
}

// resident returns how much memory a process holds, 0 if the system doesn't say.
func resident(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// worked returns how much processor time a process has had, 0 if the system doesn't say.
func worked(pid int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// proc(5), counted behind the name, which may hold anything but ends with the last bracket.
	const user, system, tick = 11, 12, time.Second / 100
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) <= system {
		return 0
	}
	var ticks int64
	for _, f := range fields[user : system+1] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}
