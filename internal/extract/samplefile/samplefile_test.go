package samplefile_test

import (
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
		text := extracttest.Dump(t, doc)
		for _, want := range []string{"Granite (a rock) & more.", "The second zeta."} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s: %q is %d times in\n%s", kind, want, strings.Count(text, want), text)
			}
		}
	}
}
