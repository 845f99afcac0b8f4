package bitmap

import (
	"bytes"
	"errors"
	"fmt"
)

// Markers of JPEG: what stands behind 0xFF.
const (
	jpegStart = 0xD8
	jpegEnd   = 0xD9
	jpegScan  = 0xDA
)

// jpeg goes through the segments and over the pixels between them, to the marker of the end. Thumbnails lie inside segments.
func jpeg(data []byte) (w, h int, err error) {
	scanned := false
	for at := 2; ; {
		marker, next, err := jpegMarker(data, at)
		if err != nil {
			return 0, 0, err
		}
		switch at = next; {
		case marker == jpegEnd && !scanned:
			return 0, 0, errors.New("it has no pixels")
		case marker == jpegEnd:
			return w, h, nil
		case marker == jpegStart:
			return 0, 0, errors.New("it begins twice")
		case marker == 0x01, marker >= 0xD0 && marker <= 0xD7: // without a length
			continue
		}
		if len(data)-at < 2 {
			return 0, 0, errCut
		}
		n := int(be16(data[at:]))
		if n < 2 || len(data)-at < n {
			return 0, 0, errCut
		}
		body := data[at+2 : at+n]
		at += n
		switch {
		case jpegFrame(marker):
			if len(body) < 6 {
				return 0, 0, errCut
			}
			larger(&w, &h, be16(body[3:]), be16(body[1:]))
		case marker == jpegScan:
			if w == 0 {
				return 0, 0, errors.New("its pixels come before its size")
			}
			scanned = true
			if at, err = jpegPixels(data, at); err != nil {
				return 0, 0, err
			}
		}
	}
}

// jpegMarker returns the marker at a place and what follows it.
func jpegMarker(data []byte, at int) (marker byte, next int, err error) {
	if at < len(data) && data[at] != 0xFF {
		return 0, 0, fmt.Errorf("something else stands where a segment should begin, at byte %d", at)
	}
	for at < len(data) && data[at] == 0xFF { // any number of them is allowed
		at++
	}
	if at >= len(data) {
		return 0, 0, errCut
	}
	return data[at], at + 1, nil
}

// jpegFrame reports whether a marker begins a frame, which has the size.
func jpegFrame(marker byte) bool {
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
}

// jpegPixels returns where the pixels end that begin at a place: at the next marker that may not stand within them.
func jpegPixels(data []byte, at int) (int, error) {
	for {
		i := bytes.IndexByte(data[at:], 0xFF)
		if i < 0 || at+i+1 >= len(data) {
			return 0, errCut
		}
		at += i
		if next := data[at+1]; next != 0 && next != 0xFF && (next < 0xD0 || next > 0xD7) {
			return at, nil
		}
		at++
	}
}
