package reader

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"quarry/internal/extract"
)

// kind is what a message holds. A service sends files, one at a time, or asks for a page of one; its worker says hello once, and of
// each file the stage that it has come to, as often as it likes, and then the tree, the raster of the page, or the failure.
type kind byte

const (
	hello   kind = 'h' // the build of the worker, a text
	file    kind = 'f' // extract.Input
	page    kind = 'p' // paged
	stage   kind = 's' // a text
	tree    kind = 't' // extract.Document
	raster  kind = 'r' // extract.Raster
	failure kind = 'e' // failed
)

// paged is a page of a file.
type paged struct {
	File extract.Input
	Page extract.Scan
}

// task is what a worker is asked for: the tree of a file, or the raster of a page of it.
type task struct {
	file extract.Input
	page *extract.Scan
}

// send writes the message of a task.
func (t *task) send(w io.Writer) error {
	if t.page != nil {
		return send(w, page, paged{t.file, *t.page})
	}
	return send(w, file, t.file)
}

// result is what became of a task: one of both.
type result struct {
	tree   *extract.Document
	raster *extract.Raster
}

// failed is an error of extract.Read.
type failed struct {
	Cause int // the place in causes, from 1; 0 for none of them
	Text  string
}

// causes are the errors that callers of extract.Read distinguish.
var causes = []error{extract.ErrUnparsable, extract.ErrProtected, extract.ErrNoText, extract.ErrUnsupported, extract.ErrEmpty}

func failedWith(err error) failed {
	for i, cause := range causes {
		if errors.Is(err, cause) {
			return failed{i + 1, err.Error()}
		}
	}
	return failed{0, err.Error()}
}

// err returns the error that f was made of, its text and what it is.
func (f failed) err() error {
	if f.Cause < 1 || f.Cause > len(causes) {
		return errors.New(f.Text)
	}
	return told{f.Text, causes[f.Cause-1]}
}

// told is an error of another process.
type told struct {
	text  string
	cause error
}

func (t told) Error() string { return t.text }
func (t told) Unwrap() error { return t.cause }

// A message is its kind and its value in blocks, so that neither side has to know its length before it is there: each block
// is its length, in four bytes, and its bytes; a block shorter than a full one is the last.
const block = 64 << 10

// send writes a message.
func send(w io.Writer, k kind, value any) error {
	b := &blocks{w: w}
	if _, err := w.Write([]byte{byte(k)}); err != nil {
		return err
	}
	out := bufio.NewWriterSize(b, block)
	if err := writeValue(out, reflect.ValueOf(value)); err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return b.close()
}

// blocks writes full blocks, and the last one when it is closed.
type blocks struct {
	w    io.Writer
	buf  [4 + block]byte
	held int
}

func (b *blocks) Write(p []byte) (n int, err error) {
	for n = 0; n < len(p); {
		taken := copy(b.buf[4+b.held:], p[n:])
		b.held, n = b.held+taken, n+taken
		if b.held == block {
			if err := b.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (b *blocks) flush() error {
	binary.BigEndian.PutUint32(b.buf[:], uint32(b.held))
	_, err := b.w.Write(b.buf[:4+b.held])
	b.held = 0
	return err
}

func (b *blocks) close() error { return b.flush() }

// errMessage means bytes that are no message, or one that is larger than it may be.
var errMessage = errors.New("not a message")

// receive reads a message of at most so many bytes, and takes no memory for what has not come.
func receive(r io.Reader, most int64) (k kind, value string, err error) {
	var head [4]byte
	buf := make([]byte, block)
	if _, err := io.ReadFull(r, head[:1]); err != nil {
		return 0, "", err
	}
	k = kind(head[0])
	var all strings.Builder
	for n := block; n == block; {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return k, "", unexpected(err)
		}
		n = int(binary.BigEndian.Uint32(head[:]))
		if n > block || int64(all.Len()+n) > most {
			return k, "", errMessage
		}
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			return k, "", unexpected(err)
		}
		all.Write(buf[:n])
	}
	return k, all.String(), nil
}

// unexpected returns the error of a message that ends in its middle.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
