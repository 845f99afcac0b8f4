package officeart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/officeart"
)

var rec, shape = extracttest.DrawingRecord, extracttest.PictureShape

// TestStore proves that a picture is found by its number, inside the list and in a stream beside it, and that numbers, places and kinds that
// are none find nothing.
func TestStore(t *testing.T) {
	t.Parallel()
	delayed := "in front" + rec(0x6E1<<4, 0xF01E, make([]byte, 33), "two checksums") + rec(0x46A<<4, 0xF01D, make([]byte, 17), "JPEG")
	second := strings.Index(delayed, "JPEG") - 17 - 8
	placed := func(at uint32) string { return rec(2, 0xF007, make([]byte, 28), at, uint32(0)) }
	whole := extracttest.PictureStored("inside")
	entries := []string{whole, placed(8), placed(uint32(second)), extracttest.PictureRecord("bare"), rec(0x6E2<<4, 0xF02A, make([]byte, 17), "CMYK"),
		placed(0xFFFFFFFF), placed(uint32(len(delayed))), rec(2, 0xF007, make([]byte, 20)), rec(2, 0xF007, make([]byte, 33), byte(9), uint16(0), "x"),
		rec(0x6E1<<4, 0xF01E, make([]byte, 20)), rec(0x3D4<<4, 0xF01B, make([]byte, 50)), rec(2, 0xF007, make([]byte, 36), whole[:30]), whole}
	want := []string{"inside", "two checksums", "JPEG", "bare", "CMYK", "", "", "", "", "", "", "", "inside"}
	shared := rec(0xF, 0xF000, rec(0, 0xF006, uint64(0)), rec(0xF, 0xF001, strings.Join(entries, "")))
	all, list := officeart.ReadStore([]byte(shared), []byte(delayed)), officeart.ReadList([]byte(strings.Join(entries, "")))
	for i, want := range want {
		if got := string(all.Picture(uint32(i + 1))); got != want {
			t.Errorf("picture %d: %q, want %q", i+1, got, want)
		}
	}
	for _, none := range []uint32{0, uint32(len(entries) + 1), 1 << 31} {
		if got := all.Picture(none); got != nil {
			t.Errorf("picture %d: %q", none, got)
		}
	}
	if string(list.Picture(1)) != "inside" || list.Picture(2) != nil {
		t.Error("a list alone has the pictures inside")
	}
	if cut := officeart.ReadStore([]byte(shared[:len(shared)-1]), nil); cut.Picture(1) != nil {
		t.Error("a list that is cut off has pictures")
	}
}

// TestPictures proves which shapes of drawings show pictures, and that those of groups stand where the outermost one does.
func TestPictures(t *testing.T) {
	t.Parallel()
	group := func(shapes ...string) string { return rec(0xF, 0xF003, strings.Join(shapes, "")) }
	head := func(id, flags uint32, more ...string) string {
		return rec(0xF, 0xF004, rec(0, 0xF00A, id, flags), strings.Join(more, ""))
	}
	anchor := func(at string) string { return rec(0, 0xF010, at) }
	const hidden = 0x20002
	deep := shape(9, 9, "too deep")
	for range 60 {
		deep = group(head(8, 0), deep)
	}
	drawing := rec(0xF, 0xF002, rec(0x10, 0xF008, uint64(0)), group(
		head(1, 5, anchor("all")),
		shape(2, 7, "a\r pump", anchor("here")),
		head(3, 0),
		rec(0xF, 0xF004, rec(0, 0xF00A, uint32(4), uint32(0)), rec(1<<4|3, 0xF122, uint16(0x104), uint32(3), uint16(0x3BF))),
		group(head(5, 1, anchor("group")), shape(6, 4, "in a group", anchor("none")), group(head(7, 1), shape(8, 5, "inside"))),
		group(head(9, 1|8), shape(10, 6, "in a deleted group")),
		rec(0xF, 0xF004, rec(0, 0xF00A, uint32(11), uint32(0)), rec(2<<4|3, 0xF00B, uint16(0x104), uint32(3), uint16(0x3BF), uint32(hidden))),
		rec(0xF, 0xF004, rec(1<<4|3, 0xF00B, uint16(0x8104), uint32(4), "name")),
		rec(0xF, 0xF004, rec(0xFFF<<4|3, 0xF00B, uint16(0x8381), uint32(1<<31))),
		deep), shape(12, 8, "the background"))
	all, _, _ := officeart.First([]byte(drawing))
	var got []string
	for _, s := range officeart.Pictures(all) {
		got = append(got, fmt.Sprintf("%d shows %d %q at %q", s.ID, s.Picture, s.Description, s.Anchor))
	}
	want := []string{`2 shows 7 "a pump" at "here"`, `4 shows 3 "" at ""`, `5 shows 4 "in a group" at "group"`, `5 shows 5 "inside" at "group"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := officeart.Pictures(officeart.Record{Kind: officeart.TypeGroup, Body: all.Body}); got != nil {
		t.Errorf("no drawing: %v", got)
	}
	if s := officeart.ReadShape([]byte(rec(1<<4|3, 0xF122, uint16(0x39F), uint32(1)))); !s.Table || s.Picture != 0 {
		t.Errorf("%+v", s)
	}
}
