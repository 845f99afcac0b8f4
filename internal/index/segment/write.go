package segment

import (
	"bufio"
	"fmt"
	"hash/crc32"
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
	return fs.Replace(path, func(w io.Writer) error { return fs.encode(w, sections) })
}

// Replace replaces the file at path, durably and atomically, by what write writes.
func (fs Files) Replace(path string, write func(io.Writer) error) (err error) {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(tmp)
		}
	}()
	size := fs.Buffer
	if size == 0 {
		size = buffer
	}
	w := bufio.NewWriterSize(stepped{f, fs, path}, size)
	if err = write(w); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	if err = w.Flush(); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	if err = fs.before(Sync, path); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("sync index file: %w", err)
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("close index file: %w", err)
	}
	if err = fs.before(Rename, path); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("rename index file: %w", err)
	}
	return fs.SyncFolder(filepath.Dir(path))
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

var padding [align]byte

func (fs Files) encode(w io.Writer, sections []Section) error {
	var head [headSize]byte
	copy(head[:], magic)
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	at := uint64(headSize)
	places := make([]place, len(sections))
	for i, s := range sections {
		if s.Version == 0 {
			return fmt.Errorf("section %q has no version", s.Name)
		}
		crc, err := fs.blocks(w, s.Data)
		if err != nil {
			return err
		}
		places[i] = place{s.Name, s.Version, at, uint64(len(s.Data)), crc}
		pad := (align - len(s.Data)%align) % align
		if _, err := w.Write(padding[:pad]); err != nil {
			return err
		}
		at += uint64(len(s.Data) + pad)
	}
	toc := appendTOC(nil, places)
	t := tail{toc: at, length: uint64(len(toc)), crc: crc32.Checksum(toc, castagnoli)}
	t.size = at + t.length + tailSize
	_, err := w.Write(t.append(toc))
	return err
}

// blocks writes data with pauses and returns its checksum.
func (fs Files) blocks(w io.Writer, data []byte) (crc uint32, err error) {
	for len(data) > 0 {
		n := min(len(data), block)
		if fs.Pause != nil {
			if err := fs.Pause(); err != nil {
				return 0, err
			}
		}
		crc = crc32.Update(crc, castagnoli, data[:n])
		if _, err := w.Write(data[:n]); err != nil {
			return 0, err
		}
		data = data[n:]
	}
	return crc, nil
}
