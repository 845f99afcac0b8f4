package ingest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
	"quarry/internal/extract"
	"quarry/internal/extract/outline"
)

// shown is a Reader that returns pictures, as a process could that does not keep to the bounds.
type shown struct {
	ingest.Reader // which is not asked for anything else
	pictures      []extract.Picture
}

func (s shown) Read(_ context.Context, in extract.Input) (*extract.Document, error) {
	if !in.Pictures {
		return nil, extract.ErrUnparsable
	}
	return &extract.Document{Metadata: map[string]any{}, Sections: []extract.Section{
		{Title: "Valves", Level: 1, Page: 1, Text: "Text.", Pictures: s.pictures, Sections: []extract.Section{{Title: "More", Level: 2, Pictures: s.pictures[:1]}}},
	}}, nil
}

// TestUploadPictures proves that what a reader says are pictures is looked at and counted again, that each has its part with its page, and
// that what is said of others is text.
func TestUploadPictures(t *testing.T) {
	t.Parallel()
	encode := func(width, height int) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil { // those of other sizes differ
			t.Fatal(err)
		}
		return b.Bytes()
	}
	valve := extract.Picture{Page: 3, Title: "Valve", Caption: "Figure 1", Description: "a red valve", MIME: "text/html", Data: encode(64, 64)}
	all := []extract.Picture{valve, {Description: "an icon", Data: encode(64, 63)}, {Description: "no picture", Data: []byte("<svg/>")}, {Description: "too large", Data: make([]byte, outline.MaxPictureBytes+1)},
		{Data: valve.Data}, {Description: "the same valve", Data: valve.Data}}
	for i := range outline.MaxPictures + 10 {
		all = append(all, extract.Picture{Description: fmt.Sprint("number ", i), Data: encode(64+i, 65)})
	}
	store := documenttest.New(corpus.Corpus{Key: "manuals", Enabled: true})
	service := ingest.New(ingest.Config{
		Corpora: store.Corpora(), Documents: store, Encoders: &documenttest.Encoder{}, Index: store, Reader: shown{pictures: all}, Pictures: true,
	})
	doc, err := service.Upload(t.Context(), "manuals", upload("a.docx", "PK"))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Images) != outline.MaxPictures {
		t.Fatalf("%d images", len(doc.Images))
	}
	first := doc.Images[0]
	if first.ID != "image_1" || first.MimeType != "image/png" || first.Caption != "Figure 1" || !bytes.Equal(first.Data, valve.Data) {
		t.Errorf("%+v", first)
	}
	var texts []string
	for _, p := range doc.Parts {
		if p.ImageID == "image_1" && (p.Text != "Valve. Figure 1. a red valve" || !strings.Contains(string(p.Metadata), `"page":3`)) {
			t.Errorf("%+v", p)
		}
		if p.ImageID == "" {
			texts = append(texts, p.Text)
		}
	}
	for _, want := range []string{"an icon", "no picture", "too large", "the same valve", fmt.Sprint("number ", outline.MaxPictures)} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not text: %q", want, texts)
		}
	}
}

// TestUploadMailPictures proves that a picture attached to a mail is an image of the document whether its text is recognised or not, and that
// this text stays beside it.
func TestUploadMailPictures(t *testing.T) {
	t.Parallel()
	mail := "Subject: The valve\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee below.\r\n" +
		"--x\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=valve.png\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		base64.StdEncoding.EncodeToString([]byte(pngOf(t, sheet(300)))) + "\r\n--x--\r\n"
	for name, tt := range map[string]struct {
		keep bool
		ocr  ingest.OCR
		want string
	}{
		"read":              {true, ingest.OCR{Recogniser: &sizes{}, Pages: 9}, "The valve; See below.; valve.png; The sheet is 300 high. [1 ocr]; valve.png"},
		"not read":          {true, ingest.OCR{Absent: "Install tesseract"}, "The valve; See below.; valve.png; This attachment was not read: the file needs OCR (text recognition): it has no text layer, only what may be seen on its pages.; valve.png"},
		"too much":          {true, ingest.OCR{Recogniser: &sizes{fails: map[int]error{300: extract.ErrStopped}}, Pages: 9}, "The valve; See below.; valve.png; This attachment was not read: the file needs OCR (text recognition): it has no text layer, only what may be seen on its pages.; valve.png"},
		"read and not kept": {false, ingest.OCR{Recogniser: &sizes{}, Pages: 9}, "The valve; See below.; valve.png; The sheet is 300 high. [1 ocr]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := documenttest.New(corpus.Corpus{Key: "manuals", Enabled: true})
			service := ingest.New(ingest.Config{Corpora: store.Corpora(), Documents: store, Encoders: &documenttest.Encoder{}, Index: store, Pictures: tt.keep, OCR: tt.ocr})
			doc, err := service.Upload(t.Context(), "manuals", upload("a.eml", mail))
			if err != nil {
				t.Fatal(err)
			}
			if got := outlined(doc.Metadata, doc.Parts); got != tt.want {
				t.Errorf("the document is\n%s, want\n%s", got, tt.want)
			}
			last := doc.Parts[len(doc.Parts)-1]
			if kept := len(doc.Images) == 1 && last.ImageID == doc.Images[0].ID; kept != tt.keep {
				t.Errorf("%d images, of part %+v", len(doc.Images), last)
			}
		})
	}
}
