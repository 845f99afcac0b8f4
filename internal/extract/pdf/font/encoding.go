package font

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"quarry/internal/extract/pdf/syntax"
)

// encode sets the text of each code of a simple font, from its base encoding and the differences to that (ISO 32000-1,
// 9.6.6).
func (o *Font) encode(f *syntax.File, d, desc syntax.Dict, name string) {
	base := ""
	var differences syntax.Array
	switch enc := f.Get(d["Encoding"]).(type) {
	case syntax.Name:
		base = string(enc)
	case syntax.Dict:
		base = string(f.Name(enc["BaseEncoding"]))
		differences = f.Array(enc["Differences"])
	}
	switch {
	case base == "WinAnsiEncoding":
		o.fill(charmap.Windows1252)
	case base == "MacRomanEncoding":
		o.fill(charmap.Macintosh)
	case base == "" && strings.Contains(name, "symbol") && desc["FontFile"] == nil && desc["FontFile3"] == nil:
		o.symbols()
	case base == "" && f.Name(d["Subtype"]) == "TrueType":
		o.fill(charmap.Windows1252)
	default:
		o.standard()
		if base == "" {
			o.builtIn(f, desc)
		}
	}
	code := 0
	for _, item := range differences {
		switch v := f.Get(item).(type) {
		case int:
			code = v
		case syntax.Name:
			if code >= 0 && code < 256 {
				o.texts[code] = glyphText(string(v))
			}
			code++
		}
	}
}

// fill sets the texts of a character set.
func (o *Font) fill(c *charmap.Charmap) {
	for i := range 256 {
		if r := c.DecodeByte(byte(i)); r >= ' ' && r != '\uFFFD' && (r < 0x7F || r >= 0xA0) {
			o.texts[i] = string(r)
		}
	}
	if c == charmap.Windows1252 {
		o.texts[0xAD] = "-" // WinAnsiEncoding has a hyphen there, not a soft hyphen
	}
}

// upper is StandardEncoding (ISO 32000-1, annex D.2) from code 161 on; a space is a code without a glyph.
const upper = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß"

// standard sets the texts of StandardEncoding.
func (o *Font) standard() {
	for i := ' '; i <= '~'; i++ {
		o.texts[i] = string(i)
	}
	o.texts['\''], o.texts['`'] = "’", "‘"
	i := 161
	for _, r := range upper {
		if r != ' ' {
			o.texts[i] = string(r)
		}
		i++
	}
}

// The Greek letters of the font Symbol, from the codes of A and a on.
const (
	greekUpper = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
	greekLower = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
)

// symbols sets the texts of the font Symbol (ISO 32000-1, annex D.5), as far as they are common.
func (o *Font) symbols() {
	o.standard()
	for from, letters := range map[byte]string{'A': greekUpper, 'a': greekLower} {
		i := int(from)
		for _, r := range letters {
			o.texts[i] = string(r)
			i++
		}
	}
	for code, text := range map[int]string{0xA3: "≤", 0xB3: "≥", 0xB1: "±", 0xB4: "×", 0xB8: "÷", 0xB9: "≠", 0xBB: "≈", 0xA5: "∞", 0xB0: "°",
		0xB7: "•", 0xAE: "→", 0xAC: "←", 0xD6: "√", 0xE5: "∑", 0xF2: "∫", 0xCE: "∈", 0xB6: "∂", 0xA2: "′", 0x2D: "−", 0xD5: "∏"} {
		o.texts[code] = text
	}
}

// encodingEntry matches an entry of the encoding of a Type 1 font, which is in its clear-text part.
var encodingEntry = regexp.MustCompile(`dup\s+(\d{1,3})\s*/([A-Za-z0-9._]+)\s+put`)

// builtIn sets the texts of the encoding inside an embedded Type 1 font.
func (o *Font) builtIn(f *syntax.File, desc syntax.Dict) {
	s, ok := f.Get(desc["FontFile"]).(*syntax.Stream)
	if !ok {
		return
	}
	data, err := f.Decode(s)
	if err != nil {
		return
	}
	head, _, _ := bytes.Cut(data[:min(len(data), 64<<10)], []byte("eexec"))
	for _, m := range encodingEntry.FindAllSubmatch(head, 256) {
		if code, err := strconv.Atoi(string(m[1])); err == nil && code < 256 {
			o.texts[code] = glyphText(string(m[2]))
		}
	}
}
