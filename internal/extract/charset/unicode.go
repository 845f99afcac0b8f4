package charset

import (
	"encoding/binary"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// wide are the encodings whose characters have two bytes or four.
var wide = []struct {
	enc   encoding.Encoding
	size  int
	order binary.ByteOrder
}{
	{utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4, binary.LittleEndian}, {utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4, binary.BigEndian},
	{xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM), 2, binary.LittleEndian}, {xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM), 2, binary.BigEndian},
}

// Wide returns the encoding of a text in UTF-16 or UTF-32 without a mark, or nil.
func Wide(data []byte) encoding.Encoding {
	best, share := encoding.Encoding(nil), 0.0
	for _, w := range wide {
		if len(data)%w.size != 0 || len(data) == 0 {
			continue
		}
		part := data[:min(len(data), longestSample)]
		if s := written(runes(part, w.size, w.order)); s > share {
			best, share = w.enc, s
		}
	}
	return best
}

// runes returns the characters of a text.
func runes(data []byte, size int, order binary.ByteOrder) []rune {
	if size == 4 {
		out := make([]rune, 0, len(data)/4)
		for ; len(data) > 0; data = data[4:] {
			out = append(out, rune(min(order.Uint32(data), unicode.MaxRune+1)))
		}
		return out
	}
	units := make([]uint16, 0, len(data)/2)
	for ; len(data) > 0; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return utf16.Decode(units)
}

// fewest is how many letters outside of ASCII a text without a character of ASCII has at least.
const fewest = 6

// written returns the share of characters that people write in one text: those of ASCII, and those of one script with its signs. It is 0 for
// anything that is no text: with controls, places that have no character, or letters of scripts that have nothing to do with each other.
func written(text []rune) float64 {
	ascii, signs, all := 0, 0, 0
	counts := map[*unicode.RangeTable]int{}
	for _, r := range text {
		switch {
		case r == '\t', r == '\n', r == '\r', r == '\f', r >= ' ' && r < 0x7F:
			ascii++
		case r == 0xFEFF, r == unicode.ReplacementChar, r < ' ', !unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r):
			return 0
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			signs++
		default:
			counts[script(r)]++
		}
	}
	for table, n := range counts {
		if table != nil {
			all = max(all, n)
		}
	}
	latin := counts[unicode.Latin]
	if all != latin {
		all += latin
	}
	if n := len(text); ascii == 0 && all < fewest || float64(ascii+all) < 0.7*float64(n) || float64(ascii+all+signs) < 0.98*float64(n) {
		return 0
	}
	return float64(2*ascii+2*all+signs) / float64(2*len(text))
}

// scripts are those that texts are told by; those of Chinese, Japanese and Korean count as one.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Thai, unicode.Devanagari, unicode.Bengali, unicode.Tamil,
	unicode.Telugu, unicode.Georgian, unicode.Armenian, unicode.Ethiopic, unicode.Khmer, unicode.Lao, unicode.Myanmar, unicode.Gujarati,
	unicode.Gurmukhi, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Mongolian, unicode.Tibetan,
}

// script returns the script of a letter, nil for one of none of them.
func script(r rune) *unicode.RangeTable {
	switch {
	case r >= 0x4E00 && r <= 0x9FA5, r >= 0x3040 && r <= 0x30FF, r >= 0xAC00 && r <= 0xD7A3, r >= 0x3400 && r <= 0x4DBF:
		return unicode.Han
	}
	for _, table := range scripts {
		if unicode.Is(table, r) {
			return table
		}
	}
	return nil
}
