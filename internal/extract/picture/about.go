package picture

import (
	"bytes"
	"encoding/binary"
)

// Resolutions below and above are what programs write that know none.
const (
	minDPI = 70
	maxDPI = 2400
)

// plausible returns a resolution that can be one, else 0.
func plausible(dpi float64) int {
	if dpi < minDPI || dpi > maxDPI {
		return 0
	}
	return int(dpi + 0.5)
}

const centimetres = 2.54 // of an inch

// aboutPNG looks for the chunk pHYs (PNG specification, 11.3.4.3), which stands before the data.
func aboutPNG(data []byte) (orientation, dpi int) {
	for at := 8; at+12 <= len(data); {
		n, kind := int(binary.BigEndian.Uint32(data[at:])), string(data[at+4:at+8])
		body := data[at+8:]
		if kind == "IDAT" || n < 0 || n > len(body) {
			break
		}
		if kind == "pHYs" && n == 9 && body[8] == 1 { // by the metre
			return 1, plausible(float64(binary.BigEndian.Uint32(body)) * centimetres / 100)
		}
		at += 12 + n
	}
	return 1, 0
}

// aboutJPEG looks for the segments of JFIF, which has the resolution, and of EXIF, which has the orientation.
func aboutJPEG(data []byte) (orientation, dpi int) {
	orientation = 1
	for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
		kind, n := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		if kind == 0xDA || n < 2 || at+2+n > len(data) { // the picture begins
			break
		}
		body := data[at+4 : at+2+n]
		switch {
		case kind == 0xE0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 12:
			density := float64(binary.BigEndian.Uint16(body[8:]))
			switch body[7] {
			case 1:
				dpi = plausible(density)
			case 2:
				dpi = plausible(density * centimetres)
			}
		case kind == 0xE1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			if t, err := openTIFF(body[6:]); err == nil {
				if d, _, err := t.directory(t.first); err == nil {
					orientation = d.first(tagOrientation, 1)
				}
			}
		}
		at += 2 + n
	}
	return orientation, dpi
}
