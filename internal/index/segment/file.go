package segment

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

func open(path string, access func(section string, bytes int64) Access) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open index file: %w", err)
	}
	var out *File
	defer func() {
		if out == nil || out.file == nil {
			_ = f.Close() // it was read only
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open index file: %w", err)
	}
	data, checked, unmap, err := mapFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("map index file %s: %w", path, err)
	}
	places, err := source{
		ReaderAt: checked, name: filepath.Base(path), size: info.Size(), access: access,
		cold: func(offset, length int64) func() { return leaving(f, data, offset, length) },
	}.check()
	if err != nil {
		if unmap != nil {
			err = errors.Join(err, unmap())
		}
		return nil, err
	}
	out = &File{Name: filepath.Base(path), mapped: data, close: unmap}
	if unmap != nil {
		out.path = path
	}
	for _, p := range places {
		end := p.offset + p.length
		out.sections = append(out.sections, Section{p.name, p.version, data[p.offset:end:end]})
		if unmap != nil && access(p.name, int64(p.length)) == Apart {
			if out.file == nil {
				out.file, out.parts = f, map[string]*Part{}
			}
			out.parts[p.name] = &Part{in: out, section: p.name, offset: int64(p.offset), length: int64(p.length)}
		}
	}
	return out, nil
}

// check compares every section with its checksum and returns the table of contents. It reads through a small buffer, so
// that what searches never touch does not become part of the process.
func (f source) check() ([]place, error) {
	size := f.size
	bad := func(section string, at int64, reason string) error {
		return &Corrupt{File: f.name, Section: section, Offset: at, Reason: reason}
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
	magic, err := magicOf(f.name, head[:], last[:])
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
	read := make([]func(), len(places)) // asked for before the first read: the system reads ahead into the next sections
	for i, p := range places {
		if p.offset > t.toc || p.length > t.toc-p.offset {
			return nil, bad(p.name, int64(p.offset), "section reaches past the end")
		}
		if a := f.access(p.name, int64(p.length)); a == Cold || a == Apart {
			read[i] = f.cold(int64(p.offset), int64(p.length))
		}
	}
	buf := make([]byte, 1<<18)
	for i, p := range places {
		if reason := f.compare(p, buf); reason != "" {
			return nil, bad(p.name, int64(p.offset), reason)
		}
		if read[i] != nil {
			read[i]()
		}
	}
	return places, nil
}

// compare returns what is wrong with a section, "" for nothing.
func (f source) compare(p place, buf []byte) (reason string) {
	crc := crc32.New(castagnoli)
	n, err := io.CopyBuffer(struct{ io.Writer }{crc}, io.NewSectionReader(f, int64(p.offset), int64(p.length)), buf)
	switch {
	case err != nil:
		return err.Error()
	case uint64(n) < p.length:
		return "cut off"
	case crc.Sum32() != p.crc:
		return "checksum differs"
	}
	return ""
}
