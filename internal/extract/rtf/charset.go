package rtf

import (
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// pages are the code pages by their numbers.
var pages = map[int]encoding.Encoding{
	437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852, 855: charmap.CodePage855, 858: charmap.CodePage858,
	860: charmap.CodePage860, 862: charmap.CodePage862, 863: charmap.CodePage863, 865: charmap.CodePage865, 866: charmap.CodePage866,
	874: charmap.Windows874, 932: japanese.ShiftJIS, 936: simplifiedchinese.GBK, 949: korean.EUCKR, 950: traditionalchinese.Big5,
	1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252, 1253: charmap.Windows1253, 1254: charmap.Windows1254,
	1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257, 1258: charmap.Windows1258,
	10000: charmap.Macintosh, 10007: charmap.MacintoshCyrillic, 65001: unicode.UTF8,
}

// charsets are the code pages of fonts by what \fcharset says; 0 and 1 stand for the page of the file.
var charsets = map[int]int{
	77: 10000, 128: 932, 129: 949, 130: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257,
	204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}

// symbols is the \fcharset of fonts of pictures, such as bullets.
const symbols = 2

// bytes adds bytes of a text, which wait for the others of their characters.
func (r *reader) bytes(text []byte) {
	if n := min(r.skip, len(text)); n > 0 {
		r.skip -= n
		text = text[n:]
	}
	if len(r.waiting) > 0 && r.waitingIn != r.state.font {
		r.decode()
	}
	r.waitingIn = r.state.font
	r.waiting = append(r.waiting, text...)
}

// decode adds the text that waiting bytes are.
func (r *reader) decode() {
	if r.high != 0 && len(r.waiting) > 0 {
		r.high = 0
		r.write("\uFFFD")
	}
	if len(r.waiting) == 0 {
		return
	}
	text := string(r.waiting)
	r.waiting = r.waiting[:0]
	if !ascii(text) {
		enc := r.page
		if f, ok := r.fonts[r.waitingIn]; ok && f.page != 0 {
			enc = pages[f.page]
		}
		if out, err := enc.NewDecoder().String(text); err == nil {
			text = out
		}
	}
	r.write(text)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unicode adds a character that is given by its number, 16 bits of it, and has what stands for it in old programs skipped.
func (r *reader) unicode(n int) {
	r.decode()
	r.skip = r.state.skip
	c := rune(uint16(n))
	switch {
	case c >= 0xD800 && c < 0xDC00:
		if r.high != 0 {
			r.write("\uFFFD")
		}
		r.high = c
		return
	case r.high != 0:
		c = utf16.DecodeRune(r.high, c)
		r.high = 0
	case c >= 0xE000 && c < 0xF900: // of a font of pictures
		if r.state.mark == nil {
			return
		}
	}
	if c == 0 {
		return
	}
	r.write(string(c))
}
