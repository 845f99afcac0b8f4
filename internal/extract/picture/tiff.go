package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"io"

	"golang.org/x/image/tiff"

	"quarry/internal/extract/outline"
)

// Tags of TIFF 6.0 that are looked at here; what they mean to the pixels is left to the decoder.
const (
	tagKind        = 254 // bit 0: a smaller copy of another page
	tagWidth       = 256
	tagHeight      = 257
	tagCompression = 259
	tagPhotometric = 262
	tagStrips      = 273
	tagOrientation = 274
	tagRows        = 278 // of a strip
	tagStripBytes  = 279
	tagResolution  = 282
	tagUnit        = 296
	tagJPEGTables  = 347
)

// Bounds of a file.
const (
	maxSheets = 10_000
	maxStrips = 100_000
)

// compressedJPEG is the compression of strips that are JPEG (TIFF technical note 2).
const compressedJPEG = 7

// directories reads the directories of a file.
type directories struct {
	data  []byte
	order binary.ByteOrder
	first int // where the first one is
}

func openTIFF(data []byte) (*directories, error) {
	if len(data) < 8 {
		return nil, fmt.Errorf("%w: it ends in its header", outline.ErrUnparsable)
	}
	d := &directories{data: data, order: binary.LittleEndian}
	if data[0] == 'M' {
		d.order = binary.BigEndian
	}
	d.first = int(d.order.Uint32(data[4:]))
	return d, nil
}

// directory is what is said of one page: the entries, by tag.
type directory struct {
	of      *directories
	entries map[int][]byte // of 12 bytes
}

// directory returns the directory at a place, and where the next one is, 0 for none.
func (d *directories) directory(at int) (*directory, int, error) {
	if at < 8 || at+2 > len(d.data) {
		return nil, 0, fmt.Errorf("%w: a page is said to be at byte %d of %d", outline.ErrUnparsable, at, len(d.data))
	}
	n := int(d.order.Uint16(d.data[at:]))
	end := at + 2 + 12*n
	if end > len(d.data) {
		return nil, 0, fmt.Errorf("%w: it ends in what it says of a page", outline.ErrUnparsable)
	}
	out := &directory{d, map[int][]byte{}}
	for i := range n {
		e := d.data[at+2+12*i : at+14+12*i]
		out.entries[int(d.order.Uint16(e))] = e
	}
	next := 0
	if end+4 <= len(d.data) {
		next = int(d.order.Uint32(d.data[end:]))
	}
	return out, next, nil
}

// sizes are those of the types of values, in bytes.
var sizes = [...]int{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}

// values returns the bytes of an entry and the size of each value, at most so many; nil if there is none.
func (d *directory) values(tag, most int) (raw []byte, size int) {
	e := d.entries[tag]
	if e == nil {
		return nil, 0
	}
	kind, n := int(d.of.order.Uint16(e[2:])), int(d.of.order.Uint32(e[4:]))
	if kind >= len(sizes) || sizes[kind] == 0 || n > most {
		return nil, 0
	}
	size = sizes[kind]
	if n*size <= 4 {
		return e[8 : 8+n*size], size
	}
	at := int(d.of.order.Uint32(e[8:]))
	if at+n*size > len(d.of.data) {
		return nil, 0
	}
	return d.of.data[at : at+n*size], size
}

// numbers returns the whole numbers of an entry.
func (d *directory) numbers(tag, most int) (out []int) {
	raw, size := d.values(tag, most)
	for ; len(raw) > 0; raw = raw[size:] {
		switch size {
		case 1:
			out = append(out, int(raw[0]))
		case 2:
			out = append(out, int(d.of.order.Uint16(raw)))
		case 4:
			out = append(out, int(d.of.order.Uint32(raw)))
		default:
			return nil
		}
	}
	return out
}

// first returns the first number of an entry, or another.
func (d *directory) first(tag, other int) int {
	if all := d.numbers(tag, 16); len(all) > 0 {
		return all[0]
	}
	return other
}

// dpi returns the resolution that is written down.
func (d *directory) dpi() int {
	raw, size := d.values(tagResolution, 1)
	if size != 8 {
		return 0
	}
	v := float64(d.of.order.Uint32(raw)) / float64(d.of.order.Uint32(raw[4:])) // beyond all bounds for 0, which is not plausible
	switch d.first(tagUnit, 2) {
	case 2:
		return plausible(v)
	case 3:
		return plausible(v * centimetres)
	}
	return 0
}

