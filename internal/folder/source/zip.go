package source

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

func (m *members) zip(ctx context.Context, f *os.File, size int64) error {
	directory := &limitedAt{f: f}
	directory.left.Store(maxDirectory)
	z, err := zip.NewReader(directory, size)
	if err != nil {
		m.broken("it is no zip archive, or damaged: "+reasonOf(err, ""), "make the archive anew")
		return nil
	}
	directory.left.Store(-1)
	total := newBounded(nil, size)
	for _, x := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		if x.FileInfo().IsDir() {
			continue
		}
		unpacked := min(x.UncompressedSize64, 1<<62)
		rel := m.take(member{name: x.Name, what: whatIs(x.Mode()), size: int64(unpacked)})
		if rel == "" {
			continue
		}
		f := zipped{File: x, file: m.file(rel)}
		switch {
		case x.Flags&1 != 0:
			m.problem(f.problem(StageFind, "it is encrypted", "make the archive without a password"))
			continue
		case unpacked > ratioFrom/64 && unpacked/maxRatio > x.CompressedSize64, total.left < int64(unpacked):
			m.problem(f.problem(StageFind, errBomb.Error(), "make the archive anew"))
			continue
		}
		total.left -= int64(unpacked)
		if err := m.zipped(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// zipped offers a member, as the body that it holds if it is JSON.
func (m *members) zipped(ctx context.Context, f zipped) error {
	if f.form == AsBody {
		c, err := f.read(ctx)
		if err != nil {
			var p *Problem
			if errors.As(err, &p) {
				m.problem(*p)
				return nil
			}
			return err
		}
		id, body, _ := bodyID(bytes.NewReader(c.Data))
		if !body {
			m.leave(f.id, CauseNoBody, noBody)
			return nil
		}
		f.id = id
	}
	return m.item(Item{ID: f.id, Place: f.place, Form: f.form, Stamp: f.stamp(), read: f.read})
}

// zipped is a file in a zip archive.
type zipped struct {
	*zip.File
	file
}

func (z zipped) stamp() Stamp {
	return Stamp{
		Size: int64(z.UncompressedSize64), Modified: z.Modified.UTC(),
		Identity: fmt.Sprintf("%08x:%d", z.CRC32, z.CompressedSize64),
	}
}

func (z zipped) read(context.Context) (Content, error) {
	r, err := z.File.Open()
	if err != nil {
		return Content{}, z.damaged(err)
	}
	defer r.Close()
	// The declared size may be false. At most one byte more is read, which the checksum then does not fit.
	data, err := io.ReadAll(io.LimitReader(r, int64(z.UncompressedSize64)+1))
	if err != nil || crc32.ChecksumIEEE(data) != z.CRC32 {
		return Content{}, z.damaged(err)
	}
	return Content{Data: data, Stamp: z.stamp(), Settled: true}, nil
}

func (z zipped) damaged(err error) error {
	if err == nil {
		err = zip.ErrChecksum
	}
	p := z.problem(StageRead, archiveReason(err), "make the archive anew")
	return &p
}

// whatIs returns what a member is that is no file, or "".
func whatIs(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case !mode.IsRegular():
		return special(mode)
	}
	return ""
}

// limitedAt bounds how much of a file is read while left is not negative.
type limitedAt struct {
	f    *os.File
	left atomic.Int64
}

func (l *limitedAt) ReadAt(p []byte, at int64) (int, error) {
	if left := l.left.Load(); left >= 0 {
		if left < int64(len(p)) {
			return 0, fmt.Errorf("its list of files has more than %d MB", maxDirectory>>20)
		}
		l.left.Add(-int64(len(p)))
	}
	return l.f.ReadAt(p, at)
}
