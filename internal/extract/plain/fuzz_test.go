package plain_test

import (
	"errors"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/plain"
)

// FuzzRead proves that no text makes the reader panic or end otherwise than in a tree or a refusal.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"A(1)  b  A(1)\n\nNAME\n     a - b\n\n   C\n     -x   y\n          z\n\n     d   e\n     f   g\nx   A(1)\n",
		"1. a\n\n1.1. b\n\nQ: c\n\nA: d\n\ne\n===\n\nf\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := plain.Read(text)
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}

// FuzzReadCode proves the same of code.
func FuzzReadCode(f *testing.F) {
	f.Add("func a() {\n\treturn\n}\n\nfunc b() {}\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := plain.ReadCode(text)
		if err != nil {
			t.Fatal(err)
		}
		extracttest.Dump(t, doc)
	})
}
