// Package font maps the character codes in the strings of a PDF to text and widths (ISO 32000-1, 9.5 to 9.10): encodings,
// glyph names, CMaps and width tables. Of embedded font programs it reads only the character mappings, never the outlines.
package font

import (
	"strings"

	"quarry/internal/extract/pdf/syntax"
)

// Glyph is the glyph of a code.
type Glyph struct {
	Text  string  // "" if unknown
	Width float64 // in units of the font size
	Space bool    // whether word spacing applies, as it does to the one-byte code 32
}

// Font is a font of a file. It is not safe for concurrent use.
type Font struct {
	Bold bool
	// SpaceWidth is the width of a space in units of the font size.
	SpaceWidth float64

	composite bool                // Type 0
	codes     *cmap               // of composite fonts
	unicode   *cmap               // ToUnicode, may be nil
	direct    func([]byte) string // decodes codes that are text, of predefined CMaps; may be nil
	texts     [256]string         // by code, of simple fonts
	widths    map[int]float64     // by code of simple fonts, by CID of composite ones, in units of the font size
	fallback  float64             // width of other glyphs
	glyphs    map[int]string      // text by CID, from the embedded font of composite fonts
}

// Load reads a font dictionary.
func Load(f *syntax.File, d syntax.Dict) *Font {
	out := &Font{widths: map[int]float64{}}
	if s, ok := f.Get(d["ToUnicode"]).(*syntax.Stream); ok {
		out.unicode = readCMap(f, s, 0)
	}
	name := strings.ToLower(string(f.Name(d["BaseFont"])))
	if _, after, tagged := strings.Cut(name, "+"); tagged { // the prefix of a font subset
		name = after
	}
	if f.Name(d["Subtype"]) == "Type0" {
		out.loadComposite(f, d)
	} else {
		out.loadSimple(f, d, name)
	}
	out.Bold = out.Bold || strings.Contains(name, "bold") || strings.Contains(name, "black") || strings.Contains(name, "heavy")
	if out.SpaceWidth <= 0 || out.SpaceWidth > 1 {
		out.SpaceWidth = 0.25
	}
	return out
}

// descriptor reads the font descriptor, from which it guesses whether the font is bold.
func (o *Font) descriptor(f *syntax.File, d syntax.Dict) {
	o.Bold = f.Int(d["FontWeight"], 400) >= 600 || f.Int(d["StemV"], 0) >= 140 || f.Int(d["Flags"], 0)&(1<<18) != 0
}

// Glyphs calls yield with the glyphs of a string until it returns false.
func (o *Font) Glyphs(s string, yield func(Glyph) bool) {
	for len(s) > 0 {
		code, n := int(s[0]), 1
		if o.composite {
			code, n = o.codes.next(s)
		}
		raw := s[:n]
		s = s[n:]
		g := Glyph{Width: o.width(code, raw), Space: n == 1 && raw[0] == ' '}
		g.Text = o.text(code, raw)
		if !yield(g) {
			return
		}
	}
}

func (o *Font) width(code int, raw string) float64 {
	if o.composite && o.direct == nil {
		code = o.codes.cid(code, len(raw))
	}
	if w, ok := o.widths[code]; ok {
		return w
	}
	if o.direct != nil && len(raw) == 1 {
		return 0.5
	}
	return o.fallback
}

func (o *Font) text(code int, raw string) string {
	if o.unicode != nil {
		if t, ok := o.unicode.text(code, len(raw)); ok {
			return t
		}
	}
	switch {
	case o.direct != nil:
		return o.direct([]byte(raw))
	case o.composite:
		return o.glyphs[o.codes.cid(code, len(raw))]
	}
	return o.texts[code&0xFF]
}

func (o *Font) loadSimple(f *syntax.File, d syntax.Dict, name string) {
	desc := f.Dict(d["FontDescriptor"])
	o.descriptor(f, desc)
	scale := 0.001
	if m := f.Array(d["FontMatrix"]); f.Name(d["Subtype"]) == "Type3" && len(m) == 6 {
		if v, ok := syntax.Number(f.Get(m[0])); ok && v != 0 {
			scale = max(v, -v)
		}
	}
	o.encode(f, d, desc, name)
	widths := f.Array(d["Widths"])
	first := f.Int(d["FirstChar"], 0)
	for i, w := range widths[:min(len(widths), 256)] {
		if v, ok := syntax.Number(f.Get(w)); ok {
			o.widths[first+i] = v * scale
		}
	}
	o.fallback = float64(f.Int(desc["MissingWidth"], 0)) * scale
	if len(widths) == 0 {
		o.standardWidths(name)
	}
	o.SpaceWidth = o.widths[' ']
}

// loadComposite reads a Type 0 font, whose codes have one to four bytes.
func (o *Font) loadComposite(f *syntax.File, d syntax.Dict) {
	o.composite = true
	var inner syntax.Dict
	if all := f.Array(d["DescendantFonts"]); len(all) > 0 {
		inner = f.Dict(all[0])
	}
	desc := f.Dict(inner["FontDescriptor"])
	o.descriptor(f, desc)
	switch enc := f.Get(d["Encoding"]).(type) {
	case *syntax.Stream:
		o.codes = readCMap(f, enc, 0)
	case syntax.Name:
		o.codes, o.direct = predefined(string(enc))
	}
	if o.codes == nil {
		o.codes = identity()
	}
	o.fallback = float64(f.Int(inner["DW"], 1000)) / 1000
	o.cidWidths(f, f.Array(inner["W"]))
	if o.unicode == nil && o.direct == nil {
		o.glyphs = embeddedTexts(f, inner, desc)
	}
}

// cidWidths reads the array W of elements "c [w …]" and "first last w" (ISO 32000-1, 9.7.4.3).
func (o *Font) cidWidths(f *syntax.File, w syntax.Array) {
	for i := 0; i+1 < len(w) && f.Budget.Step(); {
		first := f.Int(w[i], -1)
		if run := f.Array(w[i+1]); run != nil {
			for j, v := range run {
				if n, ok := syntax.Number(f.Get(v)); ok && f.Budget.Keep(16) {
					o.widths[first+j] = n / 1000
				}
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		n, ok := syntax.Number(f.Get(w[i+2]))
		for c := first; ok && c <= min(f.Int(w[i+1], -1), 0xFFFF) && f.Budget.Keep(16); c++ {
			o.widths[c] = n / 1000
		}
		i += 3
	}
}
