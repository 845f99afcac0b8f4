package segment

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Step is something that is done to files.
type Step string

// The steps, in the order in which a file is written.
const (
	Room       Step = "room" // whether there is enough is looked at
	Write      Step = "write"
	Sync       Step = "sync"
	Rename     Step = "rename"
	SyncFolder Step = "sync folder"
)

// Files writes files. The zero value does it the usual way.
type Files struct {
	// Pause is called between blocks of what is written: there it may wait, and its error ends the writing. It may be nil.
	Pause func() error
	// Before is called before each step, with the path that it concerns; its error is that of the step. It may be nil, and is
	// so but where a failing disk is tried out.
	Before func(step Step, path string) error
	Buffer int // bytes that are gathered for a write; 0 = 256 KiB
}

const (
	buffer = 1 << 18
	block  = 1 << 20 // bytes between two pauses
)

func (fs Files) before(s Step, path string) error {
	if fs.Before == nil {
		return nil
	}
	return fs.Before(s, path)
}

// Write writes the sections to path and syncs them: under another name first, so that path is there whole or not at
// all.
func (fs Files) Write(path string, sections []Section) error {
	w, err := fs.Create(path)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, s := range sections {
		if err := w.Add(s); err != nil {
			return err
		}
	}
	return w.Commit()
}

// Replace replaces the file at path, durably and atomically, by what write writes.
func (fs Files) Replace(path string, write func(io.Writer) error) error {
	p, err := fs.begin(path)
	if err != nil {
		return err
	}
	defer p.abort()
	if err := write(p.to); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	return p.commit()
}

// pending is a file that is written under another name.
type pending struct {
	fs   Files
	path string
	f    *os.File // nil after its end
	to   *bufio.Writer
}

func temporary(path string) string { return path + ".tmp" }

// begin begins the file at path.
func (fs Files) begin(path string) (*pending, error) {
	f, err := os.OpenFile(temporary(path), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write index file: %w", err)
	}
	size := fs.Buffer
	if size == 0 {
		size = buffer
	}
	return &pending{fs, path, f, bufio.NewWriterSize(stepped{f, fs, path}, size)}, nil
}

// commit puts the file in its place. After an error abort is to be called.
func (p *pending) commit() error {
	err := p.to.Flush()
	if err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	if err = p.fs.before(Sync, p.path); err == nil {
		err = p.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("sync index file: %w", err)
	}
	if err = p.f.Close(); err != nil {
		return fmt.Errorf("close index file: %w", err)
	}
	if err = p.fs.before(Rename, p.path); err == nil {
		err = os.Rename(temporary(p.path), p.path)
	}
	if err != nil {
		return fmt.Errorf("rename index file: %w", err)
	}
	p.f = nil
	return p.fs.SyncFolder(filepath.Dir(p.path))
}

// abort removes the file unless it is in its place.
func (p *pending) abort() {
	if p.f != nil {
		_ = p.f.Close() // it may be closed already
		_ = os.Remove(temporary(p.path))
		p.f = nil
	}
}

// stepped is a file whose writes are steps.
type stepped struct {
	f    *os.File
	fs   Files
	path string
}

// Write implements io.Writer.
func (s stepped) Write(p []byte) (int, error) {
	if err := s.fs.before(Write, s.path); err != nil {
		return 0, err
	}
	return s.f.Write(p)
}

// SyncFolder syncs dir, which is what renames and removals in it need to be durable. Windows can't sync a folder and keeps a
// journal of its own.
func (fs Files) SyncFolder(dir string) error {
	err := fs.before(SyncFolder, dir)
	if err != nil {
		return fmt.Errorf("sync index folder: %w", err)
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync index folder: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync index folder: %w", err)
	}
	return nil
}

// Room reports, as an error that is ENOSPC, that fewer bytes are free for files in dir than are needed. Where the system does
// not tell there is room.
func (fs Files) Room(dir string, need int64) error {
	if err := fs.before(Room, dir); err != nil {
		return fmt.Errorf("look for room for an index file: %w", err)
	}
	if has, ok := free(dir); ok && has < need {
		return fmt.Errorf("an index file may need %d bytes, %d are free: %w", need, has, syscall.ENOSPC)
	}
	return nil
}
