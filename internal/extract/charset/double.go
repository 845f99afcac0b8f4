package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// pairs is an encoding whose characters beyond ASCII have two bytes or more.
type pairs struct {
	enc encoding.Encoding
	// worth returns what the character at the start of data, a byte beyond ASCII, is worth for each of its bytes, how many these are, and
	// whether it is a syllable of Japanese.
	worth func(data []byte) (value float64, size int, kana bool)
}

// What characters are worth: syllables, signs that everybody uses, punctuation, signs that few use, and what is hardly ever in texts.
const (
	syllable  = 2.0
	known     = 1.8
	rareSign  = 0.4
	oddity    = -1.0
	kanaLeast = 0.1 // share of syllables in texts in Japanese
)

var double = []pairs{
	{simplifiedchinese.GB18030, chinese(0xB0, 0xD7, 0xF7)}, {traditionalchinese.Big5, chinese(0xA4, 0xC6, 0xF9)},
	{japanese.ShiftJIS, shiftJIS}, {japanese.EUCJP, eucJP}, {korean.EUCKR, eucKR},
}

// score returns the mean worth of the bytes beyond ASCII if a text is in this encoding.
func (p *pairs) score(data []byte) float64 {
	sum, n, kana, signs := 0.0, 0, 0, 0
	decoder := p.enc.NewDecoder()
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			data = data[1:]
			continue
		}
		value, size, syllables := p.worth(data)
		if size > len(data) { // the sample ends inside a character
			break
		}
		if value > impossible && !valid(decoder, data[:size]) {
			value = impossible
		}
		if syllables {
			kana++
		}
		signs++
		sum += value * float64(size)
		n += size
		data = data[size:]
	}
	if n == 0 {
		return impossible
	}
	mean := sum / float64(n)
	if (p.enc == japanese.ShiftJIS || p.enc == japanese.EUCJP) && float64(kana) < kanaLeast*float64(signs) {
		mean -= 1
	}
	return mean
}

// valid reports whether the bytes of a character stand for one.
func valid(d *encoding.Decoder, data []byte) bool {
	var out [8]byte
	d.Reset()
	n, _, err := d.Transform(out[:], data, true)
	r, _ := utf8.DecodeRune(out[:n])
	return err == nil && r != utf8.RuneError
}

// chinese returns the worths of an encoding whose signs that everybody uses have first bytes from first to last, and others to end.
func chinese(first, last, end byte) func([]byte) (float64, int, bool) {
	return func(data []byte) (float64, int, bool) {
		if len(data) == 1 {
			return impossible, 1, false
		}
		big5 := first == 0xA4
		switch lead, trail := data[0], data[1]; {
		case !big5 && trail >= '0' && trail <= '9':
			return rareSign, 4, false
		case trail < 0x40 || trail == 0x7F || trail == 0xFF:
			return impossible, 1, false
		case lead == 0xA1 || !big5 && lead == 0xA3:
			return known, 2, false
		case lead >= first && lead <= last && (trail >= 0xA1 || big5):
			return known, 2, false
		case lead > last && lead <= end:
			return rareSign, 2, false
		case lead >= 0x81 && lead < 0xA1 && !big5:
			return rareSign / 2, 2, false
		}
		return oddity, 2, false
	}
}

func eucKR(data []byte) (float64, int, bool) {
	if len(data) == 1 || data[1] < 0x41 {
		return impossible, 1, false
	}
	switch lead, trail := data[0], data[1]; {
	case lead >= 0xB0 && lead <= 0xC8 && trail >= 0xA1:
		return syllable, 2, false
	case lead == 0xA1 && trail >= 0xA1:
		return known, 2, false
	case lead >= 0xCA && lead <= 0xFD && trail >= 0xA1, lead == 0xA3 && trail >= 0xA1:
		return rareSign, 2, false
	case lead <= 0xC6 && trail < 0xA1: // syllables that few words have
		return rareSign, 2, false
	}
	return oddity, 2, false
}

func eucJP(data []byte) (float64, int, bool) {
	if len(data) == 1 || data[1] < 0xA1 {
		return impossible, 1, false
	}
	switch lead := data[0]; {
	case lead == 0xA4 || lead == 0xA5:
		return syllable, 2, true
	case lead == 0xA1, lead >= 0xB0 && lead <= 0xCF:
		return known, 2, false
	case lead == 0xA3, lead >= 0xD0 && lead <= 0xF4:
		return rareSign, 2, false
	case lead == 0x8F:
		return rareSign, 3, false
	}
	return oddity, 2, false
}

func shiftJIS(data []byte) (float64, int, bool) {
	lead := data[0]
	if lead >= 0xA1 && lead <= 0xDF { // half the width
		return oddity, 1, false
	}
	if len(data) == 1 || data[1] < 0x40 || data[1] == 0x7F {
		return impossible, 1, false
	}
	switch trail := data[1]; {
	case lead == 0x82 && trail >= 0x9F || lead == 0x83 && trail <= 0x96:
		return syllable, 2, true
	case lead == 0x81, lead == 0x82, lead >= 0x88 && lead <= 0x97:
		return known, 2, false
	case lead >= 0x98 && lead <= 0x9F || lead >= 0xE0 && lead <= 0xEA:
		return rareSign, 2, false
	}
	return oddity, 2, false
}
