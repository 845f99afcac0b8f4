package segment

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// Write writes the sections to path and syncs them: under another name first, so that path is there whole or not at
// all.
func Write(path string, sections []Section) error {
	return Replace(path, func(w io.Writer) error { return encode(w, sections) })
}

// Replace replaces the file at path, durably and atomically, by what write writes.
func Replace(path string, write func(io.Writer) error) (err error) {
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
	w := bufio.NewWriterSize(f, 1<<18)
	if err = write(w); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	if err = w.Flush(); err != nil {
		return fmt.Errorf("write index file: %w", err)
	}
	if err = f.Sync(); err != nil {
		return fmt.Errorf("sync index file: %w", err)
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("close index file: %w", err)
	}
	if err = os.Rename(tmp, path); err != nil {
		return fmt.Errorf("rename index file: %w", err)
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir syncs dir, which is what renames and removals in it need to be durable.
func SyncDir(dir string) error {
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

var padding [align]byte

func encode(w io.Writer, sections []Section) error {
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
		places[i] = place{s.Name, s.Version, at, uint64(len(s.Data)), crc32.Checksum(s.Data, castagnoli)}
		if _, err := w.Write(s.Data); err != nil {
			return err
		}
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

// Open maps the file at path after it has read and checked every section, also those that nobody knows. A damaged file is
// a *Corrupt, one of a newer format a *Newer.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open index file: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open index file: %w", err)
	}
	places, err := check(f, info.Size())
	if err != nil {
		return nil, err
	}
	data, unmap, err := mapFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("map index file %s: %w", path, err)
	}
	out := &File{Name: filepath.Base(path), mapped: data, close: unmap}
	for _, p := range places {
		end := p.offset + p.length
		out.sections = append(out.sections, Section{p.name, p.version, data[p.offset:end:end]})
	}
	return out, nil
}

// check compares every section with its checksum and returns the table of contents. It reads through a small buffer, so
// that what searches never touch does not become resident.
func check(f *os.File, size int64) ([]place, error) {
	bad := func(section string, at int64, reason string) error {
		return &Corrupt{File: filepath.Base(f.Name()), Section: section, Offset: at, Reason: reason}
	}
	if size < headSize+tailSize {
		return nil, bad("", 0, fmt.Sprintf("%d bytes are too few", size))
	}
	var head [headSize]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, bad("", 0, err.Error())
	}
	var last [tailSize]byte
	if _, err := f.ReadAt(last[:], size-tailSize); err != nil {
		return nil, bad("", size-tailSize, err.Error())
	}
	magic, err := magicOf(filepath.Base(f.Name()), head[:], last[:])
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(head[len(magic):], padding[:headSize-len(magic)]) {
		return nil, bad("", 0, "bytes behind the magic at the start")
	}
	t, err := parseTail(last[:], size, magic)
	if err != nil {
		return nil, bad("", size-tailSize, err.Error())
	}
	toc := make([]byte, t.length)
	if _, err := f.ReadAt(toc, int64(t.toc)); err != nil {
		return nil, bad("toc", int64(t.toc), err.Error())
	}
	if crc32.Checksum(toc, castagnoli) != t.crc {
		return nil, bad("toc", int64(t.toc), "checksum differs")
	}
	places, err := parseTOC(toc, magic)
	if err != nil {
		return nil, bad("toc", int64(t.toc), err.Error())
	}
	buf := make([]byte, 1<<18)
	for _, p := range places {
		if p.offset > t.toc || p.length > t.toc-p.offset {
			return nil, bad(p.name, int64(p.offset), "section reaches past the end")
		}
		crc := crc32.New(castagnoli)
		if _, err := io.CopyBuffer(struct{ io.Writer }{crc}, io.NewSectionReader(f, int64(p.offset), int64(p.length)), buf); err != nil {
			return nil, bad(p.name, int64(p.offset), err.Error())
		}
		if crc.Sum32() != p.crc {
			return nil, bad(p.name, int64(p.offset), "checksum differs")
		}
	}
	return places, nil
}
