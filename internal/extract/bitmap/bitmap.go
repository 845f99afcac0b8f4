// Package bitmap finds out what images are by their bytes: of which kind, how large, and whether they are whole. It never
// decodes one, so an image that would take gigabytes of memory takes none here.
package bitmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The most that an image may have; MaxBytes is for those that are shown to models.
const (
	MaxBytes  = 2 << 20
	MaxPixels = 50_000_000
)

// Info is what is known of an image.
type Info struct {
	MIME          string
	Width, Height int
}

// kind is a format of images.
type kind struct {
	mime string
	is   func(data []byte) bool
	// size returns the size in pixels, the largest that a frame claims. It goes through the structure of the file to its end, so
	// that a file that was cut off is an error.
	size func(data []byte) (width, height int, err error)
}

// kinds are the formats that models of all providers read.
var kinds = []kind{
	{"image/png", func(b []byte) bool { return bytes.HasPrefix(b, pngMark) }, png},
	{"image/jpeg", func(b []byte) bool { return bytes.HasPrefix(b, []byte("\xFF\xD8\xFF")) }, jpeg},
	{"image/gif", func(b []byte) bool {
		return bytes.HasPrefix(b, []byte("GIF87a")) || bytes.HasPrefix(b, []byte("GIF89a"))
	}, gif},
	{"image/webp", func(b []byte) bool { return len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP" }, webp},
}

// ErrKind is the error of bytes that are no image of a known kind.
var ErrKind = errors.New("it is no PNG, JPEG, GIF or WebP image")

// errCut is the error of a file that ends before its image does.
var errCut = errors.New("the file ends before the image does")

// Inspect returns what an image of at most MaxBytes is. Its errors are for people: what is wrong with the bytes.
func Inspect(data []byte) (Info, error) {
	if len(data) > MaxBytes {
		return Info{}, TooLarge(int64(len(data)))
	}
	return Look(data)
}

// Look is Inspect for an image of any length.
func Look(data []byte) (Info, error) {
	for _, k := range kinds {
		if !k.is(data) {
			continue
		}
		width, height, err := k.size(data)
		switch {
		case err != nil:
			return Info{}, fmt.Errorf("it is a damaged image (%s): %w", k.mime, err)
		case width < 1 || height < 1:
			return Info{}, fmt.Errorf("it is a damaged image (%s): it has %d × %d pixels", k.mime, width, height)
		case width > MaxPixels/height:
			return Info{}, fmt.Errorf("it has %d × %d pixels, more than the %d million that are allowed", width, height, MaxPixels/1_000_000)
		}
		return Info{k.mime, width, height}, nil
	}
	return Info{}, ErrKind
}

// TooLarge returns the error of an image of so many bytes.
func TooLarge(n int64) error {
	return fmt.Errorf("it has %d bytes, more than the %d MiB that an image may have", n, MaxBytes>>20)
}

const maxSide = 1 << 30 // so that no side overflows an int

// larger keeps the larger size of two.
func larger(w, h *int, width, height uint32) {
	*w, *h = max(*w, int(min(width, maxSide))), max(*h, int(min(height, maxSide)))
}

func be16(b []byte) uint32 { return uint32(binary.BigEndian.Uint16(b)) }
func le16(b []byte) uint32 { return uint32(binary.LittleEndian.Uint16(b)) }
func le24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
