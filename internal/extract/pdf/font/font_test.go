package font

import (
	"testing"
	"time"

	"quarry/internal/extract/pdf/syntax"
)

func TestGlyphText(t *testing.T) {
	// Proves what the names of glyphs mean, by table, by composition and by number.
	t.Parallel()
	for name, want := range map[string]string{
		"A": "A", "space": " ", "eacute": "é", "Ccaron": "Č", "ohungarumlaut": "ő", "Scommaaccent": "Ş", "f_f_i": "ffi", "fi": "fi",
		"uni20AC": "€", "uni00410042": "AB", "u1F600": "😀", "alpha": "α", "alphatonos": "ά", "afii10017": "А", "afii10023": "Ё", "afii10024": "Ж",
		"afii10065": "а", "afii10071": "ё", "afii10097": "я", "a.alt": "a", "one.oldstyle": "1", ".notdef": "", "g123": "", "uniZZZZ": "", "colon": ":", "backslash": "\\",
	} {
		if got := glyphText(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzCMap(f *testing.F) {
	// Proves that no CMap makes the reader of codes panic or stand still.
	f.Add([]byte("1 begincodespacerange <0000><FFFF> endcodespacerange 1 beginbfrange <0001><0002>[<4E2D><6587>] endbfrange"), "\x00\x01\x00\x02\x03")
	f.Add([]byte("1 beginbfrange <00><FF><D83DDE00> endbfrange 1 begincidrange <00000000><FFFFFFFF> 7 endcidrange"), "abc")
	f.Add([]byte("1 beginbfchar <41> <> endbfchar beginbfrange <41><40><41>"), "A")
	f.Fuzz(func(t *testing.T, data []byte, s string) {
		c := &cmap{}
		c.read(data, syntax.NewBudget(time.Second))
		o := &Font{composite: true, codes: c, unicode: c, widths: map[int]float64{}}
		glyphs := 0
		o.Glyphs(s, func(Glyph) bool { glyphs++; return true })
		if glyphs > len(s) || glyphs == 0 && s != "" {
			t.Fatalf("%d glyphs of %d bytes", glyphs, len(s))
		}
	})
}
