package segment

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

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
