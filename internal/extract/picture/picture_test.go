package picture_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/picture"
)

// drawing is white, 20 x 10, with a black block that is not in the middle.
func drawing() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 20, 10))
	for y := range 10 {
		for x := range 20 {
			img.SetGray(x, y, color.Gray{0xFF})
			if x >= 4 && x < 10 && y >= 2 && y < 5 {
				img.SetGray(x, y, color.Gray{})
			}
		}
	}
	return img
}

// The drawing in WebP, without loss and with, and as two kinds of CCITT in TIFF.
const (
	webpLossless = "524946462e000000574542505650384c210000002f134002000f30fff33ffff31f7830d3b60d84f0e75ac9d7340a11fd0fa276780000"
	webpLossy    = "52494646620000005745425056503820560000005003009d012a14000a003e31148842a22121180400200304b4800218005dbab1f74d4000feffbe470fffd68d37f522bff39ffea11e2483fadc7ff7775efedafbc7563dfec17fff87efffdb844be5dac34ee093b00000"
	group4       = "49492a001400000026a1a397dff8ffc004004000090000010300010000001400000001010300010000000a00000002010300010000000100000003010300010000000400000006010300010000000100000011010400010000000800000016010300010000000a00000017010400010000000b0000001c010300010000000100000000000000"
)

func raw(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// written returns what an encoder writes.
func written(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// samples are the drawing in every format.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	img := drawing()
	coloured := image.NewNRGBA(img.Rect)
	palette := image.NewPaletted(img.Rect, color.Palette{color.White, color.Black})
	for i, v := range img.Pix {
		if v == 0 {
			palette.Pix[i] = 1
			coloured.Pix[4*i+3] = 0xFF // black; the rest is as clear as glass
		}
	}
	return map[string][]byte{
		"grey.png":   written(t, func(b *bytes.Buffer) error { return png.Encode(b, img) }),
		"clear.png":  written(t, func(b *bytes.Buffer) error { return png.Encode(b, coloured) }),
		"a.jpg":      written(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, img, &jpeg.Options{Quality: 100}) }),
		"turned.jpg": turned(t, img),
		"a.gif":      written(t, func(b *bytes.Buffer) error { return gif.Encode(b, palette, nil) }),
		"a.bmp":      written(t, func(b *bytes.Buffer) error { return bmp.Encode(b, img) }),
		"a.tif":      written(t, func(b *bytes.Buffer) error { return tiff.Encode(b, img, &tiff.Options{Compression: tiff.Deflate}) }),
		"group4.tif": raw(t, group4),
		"jpeg.tif":   jpegTIFF(t, img),
		"a.webp":     raw(t, webpLossless),
		"lossy.webp": raw(t, webpLossy),
	}
}

func formatOf(name string) *picture.Format {
	switch name[strings.LastIndex(name, "."):] {
	case ".png":
		return picture.PNG
	case ".jpg":
		return picture.JPEG
	case ".gif":
		return picture.GIF
	case ".bmp":
		return picture.BMP
	case ".tif":
		return picture.TIFF
	}
	return picture.WebP
}

// turned is a JPEG whose picture lies on its side, as EXIF says.
func turned(t testing.TB, img *image.Gray) []byte {
	t.Helper()
	side := image.NewGray(image.Rect(0, 0, img.Rect.Dy(), img.Rect.Dx()))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			side.SetGray(y, img.Rect.Dx()-1-x, img.GrayAt(x, y))
		}
	}
	plain := written(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, side, &jpeg.Options{Quality: 100}) })
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	head := append([]byte("\xFF\xD8\xFF\xE1"), byte(0), byte(len(exif)+2))
	return append(append(head, exif...), plain[2:]...)
}

// entry is what a TIFF says of a page, a number of four bytes; of the tables of JPEG (347) the length stands above the place.
type entry struct{ tag, value int }

// tiffFile returns a TIFF: blocks of data, and pages that refer to them.
func tiffFile(blocks []string, pages ...[]entry) []byte {
	b := []byte("II*\x00\x00\x00\x00\x00")
	for _, block := range blocks {
		b = append(b, block...)
	}
	last := 4
	for _, entries := range pages {
		binary.LittleEndian.PutUint32(b[last:], uint32(len(b)))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
		for _, e := range entries {
			b = binary.LittleEndian.AppendUint16(b, uint16(e.tag))
			kind, count := 4, 1
			if e.tag == 347 {
				kind, count = 7, e.value>>16
				e.value &= 1<<16 - 1
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(kind))
			b = binary.LittleEndian.AppendUint32(b, uint32(count))
			b = binary.LittleEndian.AppendUint32(b, uint32(e.value))
		}
		last = len(b)
		b = binary.LittleEndian.AppendUint32(b, 0)
	}
	return b
}

