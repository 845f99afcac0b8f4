package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// tar reads the archive once, to find its members and the digests of those that are chosen: the times in a tar are often all
// the same.
func (m *members) tar(ctx context.Context, f *os.File, size int64) error {
	t, again := &tape{f: f, size: size}, &tape{size: size, items: map[int]bool{}}
	var err error
	if again.f, err = os.Open(f.Name()); err != nil {
		m.broken(reasonOf(err, "the archive is gone"), adviceOf(err))
		return nil
	}
	m.Finder.open = append(m.Finder.open, again.f)
	if err := t.rewind(); err != nil {
		m.broken(archiveReason(err), "make the archive anew")
		return nil
	}
	for ; ; t.at++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && !passed(h) {
			err = m.taped(t, again, h)
			var stop *stopped
			if errors.As(err, &stop) {
				return stop.error
			}
		}
		if err != nil {
			m.broken(archiveReason(err), "make the archive anew; what stands before the fault was read")
			return nil
		}
	}
}

// stopped is the error of the caller's function, as opposed to one of the archive.
type stopped struct{ error }

// passed reports whether a header is no member: a folder, or attributes of others.
func passed(h *tar.Header) bool {
	return h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader
}

// taped offers the member that a tape stands at, to be read from another.
func (m *members) taped(t, again *tape, h *tar.Header) error {
	rel := m.take(member{name: h.Name, what: tarred(h.Typeflag), size: h.Size})
	if rel == "" {
		return nil
	}
	data, err := io.ReadAll(t.r)
	if err != nil {
		return err
	}
	f := taped{tape: again, index: t.at, file: m.file(rel)}
	f.stamp = Stamp{Size: h.Size, Modified: h.ModTime.UTC(), Identity: digest(data)}
	if f.form == AsBody {
		id, body, _ := bodyID(bytes.NewReader(data))
		if !body {
			m.leave(rel, CauseNoBody, noBody)
			return nil
		}
		f.id = id
	}
	again.expect(t.at)
	if err := m.item(Item{ID: f.id, Place: f.place, Form: f.form, Stamp: f.stamp, read: f.read}); err != nil {
		return &stopped{err}
	}
	return nil
}

// digest returns a short digest of a content, enough to see that it changed.
func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:32] }

// tarred returns what a member is that is no file, or "".
func tarred(flag byte) string {
	switch flag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return ""
	case tar.TypeSymlink, tar.TypeLink:
		return "a link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a pipe"
	}
	return fmt.Sprintf("of the unknown kind %q", flag)
}

// tape is a tar archive, compressed or not, which can be read only from its start to its end.
type tape struct {
	f    *os.File
	size int64
	mu   sync.Mutex // guards what follows where members are read
	r    *tar.Reader
	at   int // index of the member that comes next

	// Several readers ask for members nearly in order. items are the indexes that they ask for; passed holds the last few of those
	// that were passed over, so that one who comes a little late needs no new pass.
	items  map[int]bool
	passed []passage
}

// passage is the content of a member that was passed over.
type passage struct {
	index int
	data  []byte
}

const maxPassed = 8

// rewind begins from the start.
func (t *tape) rewind() error {
	if _, err := t.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	t.at = 0
	start := bufio.NewReader(t.f)
	if magic, _ := start.Peek(2); !bytes.Equal(magic, []byte("\x1F\x8B")) {
		t.r = tar.NewReader(start)
		return nil
	}
	z, err := gzip.NewReader(start)
	if err != nil {
		return err
	}
	t.r = tar.NewReader(newBounded(z, t.size))
	return nil
}

// expect notes that a member will be asked for.
func (t *tape) expect(index int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items[index] = true
}

// content returns that of a member.
func (t *tape) content(ctx context.Context, index int) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.passed, func(p passage) bool { return p.index == index }); i >= 0 {
		data := t.passed[i].data
		t.passed = slices.Delete(t.passed, i, i+1)
		return data, nil
	}
	if t.at > index || t.r == nil {
		if err := t.rewind(); err != nil {
			return nil, err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, err := t.r.Next()
		var data []byte
		if err == nil && (t.at == index || t.items[t.at]) {
			data, err = io.ReadAll(t.r)
		}
		if err != nil {
			t.r = nil
			return nil, err
		}
		if t.at++; t.at > index {
			return data, nil
		}
		if data != nil {
			t.passed = append(t.passed[max(0, len(t.passed)-maxPassed+1):], passage{t.at - 1, data})
		}
	}
}

// taped is a file in a tar archive.
type taped struct {
	*tape
	index int
	file
	stamp Stamp
}

func (f taped) read(ctx context.Context) (Content, error) {
	data, err := f.content(ctx, f.index)
	if err == nil && digest(data) != f.stamp.Identity {
		err = errMoves
	}
	if err != nil && ctx.Err() == nil {
		p := f.problem(StageRead, archiveReason(err), "run the same command again")
		return Content{}, &p
	}
	return Content{Data: data, Stamp: f.stamp, Settled: true}, err
}
