package main

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/extract"
)

// TestLegacy proves that the files made here have what they are measured by.
func TestLegacy(t *testing.T) {
	t.Parallel()
	texts := make([]string, 5_000)
	for i := range texts {
		texts[i] = fmt.Sprintf("Valve %d opens.", i)
	}
	for _, kind := range legacyKinds {
		doc, err := extract.Read(extract.Input{Name: "a." + kind, Data: legacy(kind, texts...)})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		var a amount
		a.add(doc.Sections)
		if least := len(strings.Join(texts, "")); a.characters < least {
			t.Errorf("%s: %d characters, want %d", kind, a.characters, least)
		}
		switch unit, n := a.in(kind); unit {
		case "slides":
			if n != 5_000 {
				t.Errorf("%v slides", n)
			}
		case "cells":
			if n < 10_000 || n > 10_100 { // the sheet becomes several tables with one header
				t.Errorf("%v cells", n)
			}
		}
	}
}
