package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"slices"
	"strings"
	"testing"

	"quarry/internal/extract/outline"
)

// side is that of the pictures in these tests, whose left half is black.
const side = 120

// halves are the pixels of such a picture in 8 bits of grey.
func halves() []byte {
	out := bytes.Repeat([]byte{0xFF}, side*side)
	for i := range out {
		if i%side < side/2 {
			out[i] = 0
		}
	}
	return out
}

// scanPage adds a page that draws images: dictionaries and their data, by the names that content uses, A and on.
func (w *writer) scanPage(content, more string, images ...[2]string) int {
	names := ""
	for i, im := range images {
		dict := fmt.Sprintf("%s/Type/XObject/Subtype/Image/Width %d/Height %[2]d", im[0], side) // the first of two entries counts
		names += fmt.Sprintf("/%c %d 0 R", 'A'+i, w.stream(dict, im[1]))
	}
	c := w.stream("", content)
	return w.add(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</XObject<<%s>>/Font<</F 3 0 R>>>>%s>>", c, names, more))
}

// grey is an image in grey.
func grey(pixels []byte) [2]string {
	return [2]string{"/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode", string(pixels)}
}

// quarters says which corners of a picture are black: those at the top from the left, then those at the bottom.
func quarters(r *outline.Raster) string {
	var out strings.Builder
	for _, y := range []int{r.Height / 8, r.Height * 7 / 8} {
		for _, x := range []int{r.Width / 8, r.Width * 7 / 8} {
			out.WriteByte("#."[r.Grey[y*r.Width+x]>>7])
		}
	}
	return out.String()
}

// bits packs pixels, one bit each.
func bits(pixels []byte) string {
	out := make([]byte, 0, len(pixels)/8)
	for eight := range slices.Chunk(pixels, 8) {
		v := byte(0)
		for _, p := range eight {
			v = v<<1 | p>>7
		}
		out = append(out, v)
	}
	return string(out)
}

// TestRaster proves how the picture of a page comes about: of images in every encoding that is decoded here, however they are placed.
func TestRaster(t *testing.T) {
	t.Parallel()
	half := halves()
	upper := slices.Clone(half) // the left half of the upper half
	for i := range upper[side*side/2:] {
		upper[side*side/2+i] = 0xFF
	}
	img := &image.Gray{Pix: half, Stride: side, Rect: image.Rect(0, 0, side, side)}
	var coded bytes.Buffer
	if err := jpeg.Encode(&coded, img, nil); err != nil {
		t.Fatal(err)
	}
	rgb := make([]byte, 0, 3*len(half))
	inks := make([]byte, 0, 4*len(half))
	for _, v := range half {
		rgb = append(rgb, v, v, v)
		inks = append(inks, 0, 0, 0, ^v)
	}
	const full = "q 300 0 0 300 0 0 cm /A Do Q"
	one := func(dict, data string) [][2]string { return [][2]string{{dict, data}} }
	for name, c := range map[string]struct {
		content, more string
		images        [][2]string
		want          string
	}{
		"raw":               {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 8", string(half)), "#.#."},
		"deflated":          {full, "", [][2]string{grey(half)}, "#.#."},
		"one bit":           {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 1", bits(half)), "#.#."},
		"inverted":          {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 1/Decode[1 0]", bits(half)), ".#.#"},
		"four bits":         {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 4", strings.Repeat(strings.Repeat("\x00", side/4)+strings.Repeat("\xFF", side/4), side)), "#.#."},
		"colours":           {full, "", one("/ColorSpace/DeviceRGB/BitsPerComponent 8", string(rgb)), "#.#."},
		"inks":              {full, "", one("/ColorSpace/DeviceCMYK/BitsPerComponent 8", string(inks)), "#.#."},
		"a palette":         {full, "", one("/ColorSpace[/Indexed/DeviceRGB 1<FFFFFF000000>]/BitsPerComponent 1", bits(half)), ".#.#"},
		"a profile":         {full, "", one("/ColorSpace[/ICCBased 3 0 R]/BitsPerComponent 8", string(half)), "drawn"},
		"JPEG":              {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/DCTDecode", coded.String()), "#.#."},
		"JPEG in text":      {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 8/Filter[/ASCIIHexDecode/DCTDecode]", fmt.Sprintf("%x>", coded.String())), "#.#."},
		"JPEG 2000":         {full, "", one("/Filter/JPXDecode", "\x00\x00\x00\x0CjP  "), "drawn"},
		"JBIG2":             {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/JBIG2Decode", "\x00"), "drawn"},
		"a stencil":         {full, "", one("/ImageMask true/BitsPerComponent 1", bits(half)), "#.#."},
		"upside down":       {"q -300 0 0 -300 300 300 cm /A Do Q", "", [][2]string{grey(half)}, ".#.#"},
		"mirrored":          {"q -300 0 0 300 300 0 cm /A Do Q", "", [][2]string{grey(half)}, ".#.#"},
		"on its side":       {"q 0 300 -300 0 300 0 cm /A Do Q", "", [][2]string{grey(half)}, "..##"},
		"turned back":       {"q 0 300 -300 0 300 0 cm /A Do Q", "/Rotate 90", [][2]string{grey(half)}, "#.#."},
		"on a turned page":  {full, "/Rotate 180", [][2]string{grey(half)}, ".#.#"},
		"two strips":        {"q 300 0 0 300 0 300 cm /A Do Q q 300 0 0 300 0 0 cm /B Do Q", "", [][2]string{grey(half), grey(bytes.Repeat([]byte{0xFF}, side*side))}, "#..."},
		"the later one":     {"q 300 0 0 300 0 0 cm /A Do /B Do Q", "", [][2]string{grey(bytes.Repeat([]byte{0}, side*side)), grey(half)}, "#.#."},
		"through a mask":    {"q 300 0 0 300 0 0 cm /A Do Q", "", one("/ColorSpace/DeviceGray/BitsPerComponent 8/SMask 5 0 R", strings.Repeat("\x00", side*side)), ".#.#"},
		"in the content":    {"q 300 0 0 300 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q", "", nil, "drawn"},
		"damaged":           {full, "", one("/ColorSpace/DeviceGray/BitsPerComponent 8", "\x00"), "...."},
		"damaged JPEG":      {full, "", one("/ColorSpace/DeviceGray/Filter/DCTDecode", coded.String()[:200]), "drawn"},
		"on a line":         {"q 300 0 0 0 0 0 cm /A Do Q", "", [][2]string{grey(half)}, "."},
		"beyond all bounds": {"q 1e30 0 0 1e30 0 0 cm /A Do Q", "", [][2]string{grey(half)}, "."},
	} {
		w := newWriter()
		w.stream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %[1]d/ColorSpace/DeviceGray/BitsPerComponent 8", side), string(half)) // object 5
		data := w.bytes(w.scanPage(c.content, c.more, c.images...))
		r, err := Raster(data, 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := "drawn"
		switch {
		case r.PDF != nil:
			if r.Page != 1 || !bytes.Equal(r.PDF, data) || r.Grey != nil {
				t.Errorf("%s: page %d of %d bytes", name, r.Page, len(r.PDF))
			}
		case r.Width == 1:
			got = "."
		default:
			got = quarters(r)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestRasterAsStored proves that the picture of a scan has the very pixels that are stored, and the resolution of the page.
func TestRasterAsStored(t *testing.T) {
	t.Parallel()
	noise := make([]byte, side*side)
	for i := range noise {
		noise[i] = byte(i * 31 >> 2)
	}
	w := newWriter()
	r, err := Raster(w.bytes(w.scanPage("q 28.8 0 0 28.8 7.3 11.9 cm /A Do Q", "", grey(noise))), 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Width != side || r.Height != side || r.DPI != 300 || !bytes.Equal(r.Grey, noise) {
		t.Errorf("%d x %d at %d dpi, the same pixels: %v", r.Width, r.Height, r.DPI, bytes.Equal(r.Grey, noise))
	}
}

// TestRasterRefused proves that images which are too large are not decoded.
func TestRasterRefused(t *testing.T) {
	t.Parallel()
	w := newWriter()
	p := w.scanPage("q 300 0 0 300 0 0 cm /A Do Q", "", [2]string{"/Width 60000/Height 60000/ColorSpace/DeviceGray/BitsPerComponent 1", "x"})
	if _, err := Raster(w.bytes(p), 1); !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(err.Error(), "60000 x 60000") {
		t.Errorf("60,000 x 60,000: %v", err)
	}
	if _, err := Raster(w.bytes(p), 2); !errors.Is(err, outline.ErrUnparsable) {
		t.Errorf("a second page of one: %v", err)
	}
}

// TestScans proves which pages are scans, and that what was recognised on them stands between the others, with its page.
func TestScans(t *testing.T) {
	t.Parallel()
	w := newWriter()
	const full = "q 300 0 0 300 0 0 cm /A Do Q"
	data := w.bytes(
		w.scanPage(lay("F", 10, 50, 700, 12, "The first page ends here."), ""),
		w.scanPage(full, "", grey(halves())),
		w.scanPage(full+lay("F", 10, 50, 700, 12, "The third has a picture and letters."), "", grey(halves())),
		w.scanPage("", ""),
		w.scanPage(full, "", [2]string{"/Width 9/Height 9/ColorSpace/DeviceGray/BitsPerComponent 8", "an ornament"}),
		w.scanPage(full, "", grey(halves())),
	)
	doc, err := Read(data, outline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []outline.Scan{{Page: 2}, {Page: 6}}; !slices.Equal(doc.Scans, want) {
		t.Errorf("scans %v, want %v", doc.Scans, want)
	}
	w = newWriter()
	drawn := w.bytes(w.scanPage("", ""), w.scanPage("0 0 m 100 100 l S", "")) // letters may be drawn as lines
	if doc, err := Read(drawn, outline.Options{}); err != nil || len(doc.Scans) != 2 || len(doc.Sections) > 0 {
		t.Errorf("pages without letters and images: %+v %v", doc, err)
	}
	if r, err := Raster(drawn, 2); err != nil || r.PDF == nil || r.Page != 2 {
		t.Errorf("the picture of such a page: %+v %v", r, err)
	}
	doc, err = Read(data, outline.Options{Recognised: []outline.Recognised{{Scan: outline.Scan{Page: 2}, Text: "Read on the sec-\nond page.\n\n. -\n\nMore."}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "0 \"\" page 0 [{0 1 false} {27 2 true} {60 3 false}]: \"The first page ends here.\\n\\nRead on the second page.\\n\\nMore.\\n\\nThe third has a picture and letters.\"\n"
	if got := dump(doc.Sections, ""); got != want {
		t.Errorf("the tree is\n%s, want\n%s", got, want)
	}
	if want := []outline.Scan{{Page: 6}}; !slices.Equal(doc.Scans, want) {
		t.Errorf("scans that are left %v, want %v", doc.Scans, want)
	}
}

// FuzzRaster proves that no image and no content makes a page's picture one that is not whole, or panic.
func FuzzRaster(f *testing.F) {
	f.Add("q 300 0 0 300 0 0 cm /A Do Q", "/ColorSpace/DeviceGray/BitsPerComponent 8", []byte("x"))
	f.Add("q 1 2 3 4 5 6 cm /A Do Q", "/ColorSpace[/Indexed/DeviceRGB 1<FFFFFF000000>]/BitsPerComponent 1/Decode[1 0]", halves())
	f.Add("/A Do", "/ImageMask true", halves()[:99])
	f.Add("q 90 0 0 90 0 0 cm /A Do Q", "/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 120>>", []byte("\x26\xa1\xa3\xff\xff\x00\x10\x01"))
	f.Add("q 90 0 0 90 0 0 cm /A Do Q", "/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</K 0/Columns 120/BlackIs1 true>>", []byte("\x00\x13\x50\xd0\x00\x26\xa1\xa0"))
	f.Fuzz(func(t *testing.T, content, dict string, data []byte) {
		w := newWriter()
		r, err := Raster(w.bytes(w.scanPage(content, "", [2]string{dict, string(data)})), 1)
		switch {
		case err != nil && !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected):
			t.Errorf("%v is no error of a file", err)
		case err == nil && r.PDF == nil && (r.Width < 1 || r.Height < 1 || len(r.Grey) != r.Width*r.Height):
			t.Errorf("%d bytes of a picture of %d x %d", len(r.Grey), r.Width, r.Height)
		}
	})
}

// TestReadEmbedded proves that the JPEG pictures of pages with text come with the section that their page ends with, each once, where
// they are wanted, and that scans and other pictures do not.
func TestReadEmbedded(t *testing.T) {
	t.Parallel()
	var coded bytes.Buffer
	if err := jpeg.Encode(&coded, &image.Gray{Pix: halves(), Stride: side, Rect: image.Rect(0, 0, side, side)}, nil); err != nil {
		t.Fatal(err)
	}
	photo := [2]string{"/ColorSpace/DeviceGray/BitsPerComponent 8/Filter[/ASCIIHexDecode/DCTDecode]", fmt.Sprintf("%x>", coded.String())}
	const draw = "q 300 0 0 300 0 0 cm /A Do /A Do /B Do Q "
	w := newWriter()
	data := w.bytes(
		w.scanPage(draw+lay("F", 18, 50, 700, 12, "Valves")+lay("F", 10, 50, 600, 12, "The text of the first page, which is set in the usual size."), "", photo, grey(halves())),
		w.scanPage(lay("F", 18, 50, 700, 12, "Pumps")+lay("F", 10, 50, 600, 12, "The text of the second page, which is set in the usual size."), ""),
		w.scanPage(draw, "", photo, photo))
	for _, wanted := range []bool{true, false} {
		doc, err := Read(data, outline.Options{Pictures: wanted})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range doc.Sections {
			for _, p := range s.Pictures {
				if got = append(got, fmt.Sprint(s.Title, " ", p.Page, " ", p.MIME)); !bytes.Equal(p.Data, coded.Bytes()) {
					t.Error("other bytes")
				}
			}
		}
		want := []string{"Valves 1 image/jpeg"}
		if !wanted {
			want = nil
		}
		if !slices.Equal(got, want) || len(doc.Scans) != 1 {
			t.Errorf("%v %v, want %v", got, doc.Scans, want)
		}
	}
}
