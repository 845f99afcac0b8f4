package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"quarry/internal/cli"
)

// stuck is a service whose turns end when it is told so, and not when they are interrupted.
type stuck struct {
	interrupted chan struct{}

	mu    sync.Mutex
	busy  bool     // an input without since is refused
	since []string // of the inputs
}

func (s *stuck) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"key":"a","status":"running"}`)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/events") {
		fmt.Fprint(w, `{"key":"ase_1"}`)
		return
	}
	var body struct {
		Type, Since string
		Messages    []struct {
			External string `json:"external_id"`
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	if body.Type == "interrupt" {
		fmt.Fprint(w, `{"events":[]}`)
		s.interrupted <- struct{}{}
		return
	}
	s.mu.Lock()
	s.since = append(s.since, body.Since)
	busy := s.busy && body.Since == ""
	s.mu.Unlock()
	if busy {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"messages":["a turn is running; send since"]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if s.busy {
		fmt.Fprintf(w, `data: {"type":"input_message","messages":[{"type":"text","content":"why?","external_id":%q}]}`+"\n\n", body.Messages[0].External)
	}
	fmt.Fprint(w, `data: {"type":"streaming_agent_output","content":"so far"}`+"\n\n")
	if s.busy {
		return // the answer breaks off
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// screen is what a command prints; shown is closed when it has printed something.
type screen struct {
	bytes.Buffer
	once  sync.Once
	shown chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	defer s.once.Do(func() { close(s.shown) })
	return s.Buffer.Write(p)
}

func chat(t *testing.T, s *stuck, o *screen, signals <-chan os.Signal) (code int, out, errs string) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	var e bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: o, Err: &e, Interrupts: signals}
	code = cli.Run(context.Background(), []string{"agent", "chat", "a", "why?", "--url", server.URL, "--key", "k"}, streams)
	return code, o.String(), e.String()
}

func TestLeave(t *testing.T) {
	// Proves that the first Ctrl-C interrupts the turn, and that a second one leaves although the service has not ended it.
	t.Parallel()
	s, o := &stuck{interrupted: make(chan struct{})}, &screen{shown: make(chan struct{})}
	signals := make(chan os.Signal)
	go func() {
		<-o.shown
		signals <- os.Interrupt
		<-s.interrupted
		signals <- os.Interrupt
	}()
	code, out, errs := chat(t, s, o, signals)
	if code != 130 || out != "so far\n" || !strings.Contains(errs, "interrupts the turn; Ctrl-C again leaves") || !strings.Contains(errs, "to go on with this session: quarry agent chat a --session ase_1\n") {
		t.Errorf("exits with %d, printed %q and %q", code, out, errs)
	}
}

func TestBusy(t *testing.T) {
	// Proves that a question in a session where a turn runs is sent again to come after it and shown where it does, and that an answer which breaks off says
	// where to read on.
	t.Parallel()
	s := &stuck{busy: true}
	code, out, errs := chat(t, s, &screen{shown: make(chan struct{})}, nil)
	if code != 6 || out != "so far\n" || fmt.Sprint(s.since) != "[ start]" {
		t.Errorf("exits with %d, printed %q; since %q", code, out, s.since)
	}
	for _, want := range []string{"the question comes after it", "> why?\n", "broke off", "quarry session events a ase_1"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q lacks %q", errs, want)
		}
	}
}
