package numeral_test

import (
	"testing"

	"quarry/internal/extract/numeral"
)

// TestNumerals proves both ways of writing numbers, and that what they can't write is in digits.
func TestNumerals(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]string{
		1: {"I", "A"}, 4: {"IV", "D"}, 27: {"XXVII", "AA"}, 54: {"LIV", "BBB"}, 1994: {"MCMXCIV", "1994"}, 4000: {"4000", "4000"}, 0: {"0", "0"}, -3: {"-3", "-3"},
	} {
		if got := [2]string{numeral.Roman(n), numeral.Letters(n)}; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
