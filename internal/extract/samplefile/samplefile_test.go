package samplefile_test

import (
	"slices"
	"strings"
	"testing"

	"quarry/internal/extract"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/samplefile"
)

// TestNew proves that the files which tests and benchmarks of other packages write are read as files of their kind, and
// whole.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, kind := range samplefile.Kinds {
		doc, err := extract.Read(extract.Input{Name: "a." + kind, Data: samplefile.New(kind, "Granite (a rock) & more.", "The second zeta.")})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		extracttest.Golden(t, "testdata/"+kind+".golden", doc)
		text := extracttest.Dump(t, doc)
		for _, want := range []string{"Granite (a rock) & more.", "The second zeta."} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s: %q is %d times in\n%s", kind, want, strings.Count(text, want), text)
			}
		}
	}
}

// TestScanned proves that pages which are pictures are found as such, and that the pictures come back as they were drawn.
func TestScanned(t *testing.T) {
	t.Parallel()
	page := samplefile.Page("The mill grinds.", "It stops at noon.")
	in := extract.Input{Name: "a.pdf", Data: samplefile.Scanned("A page of letters.", page, "Another one.")}
	doc, err := extract.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := []extract.Scan{{Page: 2}}; !slices.Equal(doc.Scans, want) {
		t.Fatalf("scans %v, want %v", doc.Scans, want)
	}
	r, err := extract.Scanned(in, doc.Scans[0])
	if err != nil {
		t.Fatal(err)
	}
	if r.Width != page.Rect.Dx() || r.Height != page.Rect.Dy() || r.DPI != 300 {
		t.Errorf("a picture of %d x %d at %d dpi, want %v at 300", r.Width, r.Height, r.DPI, page.Rect.Size())
	}
}
