package bitmap_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	stdgif "image/gif"
	stdjpeg "image/jpeg"
	stdpng "image/png"
	"strings"
	"testing"

	"quarry/internal/extract/bitmap"
)

// noise is an image with many colours.
func noise(w, h int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range out.Pix {
		out.Pix[i] = byte(i * i >> 3)
	}
	return out
}

// written returns what an encoder writes.
func written(t testing.TB, write func(b *bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, w, h int) []byte {
	return written(t, func(b *bytes.Buffer) error { return stdpng.Encode(b, noise(w, h)) })
}

func jpegOf(t testing.TB, w, h int) []byte {
	return written(t, func(b *bytes.Buffer) error { return stdjpeg.Encode(b, noise(w, h), nil) })
}

func gifOf(t testing.TB, w, h int) []byte {
	frame := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	return written(t, func(b *bytes.Buffer) error {
		return stdgif.EncodeAll(b, &stdgif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}})
	})
}

// riff returns chunks in a container of WebP.
func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func chunk(name string, body ...byte) []byte {
	out := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body))), body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

var (
	lossy    = chunk("VP8 ", 0x10, 0, 0, 0x9d, 0x01, 0x2a, 40, 0, 30, 0, 1)
	lossless = chunk("VP8L", 0x2f, 39, 0x40, 0x07, 0)
	canvas   = chunk("VP8X", 0, 0, 0, 0, 39, 0, 0, 29, 0, 0)
	frame    = chunk("ANMF", append([]byte{0, 0, 0, 0, 0, 0, 39, 0, 0, 29, 0, 0, 1, 0, 0, 0}, lossless...)...)
)

func TestInspect(t *testing.T) {
	// Proves that images of each kind are recognised by their bytes, with their size.
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		want bitmap.Info
	}{
		"png":           {pngOf(t, 40, 30), bitmap.Info{MIME: "image/png", Width: 40, Height: 30}},
		"jpeg":          {jpegOf(t, 40, 30), bitmap.Info{MIME: "image/jpeg", Width: 40, Height: 30}},
		"jpeg and more": {append(jpegOf(t, 40, 30), "more"...), bitmap.Info{MIME: "image/jpeg", Width: 40, Height: 30}},
		"gif":           {gifOf(t, 40, 30), bitmap.Info{MIME: "image/gif", Width: 40, Height: 30}},
		"webp lossy":    {riff(lossy), bitmap.Info{MIME: "image/webp", Width: 40, Height: 30}},
		"webp lossless": {riff(lossless), bitmap.Info{MIME: "image/webp", Width: 40, Height: 30}},
		"webp extended": {riff(canvas, chunk("ICCP", 1, 2, 3), lossy), bitmap.Info{MIME: "image/webp", Width: 40, Height: 30}},
		"webp animated": {riff(canvas, frame), bitmap.Info{MIME: "image/webp", Width: 40, Height: 30}},
	} {
		if got, err := bitmap.Inspect(c.data); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// sized returns a PNG that claims a size it doesn't have.
func sized(t testing.TB, w, h uint32) []byte {
	out := pngOf(t, 1, 1)
	binary.BigEndian.PutUint32(out[16:], w)
	binary.BigEndian.PutUint32(out[20:], h)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

func TestInspectRefuses(t *testing.T) {
	// Proves what is refused, each with its reason: other files, images that are too large in bytes or by what they claim, and damaged ones.
	t.Parallel()
	large := gifOf(t, 4, 4)
	binary.LittleEndian.PutUint16(large[6:], 65535)
	binary.LittleEndian.PutUint16(large[8:], 65535)
	flipped := pngOf(t, 40, 30)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":         {nil, "no PNG, JPEG, GIF or WebP"},
		"a text":          {[]byte("chart.png"), "no PNG, JPEG, GIF or WebP"},
		"an SVG":          {[]byte("<svg/>"), "no PNG, JPEG, GIF or WebP"},
		"bytes":           {append(pngOf(t, 4, 4), make([]byte, bitmap.MaxBytes)...), "more than the 2 MiB"},
		"a bomb":          {sized(t, 1<<31-1, 1<<31-1), "more than the 50 million"},
		"a wide bomb":     {sized(t, 50_000_001, 1), "50000001 × 1 pixels"},
		"a bomb in GIF":   {large, "65535 × 65535 pixels"},
		"a bomb in WebP":  {riff(chunk("VP8X", 0, 0, 0, 0, 255, 255, 255, 255, 255, 255), lossy), "16777216 × 16777216"},
		"no pixel wide":   {sized(t, 0, 5), "0 × 5 pixels"},
		"a flipped bit":   {flipped, "checksum"},
		"a head of PNG":   {[]byte("\x89PNG\r\n\x1a\n"), "ends before"},
		"a head of JPEG":  {[]byte("\xFF\xD8\xFF"), "ends before"},
		"a head of GIF":   {[]byte("GIF89a"), "ends before"},
		"a head of WebP":  {riff(), "no pixels"},
		"WebP of canvas":  {riff(canvas), "no pixels"},
		"JPEG of nothing": {[]byte("\xFF\xD8\xFF\xD9"), "no pixels"},
		"GIF of nothing":  {append([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00"), 0x3B), "no pixels"},
		"WebP unknown":    {riff(chunk("VP8L", 1, 2, 3, 4, 5)), "no size"},
	} {
		if _, err := bitmap.Inspect(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if got, err := bitmap.Inspect(sized(t, 50_000_000, 1)); err != nil || got.Width != 50_000_000 {
		t.Errorf("50 million pixels: %+v, %v", got, err)
	}
}

func TestInspectCut(t *testing.T) {
	// Proves that a file that was cut off anywhere is no image.
	t.Parallel()
	for name, whole := range map[string][]byte{
		"png": pngOf(t, 9, 9), "jpeg": jpegOf(t, 9, 9), "gif": gifOf(t, 9, 9), "lossy": riff(lossy), "extended": riff(canvas, lossy), "animated": riff(canvas, frame),
	} {
		for n := range whole {
			if got, err := bitmap.Inspect(whole[:n]); err == nil {
				t.Errorf("%s cut to %d of %d bytes is %+v", name, n, len(whole), got)
				break
			}
		}
	}
}

func FuzzInspect(f *testing.F) {
	// Proves that no bytes break the inspection, and that what it takes is within bounds.
	for _, seed := range [][]byte{pngOf(f, 3, 3), jpegOf(f, 3, 3), gifOf(f, 3, 3), riff(lossy), riff(lossless), riff(canvas, frame)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := bitmap.Inspect(data)
		if err == nil && (got.Width < 1 || got.Height < 1 || got.Width > bitmap.MaxPixels/got.Height || got.MIME == "") {
			t.Errorf("%+v", got)
		}
	})
}
