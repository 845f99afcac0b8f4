package extracttest

import (
	"image"
	"image/png"
	"strings"

	"quarry/internal/extract/samplefile"
)

// DrawingRecord returns a record of drawings and presentations (MS-ODRAW, 2.2.1); the upper three digits of head are its instance.
func DrawingRecord(head, kind uint16, values ...any) string {
	body := samplefile.LE(values...)
	return samplefile.LE(head, kind, uint32(len(body)), body)
}

// PictureShape returns a shape that shows a picture of the list of pictures, with what is said of it and further records.
func PictureShape(id, picture uint32, description string, more ...string) string {
	const frame = 75
	said := samplefile.Wide(description + "\x00")
	return DrawingRecord(0xF, 0xF004, DrawingRecord(frame<<4|2, 0xF00A, id, uint32(0xA00)),
		DrawingRecord(2<<4|3, 0xF00B, uint16(0x4104), picture, uint16(0x8381), uint32(len(said)), said), strings.Join(more, ""))
}

// PictureStored returns a picture as the list of pictures has it: PNG, in an entry with a name.
func PictureStored(png string) string {
	const name = "a.png"
	return DrawingRecord(2, 0xF007, make([]byte, 33), byte(len(name)), uint16(0), name, PictureRecord(png))
}

// PictureRecord returns the record of a PNG.
func PictureRecord(png string) string { return DrawingRecord(0x6E0<<4, 0xF01E, make([]byte, 17), png) }

// PNG returns a picture with sides of so many pixels.
func PNG(side int) string {
	var b strings.Builder
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		panic(err)
	}
	return b.String()
}
