package ocr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"quarry/internal/extract"
	"quarry/internal/fault"
)

// errClosed is why Close ends a process.
var errClosed = fault.Unavailable("stopping", "the service is stopping and could not wait until the text of the file was recognised; ask again")

// Why a process is ended that has passed a limit.
var (
	errTime   = errors.New("time")
	errOutput = errors.New("output")
)

// errKilled means a process that somebody else has ended, as systems do that have no memory left.
var errKilled = errors.New("killed from outside")

// run has a program read in and returns what it writes, at most so many bytes. One that was killed from outside is run once more.
func (p *Program) run(ctx context.Context, path string, in func() io.Reader, most int, args ...string) ([]byte, error) {
	out, err := p.once(ctx, path, in(), most, args...)
	if errors.Is(err, errKilled) {
		out, err = p.once(ctx, path, in(), most, args...)
	}
	if errors.Is(err, errKilled) {
		err = stopped("%s was killed twice from outside, as systems do that have no memory left; try again when the machine has less to do", filepath.Base(path))
	}
	return out, err
}

func (p *Program) once(ctx context.Context, path string, in io.Reader, most int, args ...string) ([]byte, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(p.life, func() { end(context.Cause(p.life)) })()
	late := time.AfterFunc(p.limit, func() { end(errTime) })
	defer late.Stop()

	name := filepath.Base(path)
	cmd := command(ctx, path, args...)
	out := &bounded{most: most, full: func() { end(errOutput) }}
	errs := &bounded{most: 4096, full: func() {}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	if err := cmd.Start(); err != nil {
		return nil, fault.Unavailable("ocr", "%s can't be started (%v): whoever runs the service has to see to it", name, err)
	}
	restrain(cmd.Process.Pid)
	err := cmd.Wait()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTime):
		return nil, stopped("%s has worked on it for %v, the most that one page may take (the setting parse_seconds of the service)", name, p.limit)
	case errors.Is(cause, errOutput):
		return nil, stopped("%s has answered more than %d MB", name, most>>20)
	case cause != nil:
		return nil, cause
	case err != nil && cmd.ProcessState.String() == "signal: killed":
		return nil, errKilled
	case err != nil:
		return nil, stopped("%s has failed on it (%v)%s", name, cmd.ProcessState, said(string(errs.kept)))
	}
	return out.kept, nil
}

// command returns a program to be started, with nothing of what the service knows.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"LC_ALL=C", "OMP_THREAD_LIMIT=1"} // as many pages are read at once as there are processors
	for _, name := range []string{"TESSDATA_PREFIX", "SystemRoot"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Dir = filepath.Dir(path)
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = time.Second // then its pipes are closed, whoever else holds them
	return cmd
}

// ask runs a program that says something about itself.
func ask(ctx context.Context, path string, args ...string) (string, error) {
	out, err := command(ctx, path, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w%s", err, said(string(out)))
	}
	return string(out), nil
}

// said returns the last line of what a program has complained of, to be put behind what became of it.
func said(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Sprintf(": %.200s", last)
	}
	return ""
}

// stopped returns the error of a picture whose program was stopped.
func stopped(format string, args ...any) error {
	return fmt.Errorf("%w: %s", extract.ErrStopped, fmt.Sprintf(format, args...))
}

// bounded keeps what is written, up to a bound; full is called when that is passed.
type bounded struct {
	kept []byte
	most int
	full func()
}

// Write implements io.Writer. It takes everything, so that a program that says too much ends as it should.
func (b *bounded) Write(p []byte) (int, error) {
	left := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(left, len(p))]...)
	if len(p) > left {
		b.full()
	}
	return len(p), nil
}
