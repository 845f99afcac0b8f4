package background_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/internal/background"
)

// TestMain runs the tests of a process that makes room in a process of their own: what MakeRoom does is for good.
func TestMain(m *testing.M) {
	if os.Getenv("BACKGROUND_ROOM") != "" {
		background.MakeRoom()
		background.MakeRoom() // a second time does nothing
	}
	os.Exit(m.Run())
}

// TestPriority proves that a pool's threads have a lower priority than others where there is room beside them, and yield where there is
// none: without MakeRoom, or where GOMAXPROCS is set.
func TestPriority(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{"without": {}, "room": {"BACKGROUND_ROOM=1"}, "set": {"BACKGROUND_ROOM=1", "GOMAXPROCS=1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestThread$", "-test.v")
			for _, e := range os.Environ() {
				if !strings.HasPrefix(e, "GOMAXPROCS=") {
					cmd.Env = append(cmd.Env, e)
				}
			}
			cmd.Env = append(append(cmd.Env, env...), "BACKGROUND_CASE="+name)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "checked "+name) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestThread is what TestPriority runs.
func TestThread(t *testing.T) {
	t.Parallel()
	name := os.Getenv("BACKGROUND_CASE")
	if name == "" {
		return
	}
	room := name == "room" && background.Cores() == runtime.NumCPU()
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	running := background.Cores()
	if procs := runtime.GOMAXPROCS(0); procs != running {
		t.Errorf("without work %d may run at once on %d cores", procs, background.Cores())
	}
	if room {
		running *= 2
	}
	var in int
	pool := background.NewPool()
	if err := pool.Do(t.Context(), func(yield bool) {
		if procs := runtime.GOMAXPROCS(0); procs != running {
			t.Errorf("%d may run at once on %d cores, want %d", procs, background.Cores(), running)
		}
		if in, err = unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid()); err != nil || yield == room {
			t.Errorf("yields: %v, %v", yield, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if lower := in < own; lower != room { // the system call returns 20 less the niceness
		t.Errorf("priority %d, others have %d", in, own)
	}
	for runtime.GOMAXPROCS(0) != background.Cores() { // until the thread has waited for more work
		runtime.Gosched()
	}
	if err := pool.Do(t.Context(), func(bool) {
		if procs := runtime.GOMAXPROCS(0); procs != running {
			t.Errorf("the second time %d may run at once on %d cores, want %d", procs, background.Cores(), running)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for runtime.GOMAXPROCS(0) != background.Cores() {
		runtime.Gosched()
	}
	end, other := background.Begin(), background.Begin()
	other()
	if procs := runtime.GOMAXPROCS(0); procs != running {
		t.Errorf("beside work without a thread %d may run at once on %d cores, want %d", procs, background.Cores(), running)
	}
	end()
	if procs := runtime.GOMAXPROCS(0); procs != background.Cores() {
		t.Errorf("after it %d may run at once on %d cores", procs, background.Cores())
	}
	t.Log("checked", name)
}

// TestLower proves that the priority of another process is lowered.
func TestLower(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	before, err := unix.Getpriority(unix.PRIO_PROCESS, cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	background.Lower(cmd.Process.Pid)
	if after, err := unix.Getpriority(unix.PRIO_PROCESS, cmd.Process.Pid); err != nil || after >= before {
		t.Errorf("priority %d after %d, %v", after, before, err)
	}
}
