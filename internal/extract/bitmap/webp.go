package bitmap

import (
	"encoding/binary"
	"errors"
)

// webp goes through the chunks of the RIFF container. The size stands in the chunk of the pixels, and in one before it where
// there is more than these.
func webp(data []byte) (w, h int, err error) {
	const head, frame = 12, 8
	end := int(min(binary.LittleEndian.Uint32(data[4:]), maxSide)) + 8
	if end > len(data) {
		return 0, 0, errCut
	}
	pixels := false
	for at := head; end-at >= frame; {
		n := int(min(binary.LittleEndian.Uint32(data[at+4:]), maxSide))
		if end-at-frame < n {
			return 0, 0, errCut
		}
		body := data[at+frame : at+frame+n]
		width, height, ok := webpSize(string(data[at:at+4]), body)
		if !ok {
			return 0, 0, errors.New("a chunk has no size of the image")
		}
		larger(&w, &h, width, height)
		switch string(data[at : at+4]) {
		case "VP8 ", "VP8L", "ANMF":
			pixels = true
		}
		at += frame + n + n&1
	}
	if !pixels {
		return 0, 0, errors.New("it has no pixels")
	}
	return w, h, nil
}

// webpSize returns the size that a chunk states, 0 for chunks without one; false if it should have one.
func webpSize(name string, body []byte) (w, h uint32, ok bool) {
	switch name {
	case "VP8X":
		if len(body) < 10 {
			return 0, 0, false
		}
		return le24(body[4:]) + 1, le24(body[7:]) + 1, true
	case "ANMF":
		if len(body) < 16 {
			return 0, 0, false
		}
		return le24(body[6:]) + 1, le24(body[9:]) + 1, true
	case "VP8 ": // a key frame: three bytes, a mark, then the size in 14 bits each
		if len(body) < 10 || body[0]&1 != 0 || string(body[3:6]) != "\x9d\x01\x2a" {
			return 0, 0, false
		}
		return le16(body[6:]) & 0x3FFF, le16(body[8:]) & 0x3FFF, true
	case "VP8L": // a mark, then the size less one in 14 bits each
		if len(body) < 5 || body[0] != 0x2F {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(body[1:])
		return bits&0x3FFF + 1, bits>>14&0x3FFF + 1, true
	}
	return 0, 0, true
}
