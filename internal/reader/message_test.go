package reader_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract"
	"quarry/internal/extract/samplefile"
	"quarry/internal/reader"
)

// TestTreesTravelWhole proves that every field of a tree arrives as it was sent, also one that is added some day.
func TestTreesTravelWhole(t *testing.T) {
	t.Parallel()
	var want, got extract.Document
	n := 0
	fill(t, reflect.ValueOf(&want).Elem(), &n, 0)
	want.Metadata = map[string]any{"title": "a <b>", "authors": []any{"x", "y"}, "inner": map[string]any{"z": nil}, "yes": true}
	raw, err := reader.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Decode(string(raw), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a tree changes on its way (-sent +arrived):\n%s", diff)
	}
	for end := range len(raw) {
		var cut extract.Document
		if err := reader.Decode(string(raw[:end]), &cut); err == nil {
			t.Errorf("the first %d of %d bytes are a tree", end, len(raw))
		}
	}
}

// fill gives every field a value of its own.
func fill(t *testing.T, v reflect.Value, n *int, depth int) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n, depth+1)
		}
	case reflect.Slice:
		if depth > 8 { // sections hold sections
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n, depth+1)
		fill(t, v.Index(1), n, depth+1)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n, "\x00\xff"))
	case reflect.Int:
		v.SetInt(int64(*n) * (1 - 2*int64(*n%2)))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Float64:
		v.SetFloat(math.Pi * float64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map: // set by the caller
	default:
		t.Fatalf("trees have a %s: package reader can't send it", v.Type())
	}
}

// TestMessagesOfAnyLength proves that files of the lengths around those of blocks arrive whole.
func TestMessagesOfAnyLength(t *testing.T) {
	t.Parallel()
	const block = 64 << 10
	for n := range 40 {
		for _, around := range []int{0, block, 2 * block} {
			size := max(0, around-20+n)
			raw, err := reader.File(extract.Input{Name: "a.txt", Data: bytes.Repeat([]byte("x"), size)})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := reader.Answer(raw)
			if !errors.Is(err, io.EOF) {
				t.Fatalf("%d bytes: %v", size, err)
			}
			doc, _, stage, refused, err := reader.Exchange(answer, 1<<20)
			switch {
			case err != nil:
				t.Errorf("%d bytes: %v", size, err)
			case size == 0 && !errors.Is(refused, extract.ErrEmpty):
				t.Errorf("an empty file: %v", refused)
			case size > 0 && (refused != nil || stage != "read text/plain" || len(doc.Sections[0].Text) != size):
				t.Errorf("%d bytes: %v at %q", size, refused, stage)
			}
		}
	}
}

// TestAnswerIsBounded proves that a service takes no answer that is larger than the memory of a worker.
func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()
	raw, err := reader.File(extract.Input{Name: "a.txt", Data: []byte(strings.Repeat("word ", 100_000))})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := reader.Answer(raw)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if _, _, _, _, err := reader.Exchange(answer, 400_000); err == nil {
		t.Error("an answer of 500,000 bytes is taken where 400,000 are allowed")
	}
}

// FuzzExchange proves that no answer of a worker harms the service.
func FuzzExchange(f *testing.F) {
	raw, err := reader.File(extract.Input{Name: "a.md", Data: []byte("# a\n\n|b|c|\n|-|-|\n|d|e|\n\nf\n\n## g\n\n    h\n")})
	if err != nil {
		f.Fatal(err)
	}
	answer, err := reader.Answer(raw)
	if !errors.Is(err, io.EOF) {
		f.Fatal(err)
	}
	f.Add(answer)
	raw, err = reader.Page(extract.Input{Name: "a.pdf", Data: samplefile.Scanned(image.NewGray(image.Rect(0, 0, 100, 120)))}, extract.Scan{Page: 1})
	if err != nil {
		f.Fatal(err)
	}
	if answer, err = reader.Answer(raw); !errors.Is(err, io.EOF) {
		f.Fatal(err)
	}
	f.Add(answer)
	f.Add([]byte("e\x00\x00\x00\x04\x02\x02no"))
	f.Add([]byte("s\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		doc, page, _, refused, err := reader.Exchange(answer, 1<<20)
		if err == nil && doc == nil && page == nil && refused == nil {
			t.Error("no tree, no page and no error")
		}
	})
}

// TestExact proves that a page is taken from a worker only if it has as many pixels as it says.
func TestExact(t *testing.T) {
	t.Parallel()
	for _, r := range []extract.Raster{
		{}, {Width: 2, Height: 2, Grey: []byte("abc")}, {Width: -2, Height: -2, Grey: []byte("abcd")}, {Width: 1 << 62, Height: 4}, {Width: 2, Height: 1, Grey: []byte("abcd")},
	} {
		if reader.Exact(&r) {
			t.Errorf("%+v is taken", r)
		}
	}
	for _, r := range []extract.Raster{{Width: 2, Height: 2, Grey: []byte("abcd")}, {PDF: []byte("%PDF"), Page: 1}} {
		if !reader.Exact(&r) {
			t.Errorf("%+v is not taken", r)
		}
	}
}

// FuzzAnswer proves that nothing on its input makes a worker do anything but answer, or end.
func FuzzAnswer(f *testing.F) {
	for _, name := range []string{"a.md", "a.pdf", ""} {
		raw, err := reader.File(extract.Input{Name: name, ContentType: "application/octet-stream", Data: []byte("# a")})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	raw, err := reader.Page(extract.Input{Name: "a.gif", Data: []byte("GIF89a")}, extract.Scan{File: "1/2", Page: -1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, messages []byte) {
		if _, err := reader.Answer(messages); err == nil {
			t.Error("it goes on behind the end of its input")
		}
	})
}
