package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"quarry/internal/encode"
)

// bytesOf returns the memory of floats. Files are of this machine alone, so its byte order does.
func bytesOf(f []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(f))), 4*len(f))
}

// Save writes vectors to a file, as the foreign engines read them: float32, row after row.
func Save(path string, v Vectors) error { return write(path, bytesOf(v.Values)) }

// write puts a file in its place as a whole.
func write(path string, content []byte) error {
	if err := os.WriteFile(path+".tmp", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// Load reads a file of vectors.
func Load(path string, dim int) (Vectors, error) {
	f, err := os.Open(path)
	if err != nil {
		return Vectors{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Vectors{}, err
	}
	v := New(int(info.Size())/(4*dim), dim)
	_, err = io.ReadFull(f, bytesOf(v.Values))
	return v, err
}

// Kept returns the vectors in a file, made and saved where there is none.
func Kept(path string, dim int, build func() (Vectors, error)) (Vectors, error) {
	v, err := Load(path, dim)
	if !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	if v, err = build(); err != nil {
		return v, err
	}
	return v, Save(path, v)
}

// Lines writes lines of words to a file, one passage or query each, for the foreign engines.
func Lines(path string, lines [][]string) error {
	var b strings.Builder
	for _, words := range lines {
		b.WriteString(strings.Join(words, " "))
		b.WriteByte('\n')
	}
	return write(path, []byte(b.String()))
}

// progress prints how far something is, at most once a second, on one line of standard error.
type progress struct {
	what        string
	began, last time.Time
	start       int
}

// NewProgress returns a line of progress for work of which start is done.
func NewProgress(what string, start int) *progress {
	return &progress{what: what, began: time.Now(), start: start}
}

// At prints that done of all are done.
func (p *progress) At(done, all int) {
	if time.Since(p.last) < time.Second && done < all {
		return
	}
	p.last = time.Now()
	const width = 30
	full := width * done / max(1, all)
	rate := float64(done-p.start) / time.Since(p.began).Seconds()
	left := time.Duration(float64(all-done) / max(rate, 1) * float64(time.Second))
	fmt.Fprintf(os.Stderr, "\r%s [%s%s] %d of %d, %.0f/s, %v left   ", p.what, strings.Repeat("#", full), strings.Repeat(".", width-full),
		done, all, rate, left.Round(time.Second))
	if done >= all {
		fmt.Fprintln(os.Stderr)
	}
}

// Encode returns the encoder's own vectors of the first n texts in an order. They are kept in a file that grows, so that
// what was encoded before, by a run that was stopped say, is not encoded again; n below 0 is as many as there are.
func Encode(path string, e *encode.Encoder, texts []string, order []int, n int) (Vectors, error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return Vectors{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Vectors{}, err
	}
	row := int64(4 * e.Dim())
	done := min(int(info.Size()/row), len(order))
	if n < 0 {
		n = done
	}
	n = min(n, len(order))
	if _, err := f.Seek(int64(done)*row, io.SeekStart); err != nil { // over a row that was cut off
		return Vectors{}, err
	}
	const batch = 256
	out, bar := bufio.NewWriterSize(f, batch*int(row)), NewProgress("encoding", done)
	for ; done < n; done += batch {
		some := New(min(batch, n-done), e.Dim())
		if err := each(some.Len(), func(i int) error { return e.Encode(texts[order[done+i]], true, some.Row(i)) }); err != nil {
			return some, err
		}
		if _, err := out.Write(bytesOf(some.Values)); err != nil {
			return some, err
		}
		if err := out.Flush(); err != nil {
			return some, err
		}
		bar.At(min(done+batch, n), n)
	}
	v, err := Load(path, e.Dim())
	if err == nil {
		v.Values = v.Values[:n*e.Dim()]
	}
	return v, err
}
