package bitmap

import (
	"errors"
	"fmt"
)

// gif goes through the blocks, to the trailer. Frames may be larger than the screen that the head states.
func gif(data []byte) (w, h int, err error) {
	const head = 13
	if len(data) < head {
		return 0, 0, errCut
	}
	larger(&w, &h, le16(data[6:]), le16(data[8:]))
	frames := 0
	for at := head + colours(data[10]); ; {
		if at >= len(data) {
			return 0, 0, errCut
		}
		switch kind := data[at]; kind {
		case 0x3B: // the trailer
			if frames == 0 {
				return 0, 0, errors.New("it has no pixels")
			}
			return w, h, nil
		case 0x21: // an extension: its label, then its blocks
			at += 2
		case 0x2C: // a frame: place, size, flags, colours, the size of codes, then its blocks
			const descriptor = 10
			if len(data)-at < descriptor {
				return 0, 0, errCut
			}
			frames++
			larger(&w, &h, le16(data[at+5:]), le16(data[at+7:]))
			at += descriptor + colours(data[at+9]) + 1
		default:
			return 0, 0, fmt.Errorf("something else stands where a block should begin, at byte %d", at)
		}
		if at, err = gifBlocks(data, at); err != nil {
			return 0, 0, err
		}
	}
}

// colours returns how many bytes the table of colours has that flags announce.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlocks returns what follows blocks, the last of which is empty.
func gifBlocks(data []byte, at int) (int, error) {
	for {
		if at >= len(data) {
			return 0, errCut
		}
		n := int(data[at])
		if at += 1 + n; n == 0 {
			return at, nil
		}
	}
}
