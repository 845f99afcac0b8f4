package background

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// priorities reports whether each thread has a priority of its own.
const priorities = true

// nice is how much lower the priority is, as the system call setpriority counts: a core that both want goes to others for nine
// tenths of the time.
const nice = 10

// lowerThread lowers the priority of the calling thread, and reports whether it could.
func lowerThread() bool { return unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice) == nil }

// Lower lowers the priority of a process that belongs to this one, or of this one itself: of the threads that it has, and so of those
// that these start.
func Lower(pid int) {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range all {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, nice) // it may have ended
		}
	}
}
