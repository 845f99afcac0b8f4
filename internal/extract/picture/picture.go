// Package picture reads files that are pictures: PNG, JPEG, TIFF with all of its pages, GIF, WebP and BMP. They have no text of their own;
// what they show is made ready for whoever recognises text in it, as grey pixels the right way up. The size of a picture is known
// before it is decoded, and bounded. All functions are safe for concurrent use.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"

	"quarry/internal/extract/outline"
)

// Limits of one picture. A sheet of A0 at 200 dots per inch has 62 million of them; programs that recognise text take 32,767 a side.
const (
	MaxPixels = 64_000_000
	MaxSide   = 32_767
)

// Fits returns an error, which wraps outline.ErrUnparsable, for a picture that is too large to be decoded.
func Fits(width, height int) error {
	switch {
	case width <= 0 || height <= 0:
		return fmt.Errorf("%w: a picture of %d x %d pixels", outline.ErrUnparsable, width, height)
	case width > MaxSide || height > MaxSide || width*height > MaxPixels:
		return fmt.Errorf("%w: a picture of %d x %d pixels, where %d million and %d a side are the most; save it with fewer", outline.ErrUnparsable,
			width, height, MaxPixels/1_000_000, MaxSide)
	}
	return nil
}

// Format is a format of pictures.
type Format struct {
	// Is recognises a file by its first bytes.
	Is func(data []byte) bool

	name   string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	pages  func(data []byte) ([]sheet, error)
}

// The formats.
var (
	PNG  = &Format{begins("\x89PNG\r\n\x1A\n"), "PNG", png.DecodeConfig, png.Decode, one(aboutPNG)}
	JPEG = &Format{begins("\xFF\xD8\xFF"), "JPEG", jpeg.DecodeConfig, jpeg.Decode, one(aboutJPEG)}
	GIF  = &Format{begins("GIF87a", "GIF89a"), "GIF", gif.DecodeConfig, gif.Decode, one(nil)}
	WebP = &Format{isWebP, "WebP", webp.DecodeConfig, webp.Decode, one(nil)}
	BMP  = &Format{isBMP, "BMP", bmp.DecodeConfig, bmp.Decode, one(nil)}
	TIFF = &Format{begins("II*\x00", "MM\x00*"), "TIFF", nil, nil, tiffPages}
)

// sheet is a page of a file.
type sheet struct {
	orientation   int // as EXIF and TIFF have it: 1 is upright
	dpi           int // 0 if it is not known
	width, height int // of a page of TIFF
	decode        func() (image.Image, error)
}

// begins returns the test for files that begin with one of the texts.
func begins(all ...string) func([]byte) bool {
	return func(data []byte) bool {
		for _, s := range all {
			if bytes.HasPrefix(data, []byte(s)) {
				return true
			}
		}
		return false
	}
}

func isWebP(data []byte) bool {
	return len(data) >= 16 && string(data[:4]) == "RIFF" && string(data[8:15]) == "WEBPVP8"
}

// isBMP also looks at the length of the header that follows: two letters are little.
func isBMP(data []byte) bool {
	if len(data) < 18 || string(data[:2]) != "BM" || data[15]|data[16]|data[17] != 0 {
		return false
	}
	switch data[14] {
	case 12, 40, 52, 56, 64, 108, 124:
		return true
	}
	return false
}

// one returns the pages of a file that has one.
func one(about func(data []byte) (orientation, dpi int)) func([]byte) ([]sheet, error) {
	return func(data []byte) ([]sheet, error) {
		s := sheet{orientation: 1}
		if about != nil {
			s.orientation, s.dpi = about(data)
		}
		return []sheet{s}, nil
	}
}

// Read returns the tree of a file: its pages with what was recognised on them, and as scans the others.
func (f *Format) Read(data []byte, o outline.Options) (doc *outline.Document, err error) {
	defer recovered(&err)
	pages, err := f.open(data)
	if err != nil {
		return nil, err
	}
	b := &outline.Builder{}
	var scans []outline.Scan
	for i := range pages {
		s := outline.Scan{Page: i + 1}
		if text, ok := o.Read(s); ok {
			b.Scanned(s.Page, text)
		} else {
			scans = append(scans, s)
		}
	}
	doc = b.Document(map[string]any{})
	doc.Scans = scans
	if len(pages) > 1 {
		doc.Metadata["Page-Count"] = len(pages)
	}
	return doc, nil
}

// open returns the pages of a file, after a look at their sizes.
func (f *Format) open(data []byte) ([]sheet, error) {
	if !f.Is(data) {
		return nil, fmt.Errorf("%w: it does not begin as %s does", outline.ErrUnparsable, f.name)
	}
	pages, err := f.pages(data)
	if err != nil {
		return nil, err
	}
	for i := range pages {
		p := &pages[i]
		if f.config != nil {
			c, err := f.config(bytes.NewReader(data))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", outline.ErrUnparsable, err)
			}
			p.width, p.height = c.Width, c.Height
			p.decode = func() (image.Image, error) { return f.decode(bytes.NewReader(data)) }
		}
		if err := Fits(p.width, p.height); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// Raster returns the picture on a page, from 1.
func (f *Format) Raster(data []byte, page int) (r *outline.Raster, err error) {
	defer recovered(&err)
	pages, err := f.open(data)
	if err != nil {
		return nil, err
	}
	if page < 1 || page > len(pages) {
		return nil, fmt.Errorf("%w: it has no page %d", outline.ErrUnparsable, page)
	}
	p := &pages[page-1]
	img, err := p.decode()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", outline.ErrUnparsable, err)
	}
	r = upright(Grey(img), p.orientation)
	r.DPI = p.dpi
	return r, nil
}

// recovered sets the error of a panic: decoders of others meet files of strangers.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", outline.ErrUnparsable, r)
	}
}
