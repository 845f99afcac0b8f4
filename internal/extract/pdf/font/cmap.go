package font

import (
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"quarry/internal/extract/pdf/syntax"
)

// cmap is a CMap (ISO 32000-1, 9.7.5; Adobe Technical Note 5014). It maps codes of one to four bytes to text (bf mappings,
// of ToUnicode) or to CIDs, the numbers of glyphs.
type cmap struct {
	spaces   []codeRange // codespace ranges: which byte sequences are codes
	chars    map[key]string
	ranges   []textRange
	cids     []cidRange
	identity bool // a code that is in no range is its own CID
}

// key is a code. The same value with another size, in bytes, is another code.
type key struct{ code, size int }

type codeRange struct{ low, high, size int }

// textRange maps a range of codes to text.
type textRange struct {
	codeRange
	text []rune // of low; for each code after it the last rune is one higher
}

type cidRange struct {
	codeRange
	cid int
}

// maxUses bounds the chain of CMaps that include each other (UseCMap).
const maxUses = 5

// identity returns the predefined CMap Identity-H, whose codes are CIDs of two bytes.
func identity() *cmap {
	return &cmap{spaces: []codeRange{{0, 0xFFFF, 2}}, identity: true}
}

// readCMap reads a CMap that is embedded in the file.
func readCMap(f *syntax.File, s *syntax.Stream, depth int) *cmap {
	c := &cmap{chars: map[key]string{}}
	if used, ok := f.Get(s.Dict["UseCMap"]).(*syntax.Stream); ok && depth < maxUses {
		c = readCMap(f, used, depth+1)
	}
	data, err := f.Decode(s)
	if err != nil {
		return c
	}
	c.read(data, f.Budget)
	return c
}

// read adds the mappings of a CMap program.
func (c *cmap) read(data []byte, b *syntax.Budget) {
	if c.chars == nil {
		c.chars = map[key]string{}
	}
	l := syntax.NewLexer(data, b)
	for !l.End() {
		switch k := l.Next().(type) {
		case syntax.Name:
			if strings.HasPrefix(string(k), "Identity") {
				c.identity = true
			}
		case syntax.Keyword:
			switch k {
			case "begincodespacerange":
				c.section(l, b, 2, func(v []syntax.Object) {
					if r, ok := rangeOf(v[0], v[1]); ok {
						c.spaces = append(c.spaces, r)
					}
				})
			case "beginbfchar":
				c.section(l, b, 2, func(v []syntax.Object) {
					if r, ok := rangeOf(v[0], v[0]); ok {
						c.chars[key{r.low, r.size}] = string(runes(v[1]))
					}
				})
			case "beginbfrange":
				c.section(l, b, 3, c.textRange)
			case "begincidchar":
				c.section(l, b, 2, func(v []syntax.Object) { c.cidRange([]syntax.Object{v[0], v[0], v[1]}) })
			case "begincidrange":
				c.section(l, b, 3, c.cidRange)
			}
		}
	}
}

// section calls take with each group of n objects, up to the keyword that ends the section.
func (c *cmap) section(l *syntax.Lexer, b *syntax.Budget, n int, take func([]syntax.Object)) {
	group := make([]syntax.Object, 0, n)
	for !l.End() {
		o := l.Next()
		if _, ends := o.(syntax.Keyword); ends {
			return
		}
		if group = append(group, o); len(group) == n {
			if !b.Keep(96) {
				return
			}
			take(group)
			group = group[:0]
		}
	}
}

func (c *cmap) textRange(v []syntax.Object) {
	r, ok := rangeOf(v[0], v[1])
	if !ok {
		return
	}
	if each, isArray := v[2].(syntax.Array); isArray {
		for i, o := range each[:min(len(each), r.high-r.low+1)] {
			c.chars[key{r.low + i, r.size}] = string(runes(o))
		}
		return
	}
	if text := runes(v[2]); len(text) > 0 {
		c.ranges = append(c.ranges, textRange{r, text})
	}
}

func (c *cmap) cidRange(v []syntax.Object) {
	r, ok := rangeOf(v[0], v[1])
	if cid, isInt := v[2].(int); ok && isInt {
		c.cids = append(c.cids, cidRange{r, cid})
	}
}

// rangeOf returns the range of two codes of the same size; ok is false if there is none.
func rangeOf(low, high syntax.Object) (codeRange, bool) {
	a, ok1 := low.(syntax.String)
	b, ok2 := high.(syntax.String)
	if !ok1 || !ok2 || len(a) != len(b) || len(a) < 1 || len(a) > 4 {
		return codeRange{}, false
	}
	r := codeRange{value(string(a)), value(string(b)), len(a)}
	return r, r.low <= r.high
}

