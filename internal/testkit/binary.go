package testkit

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var build struct {
	once sync.Once
	path string
	err  error
}

// Main runs the tests of a package that uses Binary, removes the program afterwards and returns the exit code for TestMain.
// It runs more tests in parallel than there are processors, since they mostly wait for a start, a timeout or a lease.
func Main(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err) // impossible: package testing defines the flag
	}
	code := m.Run()
	if build.path != "" {
		_ = os.RemoveAll(filepath.Dir(build.path)) // in the folder of temporary files
	}
	return code
}

// Binary builds the program, once per test binary, and returns its path. The package's TestMain must call Main.
func Binary(t testing.TB) string {
	t.Helper()
	build.once.Do(func() {
		dir, err := os.MkdirTemp("", "quarry-binary-")
		if err != nil {
			build.err = err
			return
		}
		build.path = filepath.Join(dir, "quarry")
		if build.err = LookAtSources(); build.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", build.path, "./cmd/quarry")
		cmd.Dir, _ = repository() // found above
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			build.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if build.err != nil {
		t.Fatal(build.err)
	}
	return build.path
}

// repository returns the folder above the test that has the program. Modules of tests, such as test/compat, lie in it.
func repository() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "quarry")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no cmd/quarry above the test")
		}
	}
	return "", err
}

// LookAtSources stats every source file of the program. The go command caches the results of a test by the files that the
// test has opened or statted, and does not see those that a build started by the test reads.
func LookAtSources() error {
	root, err := repository()
	if err != nil {
		return err
	}
	for _, dir := range []string{"api", "cmd", "internal"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && !strings.HasSuffix(path, "_test.go") {
				_, err = os.Stat(path)
			}
			return err
		}))
	}
	return err
}

// Process is a running server.
type Process struct {
	cmd  *exec.Cmd
	done chan error
	log  *lockedBuffer
	URL  string
	Key  string
}

// StartBinary starts the program with a data folder and returns when it answers /healthz. The process ends with the test.
func StartBinary(t testing.TB, dir string, args ...string) *Process {
	t.Helper()
	return StartWith(t, dir, nil, append([]string{"--data", dir, "--listen", "127.0.0.1:0"}, args...)...)
}

// StartWith is StartBinary with exactly the given flags, and with environment variables in addition to those of the test.
// dir must be the data folder that these flags and variables select.
func StartWith(t testing.TB, dir string, env []string, args ...string) *Process {
	t.Helper()
	return StartProgram(t, Binary(t), dir, env, args...)
}

// StartProgram is StartWith for a program that was built elsewhere.
func StartProgram(t testing.TB, program, dir string, env []string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(program, append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{cmd: cmd, done: make(chan error, 1), log: &lockedBuffer{}}
	cmd.Stderr = p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := bufio.NewReader(out)
	line, err := first.ReadString('\n')
	if err != nil { // it has closed its output because it is exiting
		t.Fatalf("the server did not start: %v\n%s", cmd.Wait(), p.Log())
	}
	t.Cleanup(p.Kill)
	_, _ = p.log.Write([]byte(line))
	go func() {
		_, _ = io.Copy(p.log, first) // until the process ends
		p.done <- cmd.Wait()
	}()
	p.URL = strings.TrimSpace(strings.TrimPrefix(line, "Quarry serves "))
	key, err := os.ReadFile(filepath.Join(dir, "owner.key"))
	if err != nil {
		t.Fatal(err)
	}
	p.Key = strings.TrimSpace(string(key))
	p.awaitHealth(t)
	return p
}

// awaitHealth waits until the server answers. It listens already, so that a single request suffices.
func (p *Process) awaitHealth(t testing.TB) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // certificates are what the tests of them look at
	}}
	defer client.CloseIdleConnections()
	res, err := client.Get(p.URL + "/healthz")
	if err != nil {
		t.Fatalf("healthz: %v\n%s", err, p.Log())
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("healthz answers %d\n%s", res.StatusCode, p.Log())
	}
}

// Kill kills the process, as a crash would, and waits until it has ended.
func (p *Process) Kill() { _ = p.end(syscall.SIGKILL) }

// Stop sends SIGTERM to the process, waits until it has ended and returns its error as of exec.Cmd.Wait.
func (p *Process) Stop() error { return p.end(syscall.SIGTERM) }

// Wait waits for a process that ends by itself, or was signalled, and returns its error as of exec.Cmd.Wait.
func (p *Process) Wait() error {
	err := <-p.done
	p.done = nil
	return err
}

func (p *Process) end(s os.Signal) error {
	if p.done == nil {
		return nil
	}
	_ = p.cmd.Process.Signal(s) // fails if it has ended already, which Wait reports
	return p.Wait()
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns what the process has printed so far; after it has ended, that is all of its output.
func (p *Process) Log() string { return p.log.String() }

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