// jpegTIFF is a TIFF whose one strip is JPEG without its tables, which stand apart.
func jpegTIFF(t testing.TB, img *image.Gray) []byte {
	t.Helper()
	whole := string(written(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, img, &jpeg.Options{Quality: 100}) }))
	frame := strings.Index(whole, "\xFF\xC0")
	length := int(whole[frame+2])<<8 + int(whole[frame+3]) + 2
	scan := strings.Index(whole, "\xFF\xDA")
	tables := whole[:frame] + whole[frame+length:scan] + "\xFF\xD9"
	strip := "\xFF\xD8" + whole[frame:frame+length] + whole[scan:]
	return tiffFile([]string{tables, strip}, []entry{
		{256, 20}, {257, 10}, {258, 8}, {259, 7}, {262, 1}, {273, 8 + len(tables)}, {277, 1}, {278, 10}, {279, len(strip)}, {347, len(tables)<<16 | 8},
	})
}

// TestRaster proves that the picture in each format comes out upright, in grey, on white.
func TestRaster(t *testing.T) {
	t.Parallel()
	want := drawing()
	for name, data := range samples(t) {
		f := formatOf(name)
		doc, err := f.Read(data, outline.Options{})
		if err != nil || len(doc.Scans) != 1 || doc.Scans[0].Page != 1 || len(doc.Sections) > 0 {
			t.Errorf("%s: %+v %v, want one page to be recognised", name, doc, err)
			continue
		}
		r, err := f.Raster(data, 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Width != 20 || r.Height != 10 {
			t.Errorf("%s: %d x %d pixels, want 20 x 10", name, r.Width, r.Height)
			continue
		}
		for i, v := range want.Pix {
			if d := int(v) - int(r.Grey[i]); d > 90 || d < -90 { // formats with loss blur edges
				t.Errorf("%s: pixel %d, %d is %d, want %d", name, i%20, i/20, r.Grey[i], v)
				break
			}
		}
	}
}

// TestPages proves that each page of a TIFF is one, that small copies are none, and that recognised pages are text with their number.
func TestPages(t *testing.T) {
	t.Parallel()
	page := func(at, kind int) []entry {
		return []entry{{254, kind}, {256, 4}, {257, 1}, {258, 8}, {259, 1}, {262, 1}, {273, at}, {277, 1}, {278, 1}, {279, 4}, {282, 0}}
	}
	data := tiffFile([]string{"\x00\x01\x02\x03", "small", "\x10\x11\x12\x13"}, page(8, 0), page(12, 1), page(17, 0))
	for i, want := range []string{"\x00\x01\x02\x03", "\x10\x11\x12\x13"} {
		r, err := picture.TIFF.Raster(data, i+1)
		if err != nil || string(r.Grey) != want {
			t.Errorf("page %d: %+v %v, want %q", i+1, r, err, want)
		}
	}
	if _, err := picture.TIFF.Raster(data, 3); !errors.Is(err, outline.ErrUnparsable) {
		t.Errorf("a third page: %v", err)
	}
	doc, err := picture.TIFF.Read(data, outline.Options{Recognised: []outline.Recognised{{Scan: outline.Scan{Page: 2}, Text: "One\nline.\n\nMore.\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	got := doc.Sections[0]
	if len(doc.Sections) != 1 || got.Text != "One\nline.\n\nMore." || !slices.Equal(got.Pages, []outline.Mark{{Page: 2, OCR: true}}) || !slices.Equal(doc.Scans, []outline.Scan{{Page: 1}}) || doc.Metadata["Page-Count"] != 2 {
		t.Errorf("the tree is %+v", doc)
	}
}

// pngOf returns a PNG that declares a size and has hardly any data.
func pngOf(width, height int) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), uint32(width)), uint32(height))
	head = append(head, 8, 2, 0, 0, 0)
	b := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1A\n"), 13)
	b = append(b, head...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
}

// TestRefused proves that what can't be a picture of a page is refused with the reason, before anything is decoded.
func TestRefused(t *testing.T) {
	t.Parallel()
	circle := tiffFile(nil, []entry{{256, 1}, {257, 1}})
	binary.LittleEndian.PutUint32(circle[len(circle)-4:], 8)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"huge.png":     {pngOf(60_000, 60_000), "60000 x 60000 pixels, where 64 million and 32767 a side are the most"},
		"long.png":     {pngOf(40_000, 1), "40000 x 1 pixels"},
		"empty.png":    {pngOf(0, 1), ""},
		"other.png":    {raw(t, webpLossless), "does not begin as PNG"},
		"huge.tif":     {tiffFile(nil, []entry{{256, 60_000}, {257, 60_000}}), "60000 x 60000"},
		"circle.tif":   {circle, "no end"},
		"outside.tif":  {[]byte("II*\x00\xFF\xFF\xFF\x00"), "is said to be at byte"},
		"head.tif":     {[]byte("II*\x00"), "ends in its header"},
		"sizeless.tif": {tiffFile(nil, []entry{{259, 1}}), "0 x 0 pixels"},
		"tiles.tif":    {tiffFile(nil, []entry{{256, 16}, {257, 16}, {259, 7}, {322, 16}}), "tiles"},
	} {
		f := formatOf(name)
		_, err := f.Read(c.data, outline.Options{})
		if name == "tiles.tif" {
			_, err = f.Raster(c.data, 1)
		}
		if !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestCut proves that a file that ends early is refused or gives what it has, and never more than it says.
func TestCut(t *testing.T) {
	t.Parallel()
	for name, data := range samples(t) {
		for end := range len(data) {
			check(t, name, data[:end])
		}
	}
}

// check reads a file that may be damaged.
func check(t *testing.T, name string, data []byte) {
	t.Helper()
	f := formatOf(name)
	doc, err := f.Read(data, outline.Options{})
	if err == nil {
		var r *outline.Raster
		if r, err = f.Raster(data, doc.Scans[0].Page); err == nil && (r.Width < 1 || r.Height < 1 || len(r.Grey) != r.Width*r.Height) {
			t.Errorf("%s: %d bytes of a picture of %d x %d", name, len(r.Grey), r.Width, r.Height)
		}
	}
	if err != nil && !errors.Is(err, outline.ErrUnparsable) {
		t.Errorf("%s: %v is no error of a file", name, err)
	}
}

// TestOrientations proves that each orientation is undone: the first pixel of the stored picture comes where EXIF says.
func TestOrientations(t *testing.T) {
	t.Parallel()
	for o, want := range []string{1: "\x01\x02\x03\x04\x05\x06", "\x03\x02\x01\x06\x05\x04", "\x06\x05\x04\x03\x02\x01", "\x04\x05\x06\x01\x02\x03", "\x01\x04\x02\x05\x03\x06", "\x04\x01\x05\x02\x06\x03", "\x06\x03\x05\x02\x04\x01", "\x03\x06\x02\x05\x01\x04", "\x01\x02\x03\x04\x05\x06"} {
		if o == 0 {
			continue
		}
		data := tiffFile([]string{"\x01\x02\x03\x04\x05\x06"}, []entry{{256, 3}, {257, 2}, {258, 8}, {259, 1}, {262, 1}, {273, 8}, {274, o}, {277, 1}, {278, 2}, {279, 6}})
		r, err := picture.TIFF.Raster(data, 1)
		if err != nil || string(r.Grey) != want {
			t.Errorf("orientation %d: %+v %v, want %q", o, r, err, want)
		}
		if err == nil && (r.Width == 2) != (o >= 5 && o <= 8) {
			t.Errorf("orientation %d: %d x %d", o, r.Width, r.Height)
		}
	}
}

// TestResolution proves that the resolution is found where the formats have it.
func TestResolution(t *testing.T) {
	t.Parallel()
	plain := samples(t)
	phys := "\x00\x00\x00\x09pHYs\x00\x00\x2E\x23\x00\x00\x2E\x23\x01\x00\x00\x00\x00" // 11,811 pixels a metre
	png := plain["grey.png"]
	jfif := "\xFF\xD8\xFF\xE0\x00\x10JFIF\x00\x01\x01\x01\x00\xC8\x00\xC8\x00\x00"
	res := tiffFile([]string{"\x01", "\x2C\x01\x00\x00\x01\x00\x00\x00"}, []entry{{256, 1}, {257, 1}, {258, 8}, {259, 1}, {262, 1}, {273, 8}, {277, 1}, {278, 1}, {279, 1}, {282, 9}})
	at := bytes.Index(res, []byte{0x1A, 0x01, 4, 0})
	res[at+2] = 5 // a fraction
	for _, c := range []struct {
		name string
		data []byte
		want int
	}{
		{"a.png", append(append(append([]byte{}, png[:33]...), phys...), png[33:]...), 300},
		{"b.png", png, 0},
		{"a.jpg", append([]byte(jfif), plain["a.jpg"][2:]...), 200},
		{"a.tif", res, 300},
	} {
		data := c.data
		if c.name == "a.png" { // Go checks sums of chunks that it reads, too
			binary.BigEndian.PutUint32(data[33+17:], crc32.ChecksumIEEE(data[37:50]))
		}
		r, err := formatOf(c.name).Raster(data, 1)
		if err != nil || r.DPI != c.want {
			t.Errorf("%s: %+v %v, want %d dpi", c.name, r, err, c.want)
		}
	}
}

// FuzzRaster proves that no file makes a reader panic or give a picture that is not whole.
func FuzzRaster(f *testing.F) {
	for name, data := range samples(f) {
		f.Add(name, data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if !strings.Contains(name, ".") || len(data) > 1<<16 {
			return
		}
		if doc, err := formatOf(name).Read(data, outline.Options{}); err != nil || len(doc.Scans) == 0 {
			return
		}
		check(t, name, data)
	})
}