// value returns the big-endian number in s.
func value(s string) int {
	v := 0
	for i := range len(s) {
		v = v<<8 | int(s[i])
	}
	return v
}

// runes decodes text in UTF-16BE.
func runes(o syntax.Object) []rune {
	s, _ := o.(syntax.String)
	if len(s) == 1 { // against the standard, some writers use one byte for characters below 256
		return []rune{rune(s[0])}
	}
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return utf16.Decode(units)
}

// next returns the code at the start of s, and its size. If no codespace range matches, the code has the size of those in
// the first range.
func (c *cmap) next(s string) (code, size int) {
	for n := 1; n <= min(4, len(s)); n++ {
		v := value(s[:n])
		for _, r := range c.spaces {
			if r.size == n && inside(v, r) {
				return v, n
			}
		}
	}
	n := min(2, len(s))
	if len(c.spaces) > 0 {
		n = min(c.spaces[0].size, len(s))
	}
	return value(s[:n]), n
}

// inside reports whether v is in a codespace range, which means that each of its bytes is between those of the bounds.
func inside(v int, r codeRange) bool {
	for shift := 0; shift < 8*r.size; shift += 8 {
		if b := v >> shift & 0xFF; b < r.low>>shift&0xFF || b > r.high>>shift&0xFF {
			return false
		}
	}
	return true
}

// text returns the text of a code; ok is false if it has none.
func (c *cmap) text(code, size int) (string, bool) {
	if t, ok := c.chars[key{code, size}]; ok {
		return t, true
	}
	for i := range c.ranges {
		r := &c.ranges[i]
		if code >= r.low && code <= r.high && r.size == size {
			out := append([]rune(nil), r.text...)
			out[len(out)-1] += rune(code - r.low)
			return string(out), true
		}
	}
	return "", false
}

// cid returns the CID of a code.
func (c *cmap) cid(code, size int) int {
	for i := range c.cids {
		if r := &c.cids[i]; r.size == size && code >= r.low && code <= r.high {
			return r.cid + code - r.low
		}
	}
	if c.identity {
		return code
	}
	return 0
}

// charsets are the character encodings of predefined CMaps (ISO 32000-1, 9.7.5.2), by prefix of their names.
var charsets = []struct {
	prefix string
	enc    encoding.Encoding
}{
	{"GBK", simplifiedchinese.GBK}, {"GB-", simplifiedchinese.GBK}, {"GBpc", simplifiedchinese.GBK}, {"GBT", simplifiedchinese.GBK},
	{"B5", traditionalchinese.Big5}, {"ETen", traditionalchinese.Big5}, {"HKscs", traditionalchinese.Big5}, {"ETHK", traditionalchinese.Big5},
	{"90ms", japanese.ShiftJIS}, {"90pv", japanese.ShiftJIS}, {"83pv", japanese.ShiftJIS}, {"Add-RKSJ", japanese.ShiftJIS}, {"Ext-RKSJ", japanese.ShiftJIS},
	{"EUC-", japanese.EUCJP}, {"KSC", korean.EUCKR},
}

// predefined returns the predefined CMap with this name. If its codes are in Unicode or another character encoding, it
// also returns a function that decodes them to text. Unknown names are taken for Identity-H.
func predefined(name string) (*cmap, func([]byte) string) {
	switch {
	case strings.HasPrefix(name, "Identity"):
		return identity(), nil
	case strings.Contains(name, "UTF16") || strings.Contains(name, "UCS2"):
		return &cmap{spaces: []codeRange{{0, 0xD7FF, 2}, {0xD800DC00, 0xDBFFDFFF, 4}, {0xE000, 0xFFFF, 2}}},
			func(raw []byte) string { return string(runes(syntax.String(raw))) }
	}
	for _, set := range charsets {
		if strings.HasPrefix(name, set.prefix) {
			spaces := []codeRange{{0, 0x80, 1}, {0x8140, 0xFEFE, 2}}
			if set.enc == japanese.ShiftJIS {
				spaces = []codeRange{{0, 0x80, 1}, {0xA0, 0xDF, 1}, {0x8140, 0x9FFC, 2}, {0xE040, 0xFCFC, 2}}
			}
			return &cmap{spaces: spaces}, func(raw []byte) string {
				out, err := set.enc.NewDecoder().Bytes(raw)
				if err != nil {
					return ""
				}
				return string(out)
			}
		}
	}
	return identity(), nil
}
