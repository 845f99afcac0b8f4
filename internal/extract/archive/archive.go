// Package archive reads documents that are ZIP archives of XML parts, such as Word's. Its limits protect every such
// format against files that expand to too much memory (zip bombs) or nest too deeply for the stack.
package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"quarry/internal/extract/outline"
)

// Limits of one file. An upload has at most 10 MB, and the text of real documents is compressed 10 to 20 times.
const (
	maxEntries  = 10_000
	maxDeclared = 1 << 30   // uncompressed bytes of all entries, pictures included, as the directory declares them
	maxRead     = 64 << 20  // uncompressed bytes of all parts that are read whole
	maxStreamed = 256 << 20 // uncompressed bytes of all parts that are read piece by piece
	maxFiles    = 256 << 20 // uncompressed bytes of all files inside that are no text
	maxRatio    = 250       // of a part's uncompressed to its compressed size ...
	ratioFrom   = 1 << 20   // ... for parts above this uncompressed size
)

// Archive is an open file. It is not safe for concurrent use.
type Archive struct {
	parts map[string]*zip.File // by key
	left  int64                // bytes that may still be read, of maxRead
	flow  int64                // and streamed, of maxStreamed
	files int64                // and read of files that are no text, of maxFiles
}

// Open reads the directory of an archive. Its errors wrap outline.ErrUnparsable.
func Open(data []byte) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, bad("%w", err)
	}
	if len(z.File) > maxEntries {
		return nil, bad("the archive has more than %d entries", maxEntries)
	}
	if !begins(data, z.File) {
		return nil, bad("the archive is cut off: what can be read is another one inside it")
	}
	a := &Archive{parts: make(map[string]*zip.File, len(z.File)), left: maxRead, flow: maxStreamed, files: maxFiles}
	var declared uint64
	for _, f := range z.File {
		// Each addend is clipped, so that the sum can't wrap around.
		if declared += min(f.UncompressedSize64, maxDeclared+1); declared > maxDeclared {
			return nil, bad("the archive unpacks to more than %d MB", maxDeclared>>20)
		}
		name := key(f.Name)
		if _, duplicate := a.parts[name]; !duplicate {
			a.parts[name] = f
		}
	}
	return a, nil
}

// begins reports whether one of the files is what the archive begins with. A directory that is found at the end of what was cut off is that of an archive
// inside, such as the workbook of a chart.
func begins(data []byte, files []*zip.File) bool {
	if len(data) < 30 || string(data[:4]) != "PK\x03\x04" {
		return len(files) == 0
	}
	first := 30 + int64(binary.LittleEndian.Uint16(data[26:])) + int64(binary.LittleEndian.Uint16(data[28:]))
	for _, f := range files {
		if at, err := f.DataOffset(); err == nil && at == first {
			return true
		}
	}
	return len(files) == 0
}

// key returns the form of a part's name by which names are compared: OPC (ECMA-376, part 2) ignores case.
func key(name string) string { return strings.ToLower(strings.TrimLeft(name, "/")) }

// Has reports whether the archive has a part of this name, in any case.
func (a *Archive) Has(name string) bool { return a.parts[key(name)] != nil }

// Read returns the content of a part, or nil if there is none. Its errors wrap outline.ErrUnparsable.
func (a *Archive) Read(name string) ([]byte, error) {
	f := a.parts[key(name)]
	if f == nil {
		return nil, nil
	}
	if err := fit(f); err != nil {
		return nil, err
	}
	if f.UncompressedSize64 > uint64(a.left) {
		return nil, bad("the texts of the archive unpack to more than %d MB", maxRead>>20)
	}
	out, err := whole(f)
	a.left -= int64(len(out))
	return out, err
}

// File returns a file inside that is no text, such as a picture, of at most so many bytes. It is nil where there is none, or where it is
// damaged or too large: the text of a document does not depend on it.
func (a *Archive) File(name string, most int) []byte {
	f := a.parts[key(name)]
	if f == nil || fit(f) != nil || f.UncompressedSize64 > uint64(most) || f.UncompressedSize64 > uint64(a.files) {
		return nil
	}
	a.files -= int64(f.UncompressedSize64)
	out, err := whole(f)
	if err != nil {
		return nil
	}
	return out
}

// whole returns the content of a part.
func whole(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, bad("%s: %w", f.Name, err)
	}
	defer r.Close()
	// The declared size may be false. At most that much is read; ReadFull fails if there is less, and the read after it
	// if there is more.
	out := make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, bad("%s: %w", f.Name, err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, bad("%s: its size or checksum is wrong", f.Name)
	}
	return out, nil
}

// fit returns an error for a part that is compressed better than any text.
func fit(f *zip.File) error {
	if f.UncompressedSize64 > ratioFrom && f.UncompressedSize64/maxRatio > f.CompressedSize64 {
		return bad("%s is compressed more than %d times", f.Name, maxRatio)
	}
	return nil
}

// Stream calls read with the elements of a part, which is never in memory as a whole; a part that is missing has none. The error wraps
// outline.ErrUnparsable.
func (a *Archive) Stream(name string, read func(x *XML)) error {
	f := a.parts[key(name)]
	if f == nil {
		return nil
	}
	if err := fit(f); err != nil {
		return err
	}
	if f.UncompressedSize64 > uint64(a.flow) {
		return bad("the sheets of the archive unpack to more than %d MB", maxStreamed>>20)
	}
	a.flow -= int64(f.UncompressedSize64)
	r, err := f.Open() // which gives no more bytes than are declared
	if err != nil {
		return bad("%s: %w", f.Name, err)
	}
	defer r.Close()
	x := newXML(bufio.NewReaderSize(r, 64<<10))
	read(x)
	return x.Err()
}

// Each calls visit for the elements of a part, and with the reader that they come from; a part that is missing has none.
func (a *Archive) Each(name string, visit func(x *XML, e xml.StartElement)) error {
	data, err := a.Read(name)
	if err != nil || data == nil {
		return err
	}
	x := NewXML(data)
	x.Each(func(e xml.StartElement) { visit(x, e) })
	return x.Err()
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
}
