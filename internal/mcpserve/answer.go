package mcpserve

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"quarry/internal/fault"
)

const (
	// A stream is looked at every lookEvery, and gets a comment when it has been silent for pingAfter: proxies close connections that are
	// silent for long, and 15 seconds is what other streams of the interface allow.
	pingAfter, lookEvery = 10 * time.Second, 5 * time.Second
	// slowestReader is how long a client may take for a write before it is cut off.
	slowestReader = 30 * time.Second
)

// answer is what the SDK writes to: refusals in plain text become faults, so that one writer of errors serves all routes, streams
// are never silent for long, and a client that doesn't read is cut off.
type answer struct {
	http.ResponseWriter
	conn   *http.ResponseController
	events bool   // whether it is a stream
	stop   func() // ends the comments, and the deadlines

	mu      sync.Mutex
	refused int             // status of a refusal in plain text, 0 for none; guarded by mu, like all below
	text    strings.Builder // of the refusal
	last    time.Time       // when something was written
}

func newAnswer(w http.ResponseWriter, asEvents bool) *answer {
	a := &answer{ResponseWriter: w, conn: http.NewResponseController(w), events: asEvents, stop: func() {}, last: time.Now()}
	if !asEvents {
		return a
	}
	w.Header().Set("X-Accel-Buffering", "no") // keeps proxies from collecting the events
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				a.ping()
			}
		}
	}()
	a.stop = func() {
		close(done)
		<-ended
		_ = a.conn.SetWriteDeadline(time.Time{}) // the next answer on the connection has its own time
	}
	return a
}

// ping writes a comment after a silence.
func (a *answer) ping() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused == 0 && time.Since(a.last) >= pingAfter && a.Header().Get("Content-Type") == "text/event-stream" {
		_, _ = a.write([]byte(": still at work\n\n"))
		_ = a.conn.Flush()
	}
}

// write writes to the client. The caller holds mu.
func (a *answer) write(b []byte) (int, error) {
	if a.last = time.Now(); a.events {
		_ = a.conn.SetWriteDeadline(a.last.Add(slowestReader)) // tests have no connection
	}
	return a.ResponseWriter.Write(b)
}

func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.Header()
	if status >= 400 && strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		a.refused = status
		return
	}
	h.Set("Cache-Control", "no-store")
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused != 0 {
		return a.text.Write(b)
	}
	a.Header().Set("Cache-Control", "no-store")
	return a.write(b)
}

// FlushError sends what was written so far.
func (a *answer) FlushError() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused != 0 {
		return nil
	}
	return a.conn.Flush()
}

// end returns the refusal as a fault, nil if there was none.
func (a *answer) end() error {
	a.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused == 0 {
		return nil
	}
	for _, name := range []string{"Content-Type", "Content-Length"} {
		a.Header().Del(name)
	}
	text := strings.TrimSpace(strings.TrimPrefix(a.text.String(), "Bad Request: "))
	if a.refused >= 500 {
		return fault.Unavailable("unavailable", "%s", text)
	}
	f := fault.Invalid()
	f.Text = "the message is refused: " + text
	return f
}
