package crash

import (
	"bytes"
	"net/http"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"quarry/internal/provider/scripted"
)

// TestFullUpload proves that an upload for which there is no room, be it for the bytes of its file or for their rows, is refused with
// 503 and leaves the session as it was and no bytes, and that the same input is accepted once there is room.
func TestFullUpload(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		what string
		size int    // of the file
		room uint64 // that a file may grow to: beyond what the database needs, or less than that
	}{{"in the middle of the file", 12 << 20, 6 << 20}, {"at the row", 2000, 4096}} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			w := &town{t: t, dir: t.TempDir(), read: map[string]bool{}, named: map[string]string{}}
			provider := scripted.Start(t)
			provider.Respond("worker", w.reply)
			w.start()
			w.furnish(provider)
			c := &conversation{agent: plain, key: "s"}
			w.c.Must(t, http.StatusCreated, "POST", "/v2/agents/plain/sessions", map[string]any{"key": c.key, "description": ""})
			send := func(word string, content []byte) int {
				t.Helper()
				file := []kept{{name: word + ".txt", sum: sumOf(content)}}
				status, answer, err := w.upload(c.path(), file, [][]byte{content}, []any{map[string]any{"type": "text", "content": "Say " + word}})
				if err != nil {
					t.Fatal(err)
				}
				if status == http.StatusCreated {
					c.ask(tells, word, file, true, false)
				}
				if got := w.fetch(c); !same(c, got) {
					t.Errorf("%s answers %d %v, and the session is (-want +got): %s", word, status, answer, diff(c, got))
				} else {
					w.take(c, got)
				}
				return status
			}
			if status := send("zorq1q", []byte("before")); status != http.StatusCreated {
				t.Fatalf("an upload answers %d", status)
			}
			folder := w.contents()
			before := w.c.Must(t, http.StatusOK, "GET", c.path(), nil)
			room := limit(t, w.p.PID(), unix.Rlimit{Cur: tc.room, Max: unix.RLIM_INFINITY})
			content := bytes.Repeat([]byte("0123456789abcdef"), tc.size/16)
			if status := send("zorq2q", content); status != http.StatusServiceUnavailable {
				t.Errorf("an upload without room answers %d", status)
			}
			if d := gocmp.Diff(before, w.c.Must(t, http.StatusOK, "GET", c.path(), nil)); d != "" {
				t.Errorf("the session has changed: %s", d)
			}
			if d := gocmp.Diff(folder, w.contents()); d != "" {
				t.Errorf("the folder has changed: %s", d)
			}
			limit(t, w.p.PID(), room)
			if status := send("zorq2q", content); status != http.StatusCreated {
				t.Errorf("the same upload answers %d when there is room", status)
			}
			w.sessions = append(w.sessions, c)
			w.sweep()
		})
	}
}