// tiffPages returns the pages of a file; smaller copies of them are none.
func tiffPages(data []byte) ([]sheet, error) {
	t, err := openTIFF(data)
	if err != nil {
		return nil, err
	}
	var out []sheet
	seen := map[int]bool{}
	for at := t.first; at != 0; {
		if seen[at] || len(seen) == maxSheets {
			return nil, fmt.Errorf("%w: its pages have no end, or are more than %d", outline.ErrUnparsable, maxSheets)
		}
		seen[at] = true
		d, next, err := t.directory(at)
		if err != nil {
			return nil, err
		}
		if d.first(tagKind, 0)&1 == 0 {
			out = append(out, sheet{
				orientation: d.first(tagOrientation, 1), dpi: d.dpi(), width: d.first(tagWidth, 0), height: d.first(tagHeight, 0),
				decode: d.decoder(at),
			})
		}
		at = next
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: it has no pages", outline.ErrUnparsable)
	}
	return out, nil
}

// decoder returns what decodes the page whose directory is at a place.
func (d *directory) decoder(at int) func() (image.Image, error) {
	if d.first(tagCompression, 0) == compressedJPEG {
		return d.decodeJPEG
	}
	return func() (image.Image, error) {
		var head [8]byte
		copy(head[:], d.of.data)
		d.of.order.PutUint32(head[4:], uint32(at))
		img, err := tiff.Decode(&beginning{head: head[:], data: d.of.data})
		if grey, ok := img.(*image.Gray); ok && d.reversed() {
			for i, v := range grey.Pix {
				grey.Pix[i] = ^v
			}
		}
		return img, err
	}
}

// reversed reports whether the page is CCITT whose white stands for 0, and 0 for black. Programs write and read it so that it
// is black (TIFF 6.0, section 10), the decoder so that it is white.
func (d *directory) reversed() bool {
	const group3, group4, blackIsZero = 3, 4, 1
	c := d.first(tagCompression, 0)
	return (c == group3 || c == group4) && d.first(tagPhotometric, 0) == blackIsZero
}

// beginning is a file with another header, by which its decoder, who reads one page, finds another one.
type beginning struct{ head, data []byte }

// Read is not called by readers that know ReadAt.
func (b *beginning) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ReadAt implements io.ReaderAt.
func (b *beginning) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at > int64(len(b.data)) {
		return 0, io.EOF
	}
	n := copy(p, b.data[at:])
	if at < int64(len(b.head)) {
		copy(p[:n], b.head[at:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// decodeJPEG decodes a page whose strips are JPEG, below each other, with their tables in one place.
func (d *directory) decodeJPEG() (image.Image, error) {
	width, height := d.first(tagWidth, 0), d.first(tagHeight, 0)
	at, n, rows := d.numbers(tagStrips, maxStrips), d.numbers(tagStripBytes, maxStrips), d.first(tagRows, height)
	if len(at) == 0 || len(at) != len(n) || rows < 1 {
		return nil, fmt.Errorf("%w: tiles, or strips without their lengths, of JPEG in TIFF are not read; save it with another compression", outline.ErrUnparsable)
	}
	tables, _ := d.values(tagJPEGTables, 1<<16)
	tables = bytes.TrimSuffix(tables, []byte("\xFF\xD9"))
	out := image.NewGray(image.Rect(0, 0, width, height))
	for i := range at {
		if at[i]+n[i] > len(d.of.data) || n[i] < 2 || i*rows >= height {
			return nil, fmt.Errorf("%w: strip %d is not in the file", outline.ErrUnparsable, i)
		}
		strip := d.of.data[at[i] : at[i]+n[i]]
		if len(tables) > 0 {
			strip = append(tables[:len(tables):len(tables)], strip[2:]...)
		}
		c, err := jpeg.DecodeConfig(bytes.NewReader(strip))
		if err != nil {
			return nil, err
		}
		if c.Width > width+16 || c.Height > rows+16 {
			return nil, fmt.Errorf("%w: strip %d has %d x %d pixels", outline.ErrUnparsable, i, c.Width, c.Height)
		}
		img, err := jpeg.Decode(bytes.NewReader(strip))
		if err != nil {
			return nil, err
		}
		grey := Grey(img)
		draw.Draw(out, image.Rect(0, i*rows, width, min(height, (i+1)*rows)), &image.Gray{Pix: grey.Grey, Stride: grey.Width, Rect: image.Rect(0, 0, grey.Width, grey.Height)}, image.Point{}, draw.Src)
	}
	return out, nil
}
