package crash

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"quarry/internal/testkit"
)

// TestFullInFlight proves that nothing of turns is lost or shown while no file can grow, as on a full disk: their answers wait,
// other inputs are refused or wait, and all is there once there is room, in this process or after a kill.
func TestFullInFlight(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			t.Parallel()
			const sessions = 8
			f, dir := newFlight(t), t.TempDir()
			p := testkit.StartBinary(t, dir)
			f.client = p.Client()
			furnishAgent(t, f.client, f.provider)
			var clients sync.WaitGroup
			f.launch(t, sessions, &clients)
			room := limit(t, p.PID(), unix.Rlimit{Cur: 4096, Max: unix.RLIM_INFINITY})
			before := make([][]agentEvent, sessions)
			for i, x := range f.talkers {
				before[i] = logOf(t, f.client, x.key)
			}
			status, _, err := f.client.Do("POST", "/v2/agents/a/sessions", map[string]any{"key": "full"})
			if err != nil || status < 500 {
				t.Fatalf("a session is opened though nothing can be written: %d, %v", status, err)
			}
			for range f.talkers { // they are answered, and their answers can't be written
				f.gate.Let()
			}
			for i, x := range f.talkers {
				if diff := cmp.Diff(before[i], logOf(t, f.client, x.key)); diff != "" {
					t.Errorf("%s has changed: %s", x.key, diff)
				}
			}
			if killed {
				p.Kill()
				clients.Wait()
				p = testkit.StartBinary(t, dir)
				f.client = p.Client()
				f.await(sessions)
			} else {
				limit(t, p.PID(), room)
				clients.Wait()
			}
			f.client.Must(t, http.StatusCreated, "POST", "/v2/agents/a/sessions", map[string]any{"key": "room"})
			f.land(t)
		})
	}
}

// limit sets how large the files of a process may become, and returns what it was.
func limit(t *testing.T, pid int, to unix.Rlimit) (was unix.Rlimit) {
	t.Helper()
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &to, &was); err != nil {
		t.Fatal(err)
	}
	return was
}
