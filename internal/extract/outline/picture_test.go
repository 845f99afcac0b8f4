package outline_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"testing"

	"quarry/internal/extract/outline"
)

// picture returns a PNG; mark makes one differ from the others.
func picture(t *testing.T, side int, mark uint32) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, side, side))
	binary.BigEndian.PutUint32(m.Pix, mark)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBuilderPicture proves which pictures are kept: those that are wanted, known, large enough, each once, and so many; and where.
func TestBuilderPicture(t *testing.T) {
	t.Parallel()
	var unwanted outline.Builder
	if unwanted.Picture(outline.Picture{Data: picture(t, 64, 1)}) {
		t.Error("a picture that nobody wants is kept")
	}
	b := outline.Builder{Options: outline.Options{Pictures: true}}
	b.Page(2)
	b.Heading(1, "Valves")
	for _, tt := range []struct {
		name string
		in   outline.Picture
		want bool
	}{
		{"a picture", outline.Picture{Description: "red", Data: picture(t, 64, 1)}, true},
		{"the same, said to be the same", outline.Picture{Description: "red", Data: picture(t, 64, 1)}, true},
		{"the same, without words", outline.Picture{Data: picture(t, 64, 1)}, true},
		{"the same, said to be something else", outline.Picture{Description: "blue", Data: picture(t, 64, 1)}, false},
		{"an icon", outline.Picture{Data: picture(t, 63, 2)}, false},
		{"no bytes", outline.Picture{Description: "x"}, false},
		{"no picture", outline.Picture{Data: []byte("<svg/>")}, false},
		{"a picture that is cut off", outline.Picture{Data: picture(t, 64, 3)[:60]}, false},
		{"too many bytes", outline.Picture{Data: make([]byte, outline.MaxPictureBytes+1)}, false},
	} {
		if got := b.Picture(tt.in); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	for i := range uint32(outline.MaxPictures + 5) {
		if kept := b.Picture(outline.Picture{Data: picture(t, 64, 100+i)}); kept != (i < outline.MaxPictures-1) {
			t.Fatalf("picture %d: %t", i, kept)
		}
	}
	s := b.Sections()
	if len(s) != 1 || len(s[0].Pictures) != outline.MaxPictures || s[0].Pictures[0].Page != 2 || s[0].Pictures[0].MIME != "image/png" {
		t.Errorf("%d sections", len(s))
	}
}

// TestBuilderCaption proves that a caption belongs to the picture right before it, and to no other.
func TestBuilderCaption(t *testing.T) {
	t.Parallel()
	b := outline.Builder{Options: outline.Options{Pictures: true}}
	if b.Caption("of nothing") {
		t.Error("a caption without a picture is taken")
	}
	b.Picture(outline.Picture{Description: "red", Data: picture(t, 64, 1)})
	if !b.Caption("Figure 1") || b.Caption("Figure 2") {
		t.Error("a picture has one caption")
	}
	b.Picture(outline.Picture{Data: picture(t, 64, 2)})
	b.Paragraph("Text between.")
	if b.Caption("Figure 2") {
		t.Error("a caption is taken over a paragraph")
	}
	if p := b.Sections()[0].Pictures; len(p) != 2 || p[0].Words() != "Figure 1. red" || p[1].Words() != "" {
		t.Errorf("%+v", p)
	}
}
