package font

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"quarry/internal/extract/pdf/syntax"
)

// encode fills in what each code of a simple font means: the font's own encoding, then the differences.
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

func (o *Font) fill(c *charmap.Charmap) {
	for i := range 256 {
		if r := c.DecodeByte(byte(i)); r >= ' ' && r != '\uFFFD' && (r < 0x7F || r >= 0xA0) {
			o.texts[i] = string(r)
		}
	}
	if c == charmap.Windows1252 {
		o.texts[0xAD] = "-"
	}
}

// upper is Adobe's standard encoding from 161 on; a blank has no glyph.
const upper = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß"

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

// greek is the letters of the font Symbol, from A and from a on.
const (
	greekUpper = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
	greekLower = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
)

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

// named matches an entry of the encoding of a Type 1 font, which stands in its readable part.
var named = regexp.MustCompile(`dup\s+(\d{1,3})\s*/([A-Za-z0-9._]+)\s+put`)

// builtIn reads the encoding inside an embedded Type 1 font.
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
	for _, m := range named.FindAllSubmatch(head, 256) {
		if code, err := strconv.Atoi(string(m[1])); err == nil && code < 256 {
			o.texts[code] = glyphText(string(m[2]))
		}
	}
}
