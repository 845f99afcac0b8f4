// Package archive opens documents that are ZIP archives of XML parts, within limits that hold for every such format: a
// small file must not become a large one in memory, nor a deep one on the stack.
//
// It knows no format. Its callers are the readers of formats under extract. An Archive is not for concurrent use.
package archive

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"quarry/internal/extract/outline"
)

// Limits of one file. An upload has at most 10 MB; what people write packs to a tenth or a twentieth of its size.
const (
	maxEntries  = 10_000
	maxDeclared = 1 << 30  // bytes of all entries as the directory declares them, pictures included
	maxRead     = 64 << 20 // bytes of all parts that are read, as they come out
	maxRatio    = 250      // of a part's size to its packed size ...
	ratioFrom   = 1 << 20  // ... for parts above this size
)

// Archive is an open file.
type Archive struct {
	parts map[string]*zip.File // by name in lower case, without a leading slash
	left  int64                // bytes that may still be read
}

// Open reads the directory of a file. Its errors wrap outline.ErrUnparsable.
func Open(data []byte) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, bad("%w", err)
	}
	if len(z.File) > maxEntries {
		return nil, bad("the archive has more than %d entries", maxEntries)
	}
	a := &Archive{parts: make(map[string]*zip.File, len(z.File)), left: maxRead}
	var declared uint64
	for _, f := range z.File {
		// Each below the limit, so that the sum can't wrap around.
		if declared += min(f.UncompressedSize64, maxDeclared+1); declared > maxDeclared {
			return nil, bad("the archive unpacks to more than %d MB", maxDeclared>>20)
		}
		name := key(f.Name)
		if _, twice := a.parts[name]; !twice {
			a.parts[name] = f
		}
	}
	return a, nil
}

func key(name string) string { return strings.ToLower(strings.TrimLeft(name, "/")) }

// Has reports whether the archive has a part. Names are compared without regard to case, as OPC asks.
func (a *Archive) Has(name string) bool { return a.parts[key(name)] != nil }

// Read gives a part; nil when there is none. Its errors wrap outline.ErrUnparsable.
func (a *Archive) Read(name string) ([]byte, error) {
	f := a.parts[key(name)]
	if f == nil {
		return nil, nil
	}
	if f.UncompressedSize64 > ratioFrom && f.UncompressedSize64/maxRatio > f.CompressedSize64 {
		return nil, bad("%s is packed more than %d times", f.Name, maxRatio)
	}
	if f.UncompressedSize64 > uint64(a.left) {
		return nil, bad("the texts of the archive unpack to more than %d MB", maxRead>>20)
	}
	r, err := f.Open()
	if err != nil {
		return nil, bad("%s: %w", f.Name, err)
	}
	defer r.Close()
	// The directory may lie about the size: no more comes out than it says, and zip checks that it is no less.
	out := make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, bad("%s: %w", f.Name, err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, bad("%s: its size or checksum is wrong", f.Name)
	}
	a.left -= int64(len(out))
	return out, nil
}

// bad gives an error of the file.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
}
