package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	// openFlags open a file for reading without waiting: one that was found as a file may be a pipe by now.
	openFlags = os.O_RDONLY | syscall.O_NONBLOCK
	// settling is how long after a change of a file another one may go unnoticed: file systems count time in steps of up to 2 s.
	settling = 2 * time.Second
	// attempts and pause bound how often a file that changes while it is read is read again.
	attempts = 3
	pause    = 100 * time.Millisecond
)

// file is a file that holds one document.
type file struct {
	dir       *os.Root // nil where path is one of the system
	path      string
	id, place string
	form      Form
	max       int64 // bytes
}

func (f file) open() (*os.File, error) {
	if f.dir == nil {
		return os.OpenFile(f.path, openFlags, 0)
	}
	return f.dir.OpenFile(f.path, openFlags, 0)
}

func (f file) stat() (fs.FileInfo, error) {
	if f.dir == nil {
		return os.Stat(f.path)
	}
	return f.dir.Lstat(f.path)
}

func (f file) problem(stage, reason, advice string) Problem {
	return Problem{Place: f.place, Stage: stage, Reason: reason, Advice: advice, ID: f.id}
}

func (f file) tooLarge(size int64) Problem {
	setting := "max_upload (QUARRY_MAX_UPLOAD)"
	if f.form == AsBody {
		setting = "max_json (QUARRY_MAX_JSON)"
	}
	return f.problem(StageFind, fmt.Sprintf("it has %d bytes, more than the %d that the service takes", size, f.max),
		"split it, or raise the setting "+setting+" of the service")
}

// read returns the content with the stamp that the file had before and after it.
func (f file) read(ctx context.Context) (Content, error) {
	for range attempts {
		c, err := f.once()
		if !errors.Is(err, errMoves) {
			return c, f.failure(err)
		}
		select {
		case <-ctx.Done():
			return Content{}, ctx.Err()
		case <-time.After(pause):
		}
	}
	return Content{}, f.failure(errMoves)
}

// errMoves is the error of a file that was changed while it was read.
var errMoves = errors.New("it changes while it is read")

// failure returns the error of Read for one that came up.
func (f file) failure(err error) error {
	var p *Problem
	switch {
	case err == nil || errors.As(err, &p):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", f.place, ErrGone)
	}
	q := f.problem(StageRead, reasonOf(err, ""), adviceOf(err))
	return &q
}

func (f file) once() (Content, error) {
	r, err := f.open()
	if err != nil {
		return Content{}, err
	}
	defer r.Close()
	before, err := r.Stat()
	if err != nil {
		return Content{}, err
	}
	if !before.Mode().IsRegular() {
		return Content{}, errors.New("it is not a regular file any more")
	}
	if before.Size() > f.max {
		p := f.tooLarge(before.Size())
		return Content{}, &p
	}
	var data bytes.Buffer
	data.Grow(int(before.Size()) + bytes.MinRead) // at most max, which fits in memory
	if _, err := data.ReadFrom(io.LimitReader(r, f.max+1)); err != nil {
		return Content{}, err
	}
	after, err := r.Stat()
	if err != nil {
		return Content{}, err
	}
	now, err := f.stat() // the name may stand for another file by now
	if err != nil {
		return Content{}, err
	}
	stamp := stampOf(before)
	if stamp != stampOf(after) || stamp != stampOf(now) || int64(data.Len()) != stamp.Size {
		return Content{}, errMoves
	}
	if f.form == AsBody {
		if id, body, _ := bodyID(bytes.NewReader(data.Bytes())); !body || id != f.id {
			return Content{}, errMoves
		}
	}
	return Content{Data: data.Bytes(), Stamp: stamp, Settled: time.Since(stamp.Modified) > settling}, nil
}

// bodyID returns the id of the body in the file, reading no more of it than that takes and at most max bytes.
func (f file) bodyID() (id string, body bool, err error) {
	r, err := f.open()
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	return bodyID(io.LimitReader(r, f.max))
}

// stampOf returns the stamp of a file. Times are kept as UTC without the monotonic clock, so that stamps can be compared.
func stampOf(info fs.FileInfo) Stamp {
	return Stamp{Size: info.Size(), Modified: info.ModTime().UTC().Round(0), Identity: identity(info)}
}

func isLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }

// reasonOf returns an error of the file system as people say it; gone is for what does not exist.
func reasonOf(err error, gone string) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && gone != "":
		return gone
	case errors.Is(err, fs.ErrPermission):
		return "there is no right to read it"
	case isLoop(err):
		return "its path has a link in a circle"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

// adviceOf returns what to do about an error of the file system.
func adviceOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "change its rights, or leave it out with --exclude"
	case errors.Is(err, errMoves):
		return "run the same command again when it is finished"
	case errors.Is(err, fs.ErrNotExist):
		return "check the path"
	}
	return "run the same command again; if it stays, check the disk"
}
