package samplefile

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/draw"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Page returns a picture of lines of text, as a scanner makes it of a sheet: ten points at 300 dots per inch.
func Page(lines ...string) *image.Gray {
	const size, leading, margin = 42, 64, 120
	out := image.NewGray(image.Rect(0, 0, 1600, 2*margin+leading*len(lines)))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the font is part of the program
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(err)
	}
	d := font.Drawer{Dst: out, Src: image.Black, Face: face}
	for i, l := range lines {
		d.Dot = fixed.P(margin, margin+size+leading*i)
		d.DrawString(l)
	}
	return out
}

// Scanned returns a PDF whose pages are pictures at 300 dots per inch, and as texts those that are strings.
func Scanned(pages ...any) []byte { return ScannedAt(300, pages...) }

// ScannedAt is Scanned for pictures of another resolution.
func ScannedAt(dpi float64, pages ...any) []byte {
	var objects []string
	add := func(format string, args ...any) int {
		objects = append(objects, fmt.Sprintf(format, args...))
		return len(objects)
	}
	add("<</Type/Catalog/Pages 2 0 R>>")
	add("")
	add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	kids := ""
	for _, p := range pages {
		content, resources := "", "/Font<</F 3 0 R>>"
		switch v := p.(type) {
		case string:
			content = fmt.Sprintf("BT /F 10 Tf 40 700 Td (%s) Tj ET", v)
		case *image.Gray:
			var b bytes.Buffer
			z := zlib.NewWriter(&b)
			_, _ = z.Write(v.Pix) // into memory
			_ = z.Close()
			s := v.Rect.Size()
			n := add("<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", s.X, s.Y, b.Len(), b.String())
			content, resources = fmt.Sprintf("q %g 0 0 %g 40 100 cm /I Do Q", float64(s.X)*72/dpi, float64(s.Y)*72/dpi), fmt.Sprintf("/XObject<</I %d 0 R>>", n)
		}
		n := add("<</Length %d>>\nstream\n%s\nendstream", len(content), content)
		kids += fmt.Sprintf("%d 0 R ", add("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<<%s>>>>", n, resources))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids)
	return pdf(objects)
}
