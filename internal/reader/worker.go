package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"quarry/internal/extract"
	"quarry/internal/fault"
)

// worker is a process that parses files, one after the other. It is used by one goroutine at a time.
type worker struct {
	cfg    *Config
	cmd    *exec.Cmd
	in     *os.File // its standard input
	out    *os.File // its standard output
	errs   *tail
	done   chan struct{} // closed when it has ended
	files  int           // that it has got
	broken bool          // it takes no more of them

	mu    sync.Mutex
	cause error // why it was killed, nil if not by this process; guarded by mu
}

// awake is how long a worker may take to start. Machines with too much to do are slow; a start takes a tenth of a second.
const awake = 30 * time.Second

// start starts a worker, which has to say hello before its first file. It calls ended when the process has ended.
func start(c *Config, ended func(*worker)) (*worker, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	w := &worker{cfg: c, in: in, out: out, errs: &tail{}, done: make(chan struct{})}
	args := append(c.Command[1:len(c.Command):len(c.Command)], strconv.FormatInt(c.Memory, 10))
	if c.Blind || resident(os.Getpid()) == 0 {
		args = append(args, watchSelf)
	}
	w.cmd = exec.Command(c.Command[0], args...)
	w.cmd.Args[0] = "quarry" // which the path need not say
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = childIn, childOut, w.errs
	w.cmd.Env, w.cmd.Dir = []string{}, root()
	w.cmd.SysProcAttr = attributes()
	err = w.cmd.Start()
	_ = childIn.Close() // the child has its own
	_ = childOut.Close()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	go func() {
		_ = w.cmd.Wait() // how it has ended is in cmd.ProcessState
		ended(w)
		close(w.done)
	}()
	return w, nil
}

// ended reports whether the process has ended, and lets go of it then.
func (w *worker) ended() bool {
	select {
	case <-w.done:
		w.retire()
		return true
	default:
		return false
	}
}

// retire ends the process when it has nothing to do any more.
func (w *worker) retire() {
	_ = w.in.Close() // which it ends at
	_ = w.out.Close()
}

// kill ends the process now. The first cause is the one that counts.
func (w *worker) kill(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause == nil {
		w.cause = cause
	}
	_ = w.cmd.Process.Kill() // fails if it has ended already
}

// do has the process do a task.
func (w *worker) do(ctx context.Context, t task) (result, error) {
	first := w.files == 0
	w.files++
	at := &progress{stage: "read the file"}
	over := make(chan struct{})
	var watching sync.WaitGroup
	if first {
		if err := w.greet(ctx); err != nil {
			return result{}, w.absent(at.now(), err)
		}
	}
	watching.Go(func() { w.watch(ctx, at, over) })
	out, refused, err := w.exchange(t, at)
	close(over)
	watching.Wait()
	if err != nil {
		return result{}, w.failure(at.now(), err)
	}
	return out, refused
}

// greet waits until a new process says which build it is of.
func (w *worker) greet(ctx context.Context) error {
	late := time.AfterFunc(awake, func() { w.kill(fmt.Errorf("it was not ready after %v", awake)) })
	defer late.Stop()
	gone := context.AfterFunc(ctx, func() { w.kill(ctx.Err()) })
	defer gone()
	k, text, err := receive(w.out, block)
	if err != nil {
		return err
	}
	var other string
	if err := decode(text, &other); k != hello || err != nil || other != fingerprint() {
		w.kill(errReplaced)
		return errReplaced
	}
	return nil
}

// exchange sends a task and receives what came of it: its result, or the error of the parser.
func (w *worker) exchange(t task, at *progress) (out result, refused, err error) {
	if err := t.send(w.in); err != nil {
		return out, nil, err
	}
	return hear(w.out, w.cfg.Memory, at)
}

// hear receives what came of a task, in messages of at most so many bytes.
func hear(r io.Reader, most int64, at *progress) (out result, refused, err error) {
	for {
		k, text, err := receive(r, most)
		if err != nil {
			return out, nil, err
		}
		switch k {
		case stage:
			var name string
			if err := decode(text, &name); err != nil {
				return out, nil, err
			}
			at.set(name)
		case tree:
			out.tree = &extract.Document{}
			return out, nil, decode(text, out.tree)
		case raster:
			out.raster = &extract.Raster{}
			return out, nil, decode(text, out.raster)
		case failure:
			var f failed
			err := decode(text, &f)
			return out, f.err(), err
		default:
			return out, nil, errMessage
		}
	}
}

