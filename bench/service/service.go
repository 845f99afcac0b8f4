// Package service starts the program for benchmarks that measure it as a whole, and calls it over kept connections. Tests
// use package testkit instead.
package service

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is the running program.
type Process struct {
	Began time.Time     // time of the start
	Took  time.Duration // from the start to the first answer to /healthz

	cmd      *exec.Cmd
	url, key string
	client   *http.Client
	once     sync.Once
}

// Folder returns the data folder of a benchmark: dir, or a temporary one if dir is "". remove deletes a temporary one.
func Folder(dir string) (folder string, remove func(), err error) {
	if dir != "" {
		return dir, func() {}, nil
	}
	folder, err = os.MkdirTemp("", "quarry-bench-")
	return folder, func() { _ = os.RemoveAll(folder) }, err
}

// Start starts the program with a data folder and returns once it answers.
func Start(binary, dir string) (*Process, error) {
	return StartWith(binary, dir, os.Stderr, "QUARRY_LOG_LEVEL=warn")
}

// StartWith is Start with a file for the log, and settings as environment variables.
func StartWith(binary, dir string, log *os.File, settings ...string) (*Process, error) {
	p := &Process{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, Began: time.Now()}
	p.cmd = exec.Command(binary, "serve", "--data", dir, "--listen", "127.0.0.1:0")
	p.cmd.Env = append(os.Environ(), settings...)
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the program did not start: %w", err)
	}
	p.url = strings.TrimSpace(strings.TrimPrefix(line, "Quarry serves "))
	key, err := os.ReadFile(filepath.Join(dir, "owner.key"))
	if err != nil {
		return nil, err
	}
	p.key = strings.TrimSpace(string(key))
	res, err := p.client.Get(p.url + "/healthz")
	if err != nil {
		return nil, err
	}
	p.Took = time.Since(p.Began)
	return p, res.Body.Close()
}

// Stop stops the program and waits for it to end. It may be called more than once.
func (p *Process) Stop() {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait() // if it failed to stop, the next start fails
	})
}

// Kill kills the program, as a crash would, and waits for it to end.
func (p *Process) Kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it was killed
	})
}

// Call sends a request, with body as JSON unless it is nil, and returns the status and the body of the response.
func (p *Process) Call(method, path string, body any) (int, []byte, error) {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(raw)
	}
	return p.Send(method, path, "application/json", in)
}

// Send is Call with a body of another type.
func (p *Process) Send(method, path, contentType string, body io.Reader) (int, []byte, error) {
	req, err := http.NewRequest(method, p.url+path, body)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("x-api-key", p.key)
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, raw, err
}

// Address returns the host and port of the program.
func (p *Process) Address() string { return strings.TrimPrefix(p.url, "http://") }

// Key returns the owner's API key.
func (p *Process) Key() string { return p.key }

// Must is Call where any status but want is an error.
func (p *Process) Must(want int, method, path string, body any) ([]byte, error) {
	status, raw, err := p.Call(method, path, body)
	if err == nil && status != want {
		err = fmt.Errorf("%s %s answers %d: %.300s", method, path, status, raw)
	}
	return raw, err
}

// Resident returns the resident memory (VmRSS) in bytes, or 0 on systems without /proc.
func (p *Process) Resident() int64 { return memoryOf(p.cmd.Process.Pid, "VmRSS") }

// HighestResident returns the most that Resident would have returned so far.
func (p *Process) HighestResident() int64 { return memoryOf(p.cmd.Process.Pid, "VmHWM") }

// Anonymous returns the resident memory that is no mapped file (RssAnon), in bytes, or 0 on systems without /proc.
func (p *Process) Anonymous() int64 { return memoryOf(p.cmd.Process.Pid, "RssAnon") }

// ProcessorTime returns the processor time that the program has used, with a resolution of 10 ms (a clock tick on Linux).
func (p *Process) ProcessorTime() (time.Duration, error) { return processorTime(p.cmd.Process.Pid) }

// OwnTime returns the processor time that the benchmark itself has used.
func OwnTime() (time.Duration, error) { return processorTime(os.Getpid()) }

func processorTime(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	var user, system int64
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, err
	}
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}
