package folder

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// service is the program, started anew as often as it is killed, behind an address that stays. What changes something passes
// through here, so that a kill can come at any such request.
type service struct {
	t     *testing.T
	front *httptest.Server
	dir   string
	args  []string

	mu   sync.Mutex
	p    *testkit.Process // guarded by mu
	trap *trap            // guarded by mu
}

// trap is what happens at a request.
type trap struct {
	left   int // changing requests until then
	before bool
	delay  time.Duration // from the request on, or from its answer on
	spring func()
}

func newService(t *testing.T, args ...string) *service {
	s := &service{t: t, dir: t.TempDir(), args: args}
	s.start()
	s.front = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			s.mu.Lock()
			defer s.mu.Unlock()
			to, err := url.Parse(s.p.URL)
			if err != nil {
				t.Error(err)
			}
			r.SetURL(to)
		},
		Transport: s,
		// A service that is dead has no answer of its own.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(s.front.Close)
	return s
}

// start starts the program; only the test's own goroutine may.
func (s *service) start() {
	p := testkit.StartBinary(s.t, s.dir, s.args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p = p
}

// RoundTrip forwards a request.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	sprung := s.reach(r)
	if sprung != nil && sprung.before {
		time.Sleep(sprung.delay)
		sprung.spring()
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if sprung != nil && !sprung.before {
		time.Sleep(sprung.delay)
		sprung.spring()
	}
	return res, err
}

// reach returns the trap if this request is the one that springs it.
func (s *service) reach(r *http.Request) *trap {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trap == nil || r.Method == http.MethodGet {
		return nil
	}
	if s.trap.left--; s.trap.left > 0 {
		return nil
	}
	sprung := s.trap
	s.trap = nil
	return sprung
}

// set sets a trap, or none, and reports whether the one before had not sprung.
func (s *service) set(t *trap) (unsprung bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unsprung = s.trap != nil
	s.trap = t
	return unsprung
}

// process returns the one that runs.
func (s *service) process() *testkit.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.p
}

// client returns one that goes to the service without passing the trap.
func (s *service) client() *testkit.Client { return s.process().Client() }

// command returns quarry index with arguments and with a folder for what it remembers.
func (s *service) command(cache string, args ...string) *run {
	c := exec.Command(testkit.Binary(s.t), append([]string{"index", "--corpus", corpusKey, "--create", "--sync", "--url", s.front.URL, "--key", s.process().Key}, args...)...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "HOME="+cache)
	r := &run{cmd: c, done: make(chan struct{})}
	c.Stdout, c.Stderr = &r.out, &r.out
	return r
}

// run is a run of the command.
type run struct {
	cmd  *exec.Cmd
	out  output
	done chan struct{}
	err  error // once done is closed
}

func (r *run) start(t *testing.T) *run {
	t.Helper()
	must(t, r.cmd.Start())
	go func() {
		r.err = r.cmd.Wait()
		close(r.done)
	}()
	t.Cleanup(func() {
		r.kill()
		<-r.done
	})
	return r
}

// kill kills the command, if it still runs.
func (r *run) kill() {
	if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		panic(err)
	}
}

// output collects what two streams write.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
