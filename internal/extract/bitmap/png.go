package bitmap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

var pngMark = []byte("\x89PNG\r\n\x1a\n")

// png goes through the chunks: length, type, data, checksum. The first is IHDR, the last IEND.
func png(data []byte) (w, h int, err error) {
	const frame = 12 // bytes of a chunk without data
	pixels := false
	for at := len(pngMark); ; {
		if len(data)-at < frame {
			return 0, 0, errCut
		}
		n := int(min(binary.BigEndian.Uint32(data[at:]), maxSide))
		if len(data)-at-frame < n {
			return 0, 0, errCut
		}
		name, body := string(data[at+4:at+8]), data[at+8:at+8+n]
		if crc32.ChecksumIEEE(data[at+4:at+8+n]) != binary.BigEndian.Uint32(data[at+8+n:]) {
			return 0, 0, fmt.Errorf("the checksum of its chunk %q is wrong", name)
		}
		switch first := at == len(pngMark); {
		case first != (name == "IHDR"), first && n != 13:
			return 0, 0, errors.New("it does not begin with one header")
		case first:
			larger(&w, &h, binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:]))
		case name == "IDAT":
			pixels = true
		case name == "fcTL" && n >= 12: // a frame of an animation
			larger(&w, &h, binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:]))
		case name == "IEND" && !pixels:
			return 0, 0, errors.New("it has no pixels")
		case name == "IEND":
			return w, h, nil
		}
		at += frame + n
	}
}
