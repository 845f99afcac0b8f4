// Package blob keeps contents by what they are: the name of a content is its SHA-256, so the same content is kept once, and
// what is read is checked against its name. Who refers to a content is counted in rows, in the transactions of those who refer
// to it; a sweep removes what nobody refers to. Implementations are blobstore/file (files of the data folder) and store/blobs
// (rows, which every node over one PostgreSQL has); blobtest is what both are held to.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"
)

// Blob names a content.
type Blob struct {
	Sum  string // SHA-256 in lower-case hex
	Size int64
}

// Store keeps contents. Safe for concurrent use.
//
// A content that was put is held until it is released: whoever puts one writes the row that refers to it, then releases it,
// also where there is no row to write. So a sweep never removes what a request in flight goes on to refer to, and what was
// refused doesn't stay.
type Store interface {
	// Put reads r to its end and keeps what it has read, which is durable and held when Put returns. More than limit bytes are
	// ErrTooLarge; errors of r are returned as they are. After an error nothing is kept.
	Put(ctx context.Context, r io.Reader, limit int64) (Blob, error)
	// Release ends the hold of one Put.
	Release(ctx context.Context, b Blob) error
	// Open returns a content, all of which was checked against its name: ErrDamaged if it is another one or a part of it is
	// missing, ErrMissing if there is none. The caller closes it.
	Open(ctx context.Context, b Blob) (*Content, error)
	// Sweep removes contents that nobody refers to or holds, and what writers that were killed have left, and returns how many
	// contents it has removed.
	Sweep(ctx context.Context, now time.Time) (removed int, err error)
}

// Rows counts who needs a content; store/blobs has them. References are counted there, in the transactions of others.
type Rows interface {
	// Hold notes that somebody who has put a content goes on to refer to it.
	Hold(ctx context.Context, b Blob, now time.Time) error
	// Release ends a hold.
	Release(ctx context.Context, sum string, now time.Time) error
	// Reset ends all holds: those of a process that was killed, at the start of the only one.
	Reset(ctx context.Context) error
	// Unused returns up to limit contents that nobody refers to or holds.
	Unused(ctx context.Context, limit int) (sums []string, err error)
	// Drop removes the row of a content that nobody refers to or holds, and reports whether there is none any more.
	Drop(ctx context.Context, sum string) (gone bool, err error)
	// Known returns those of sums that have a row.
	Known(ctx context.Context, sums []string) (map[string]bool, error)
}

// The errors of a Store.
var (
	ErrTooLarge = errors.New("the content has more bytes than are allowed")
	ErrDamaged  = errors.New("the content is damaged: its bytes don't have the checksum that they were stored with")
	ErrMissing  = errors.New("the content is not there")
)

// Content is a content that is read. Reading it anywhere is safe for concurrent use, like io.ReaderAt.
type Content struct {
	*io.SectionReader
	io.Closer
}

// NewContent returns the content b of r, after all of it was checked.
func NewContent(r io.ReaderAt, c io.Closer, b Blob) (*Content, error) {
	whole := io.NewSectionReader(r, 0, b.Size)
	h := sha256.New()
	n, err := io.CopyBuffer(h, onlyReader{whole}, make([]byte, copySize))
	switch {
	case err != nil:
		return nil, errors.Join(err, c.Close())
	case n != b.Size, hex.EncodeToString(h.Sum(nil)) != b.Sum:
		return nil, errors.Join(ErrDamaged, c.Close())
	}
	_, err = whole.Seek(0, io.SeekStart)
	return &Content{whole, c}, err
}

// copySize is how much is copied at once.
const copySize = 256 << 10

// onlyReader hides what else a reader can do, such as writing itself, so that it is read through a buffer of known size.
type onlyReader struct{ io.Reader }

// Reader reads at most a limit of bytes, and finds out what they are named.
type Reader struct {
	r    io.Reader
	left int64
	h    hashed
	size int64
}

type hashed interface {
	io.Writer
	Sum([]byte) []byte
}

// NewReader returns a reader of r whose reading fails with ErrTooLarge behind limit bytes.
func NewReader(r io.Reader, limit int64) *Reader { return &Reader{r: r, left: limit, h: sha256.New()} }

// Read reads on.
func (r *Reader) Read(p []byte) (int, error) {
	if int64(len(p)) > r.left+1 {
		p = p[:r.left+1]
	}
	n, err := r.r.Read(p)
	if int64(n) > r.left {
		return 0, ErrTooLarge
	}
	r.left -= int64(n)
	r.size += int64(n)
	_, _ = r.h.Write(p[:n]) // a hash never fails
	return n, err
}

// Blob returns the name of what was read so far.
func (r *Reader) Blob() Blob { return Blob{hex.EncodeToString(r.h.Sum(nil)), r.size} }

// Valid reports whether sum has the form of a name.
func Valid(sum string) bool {
	raw, err := hex.DecodeString(sum)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == sum
}
