package scan

import (
	"bytes"
	"image"
	"image/jpeg"
	"io"

	"golang.org/x/image/ccitt"

	"quarry/internal/extract/pdf/syntax"
	"quarry/internal/extract/picture"
)

// decode returns the pixels of an image, nil for one without any.
func decode(f *syntax.File, s *syntax.Stream) (*tile, error) {
	if s == nil {
		return nil, errForeign
	}
	w, h := size(f, s.Dict)
	if w == 0 || h == 0 {
		return nil, nil
	}
	if err := picture.Fits(w, h); err != nil {
		return nil, err
	}
	t, err := pixels(f, s, w, h)
	if err != nil {
		return nil, err
	}
	if boolean(f, s.Dict["ImageMask"], s.Dict["IM"]) { // black where it is painted
		t.opacity = inverted(t.grey)
		t.grey = make([]byte, len(t.grey))
	}
	mask, ok := f.Get(s.Dict["SMask"]).(*syntax.Stream)
	stencil := !ok
	if stencil {
		mask, ok = f.Get(s.Dict["Mask"]).(*syntax.Stream)
	}
	if !ok || mask == s {
		return t, nil
	}
	mw, mh := size(f, mask.Dict)
	if err := picture.Fits(mw, mh); err != nil {
		return nil, err
	}
	m, err := pixels(f, mask, mw, mh)
	if err != nil {
		return nil, err
	}
	if stencil { // which paints where it is black
		m.grey = inverted(m.grey)
	}
	t.through(m)
	return t, nil
}

// through sets how opaque the tile is: as much as m is bright. A mask that is finer gives the tile its size.
func (t *tile) through(m *tile) {
	if m.width*m.height > t.width*t.height {
		finer := make([]byte, m.width*m.height)
		for y := range m.height {
			for x := range m.width {
				finer[y*m.width+x] = t.grey[y*t.height/m.height*t.width+x*t.width/m.width]
			}
		}
		t.width, t.height, t.grey, t.opacity = m.width, m.height, finer, m.grey
		return
	}
	t.opacity = make([]byte, len(t.grey))
	for y := range t.height {
		for x := range t.width {
			t.opacity[y*t.width+x] = m.grey[y*m.height/t.height*m.width+x*m.width/t.width]
		}
	}
}

func inverted(grey []byte) []byte {
	out := make([]byte, len(grey))
	for i, v := range grey {
		out[i] = ^v
	}
	return out
}

func boolean(f *syntax.File, all ...syntax.Object) bool {
	for _, o := range all {
		if v, ok := f.Get(o).(bool); ok && v {
			return true
		}
	}
	return false
}

// pixels returns the grey pixels of an image without its masks.
func pixels(f *syntax.File, s *syntax.Stream, w, h int) (*tile, error) {
	data, filter, parm, err := f.Unwrap(s)
	if err != nil {
		return nil, err
	}
	bits := f.Int(s.Dict["BitsPerComponent"], f.Int(s.Dict["BPC"], 1))
	if boolean(f, s.Dict["ImageMask"], s.Dict["IM"]) {
		bits = 1
	}
	colours := coloursOf(f, s.Dict)
	switch filter {
	case "DCTDecode", "DCT":
		return decodeJPEG(data, inverts(f, s.Dict))
	case "CCITTFaxDecode", "CCF":
		if data, err = fax(f, data, parm, w, h); err != nil {
			return nil, err
		}
		bits = 1
	case "":
	default:
		return nil, errForeign
	}
	if colours == nil {
		return nil, errForeign
	}
	return colours.pixels(data, w, h, bits, inverts(f, s.Dict))
}

// inverts reports whether the array Decode of an image turns black into white.
func inverts(f *syntax.File, d syntax.Dict) bool {
	between := f.Array(d["Decode"])
	if between == nil {
		between = f.Array(d["D"])
	}
	if len(between) < 2 {
		return false
	}
	low, _ := syntax.Number(f.Get(between[0]))
	high, _ := syntax.Number(f.Get(between[1]))
	return low > high
}

// decodeJPEG decodes an image that is JPEG. Its own size counts.
func decodeJPEG(data []byte, invert bool) (*tile, error) {
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, errForeign // there are kinds of JPEG that Go does not read
	}
	if err := picture.Fits(c.Width, c.Height); err != nil {
		return nil, err
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, errForeign
	}
	r := picture.Grey(img)
	if _, four := img.(*image.CMYK); four {
		invert = !invert // Go takes four colours to be stored inverted, as Decode then says
	}
	if invert {
		r.Grey = inverted(r.Grey)
	}
	return &tile{width: r.Width, height: r.Height, grey: r.Grey}, nil
}

// fax decodes CCITT (ISO 32000-1, 7.4.6) to rows of bits; what a damaged one lacks is white.
func fax(f *syntax.File, data []byte, parm syntax.Dict, w, h int) ([]byte, error) {
	k, columns := f.Int(parm["K"], 0), f.Int(parm["Columns"], 1728)
	if k > 0 || columns != w { // lines of both codes are read by no library in Go
		return nil, errForeign
	}
	kind := ccitt.Group3
	if k < 0 {
		kind = ccitt.Group4
	}
	black := boolean(f, parm["BlackIs1"])
	r := ccitt.NewReader(bytes.NewReader(data), ccitt.MSB, kind, w, h, &ccitt.Options{Align: boolean(f, parm["EncodedByteAlign"]), Invert: black})
	size := (w + 7) / 8 * h
	out, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err != nil && len(out) < size/2 {
		return nil, errForeign
	}
	white := byte(0xFF)
	if black {
		white = 0
	}
	for len(out) < size {
		out = append(out, white)
	}
	return out, nil
}
