package rarity_test

import (
	"fmt"
	"testing"

	"quarry/internal/text/analysis"
	"quarry/internal/text/rarity"
)

// TestOrder proves that the weights of words increase with their rarity, from function words to names, by clear
// margins.
func TestOrder(t *testing.T) {
	t.Parallel()
	last := -1.0
	for _, w := range []string{"the", "not", "make", "water", "insulin", "chloroplast"} {
		if got := rarity.Weight(w); got <= last || !rarity.Known(w) {
			t.Errorf("Weight(%q) = %.2f, known %v, want more than %.2f", w, got, rarity.Known(w), last)
		} else {
			last = got
		}
	}
	for _, w := range []string{"xyzzyplugh", "", "日本"} {
		if got := rarity.Weight(w); got != rarity.Highest {
			t.Errorf("Weight(%q) = %.2f, want the highest", w, got)
		}
	}
}

// TestKeysAreStems proves that the stems of the analysis chain are the keys of the table, in English only.
func TestKeysAreStems(t *testing.T) {
	t.Parallel()
	for _, s := range analysis.Analyze("Governments decided cities' populations independently", "eng").Stems {
		if !rarity.Known(s) {
			t.Errorf("the stem %q is not in the table", s)
		}
		if got := rarity.In(s, "eng"); got != rarity.Weight(s) {
			t.Errorf("In(%q, eng) = %g", s, got)
		}
	}
	if rarity.In("der", "deu") != 1 || rarity.In("Zeit", "deu") != 1 {
		t.Error("a language without a table has weights")
	}
}

// TestTable proves that every entry of the table is sorted, in range, and that one in thousands of made-up words at
// most is taken for another.
func TestTable(t *testing.T) {
	t.Parallel()
	taken := 0
	for i := range 20_000 {
		w := fmt.Sprintf("made-up-%d", i)
		if rarity.Known(w) {
			taken++
		}
		if got := rarity.Weight(w); got < 0 || got > rarity.Highest {
			t.Fatalf("Weight(%q) = %g", w, got)
		}
	}
	if taken > 5 {
		t.Errorf("%d of 20,000 made-up words are in the table", taken)
	}
}

func BenchmarkWeight(b *testing.B) {
	for b.Loop() {
		rarity.Weight("insulin")
	}
}
