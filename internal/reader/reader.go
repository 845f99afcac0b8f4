// Package reader reads files in processes of their own, its workers: whatever a file does to its parser, it does to no other file and
// not to the service. Files of plain characters alone are parsed by the service itself.
//
// A worker is this program once more, started with another command, which calls Work. It gets files on its standard input and
// answers with trees on its standard output, or with the pictures of pages; it has no environment, opens no file and no connection, and ends when its
// input does, so that none outlives the service. Workers are kept between files.
package reader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"quarry/internal/background"
	"quarry/internal/extract"
	"quarry/internal/fault"
)

// Config is how a Pool works.
type Config struct {
	// Command is the program and its arguments that call Work; see Program.
	Command []string
	// Memory is how many bytes a worker may hold while it parses, Time how much of a processor's time that may take; where the
	// system doesn't say, the clock's.
	Memory int64
	Time   time.Duration
	Log    *slog.Logger

	// Files is how many files a worker parses before another takes its place; 0 is 200. Blind leaves it to the worker to see how
	// much memory it holds, as on systems that don't show it. Tests set both.
	Files int
	Blind bool
}

// Pool reads files with as many workers as there are processors. They are started when they are needed. Safe for
// concurrent use.
type Pool struct {
	cfg    Config
	places chan struct{} // one for each worker at work
	mu     sync.Mutex
	idle   []*worker        // guarded by mu; the last was used last
	all    map[*worker]bool // that run; guarded by mu
	closed bool             // guarded by mu
}

// New returns a pool without workers.
func New(c Config) *Pool {
	if c.Files == 0 {
		c.Files = 200
	}
	keepOpenFiles()
	return &Pool{cfg: c, places: make(chan struct{}, background.Cores()), all: map[*worker]bool{}}
}

// Read parses a file as extract.Read does. A file whose parser has crashed or was stopped at a limit is extract.ErrStopped, as is one
// whose worker was killed by somebody else twice in a row.
func (p *Pool) Read(ctx context.Context, in extract.Input) (*extract.Document, error) {
	if len(in.Data) == 0 || extract.Plain(in) {
		return extract.Read(in)
	}
	out, err := p.do(ctx, task{file: in})
	if err == nil && out.tree == nil {
		err = errMessage
	}
	return out.tree, err
}

// Scanned returns a page of a file as extract.Scanned does, with the errors of Read.
func (p *Pool) Scanned(ctx context.Context, in extract.Input, page extract.Scan) (*extract.Raster, error) {
	out, err := p.do(ctx, task{in, &page})
	if err == nil && (out.raster == nil || !whole(out.raster)) {
		err = errMessage
	}
	return out.raster, err
}

// whole reports whether a raster has the pixels that it says.
func whole(r *extract.Raster) bool {
	return r.PDF != nil || r.Width > 0 && r.Height > 0 && len(r.Grey)%r.Width == 0 && len(r.Grey)/r.Width == r.Height
}

// do has a worker do a task, and another one where the first was killed.
func (p *Pool) do(ctx context.Context, t task) (result, error) {
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	case <-ctx.Done():
		return result{}, ctx.Err()
	}
	out, err := p.once(ctx, t)
	if errors.As(err, new(*killed)) {
		p.cfg.Log.Warn("a process that reads files was killed; its file is read again", "error", err)
		out, err = p.once(ctx, t)
	}
	var again *killed
	if errors.As(err, &again) {
		p.cfg.Log.Warn("a process that reads files was killed twice with one file", "error", err)
		return out, again.stopped()
	}
	return out, err
}

// once has one worker do a task.
func (p *Pool) once(ctx context.Context, t task) (result, error) {
	w, err := p.take()
	if err != nil {
		return result{}, err
	}
	out, err := w.do(ctx, t)
	p.put(w)
	return out, err
}

// take returns a worker that waits for a file.
func (p *Pool) take() (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 && !p.closed {
		w := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if !w.ended() {
			return w, nil
		}
	}
	if p.closed {
		return nil, fault.Unavailable("stopping", "the service is stopping and reads no more files; ask again")
	}
	w, err := start(&p.cfg, p.forget)
	if err != nil {
		p.cfg.Log.Error("no process that reads files can be started", "error", err)
		return nil, fault.Unavailable("reader", "the service can't start a process that reads the file: %v; ask again later", err)
	}
	p.all[w] = true
	return w, nil
}

// forget hears of a worker that has ended.
func (p *Pool) forget(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, w)
}

// put keeps a worker for the next file, unless it has had enough of them.
func (p *Pool) put(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.broken || w.files >= p.cfg.Files || p.closed {
		w.retire()
		return
	}
	p.idle = append(p.idle, w)
}

// Close ends all workers, also those at work, and returns when they are gone.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var running []*worker
	for w := range p.all {
		running = append(running, w)
	}
	p.mu.Unlock()
	for _, w := range running {
		w.kill(errClosed)
	}
	for _, w := range running {
		<-w.done
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.idle {
		w.retire()
	}
	p.idle = nil
}

// errClosed is why Close ends a worker.
var errClosed = fault.Unavailable("stopping", "the service is stopping and could not wait until the file was read; ask again")

// stopped returns the error of a file whose parser was stopped.
func stopped(stage, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", stage, extract.ErrStopped, fmt.Sprintf(format, args...))
}