// look is how often a worker is looked at while it parses. Memory that grows in between is what it may take beyond its limit.
const look = 20 * time.Millisecond

// patience is how many times as long as it may work a worker may have a file, however little the machine lets it work.
const patience = 10

// watch kills the process when it passes a limit, or when nobody waits for it any more, until over is closed.
func (w *worker) watch(ctx context.Context, at *progress, over <-chan struct{}) {
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	end := time.NewTimer(patience * w.cfg.Time)
	defer end.Stop()
	pid := w.cmd.Process.Pid
	before := worked(pid)
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			w.kill(ctx.Err())
			return
		case <-end.C:
			w.kill(w.overPatience(at.now()))
			return
		case <-ticks.C:
			if worked(pid)-before > w.cfg.Time {
				w.kill(w.overTime(at.now()))
				return
			}
			if !w.cfg.Blind && resident(pid) > w.cfg.Memory {
				w.kill(w.overMemory(at.now()))
				return
			}
		}
	}
}

func (w *worker) overTime(stage string) error {
	return stopped(stage, "it has worked on the file for %v, the most that one file may take (the setting parse_seconds of the service); split the file, or leave out what is large", w.cfg.Time)
}

func (w *worker) overPatience(stage string) error {
	return stopped(stage, "it was not done after %v, %d times what one file may take (the setting parse_seconds of the service); try again when the machine has less to do, or split the file", patience*w.cfg.Time, patience)
}

func (w *worker) overMemory(stage string) error {
	return stopped(stage, "it needs more than %d MB of memory, the most that one file may take (the setting parse_memory of the service); split the file, or leave out what is large", w.cfg.Memory>>20)
}

// failure returns the error of a file for which the process has answered nothing that can be understood.
func (w *worker) failure(stage string, err error) error {
	w.broken = true
	w.kill(nil) // if it lives, it is of no use
	<-w.done
	w.mu.Lock()
	cause := w.cause
	w.mu.Unlock()
	switch state := w.cmd.ProcessState; {
	case cause != nil:
		return cause
	case state.ExitCode() == exitMemory:
		return w.overMemory(stage)
	case state.ExitCode() == exitCrash, nonsense(err):
		w.cfg.Log.Error("a parser has crashed on a file", "stage", stage, "state", state.String(), "error", err, "output", w.errs.String())
		return stopped(stage, "it has crashed on this file, which may be damaged; other files are not affected; try to save the file anew, or in another format")
	default:
		return &killed{stage, state.String()}
	}
}

// absent returns the error of a file whose process was never ready for it.
func (w *worker) absent(stage string, err error) error {
	w.broken = true
	w.kill(nil)
	<-w.done
	w.mu.Lock()
	cause := w.cause
	w.mu.Unlock()
	state := w.cmd.ProcessState
	switch {
	case cause != nil:
		return cause
	case !state.Exited() && !nonsense(err):
		return &killed{stage, state.String()}
	}
	w.cfg.Log.Error("a process that reads files has ended before the first", "state", state.String(), "error", err, "output", w.errs.String())
	return fault.Unavailable("reader", "the service can't start a process that reads the file (%s); its log says why", state)
}

// nonsense reports whether a process has said what can't be understood.
func nonsense(err error) bool { return errors.Is(err, errMessage) || errors.Is(err, errValue) }

// exitCrash is the exit code of programs in Go that panic.
const exitCrash = 2

// killed is the error of a file whose worker was ended by somebody else.
type killed struct{ stage, how string }

func (k *killed) Error() string { return fmt.Sprintf("%s: the process was ended: %s", k.stage, k.how) }

func (k *killed) stopped() error {
	return stopped(k.stage, "its process was ended twice from outside (%s), as systems do that have no memory left; try again when the machine has less to do, or split the file", k.how)
}

// progress is the stage that a file has come to.
type progress struct {
	mu    sync.Mutex
	stage string // guarded by mu
}

func (p *progress) set(stage string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = stage
}

func (p *progress) now() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage
}

// tail keeps the beginning of what a process has written to its standard error, where a crash says what it was.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p[:min(len(p), max(0, 4096-t.buf.Len()))])
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.buf.String())
}
