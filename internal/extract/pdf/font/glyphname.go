package font

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// glyphText returns the text of a glyph name, such as "A", "aacute", "f_i", "uni20AC", "u1F600" or "alpha.alt", according
// to the Adobe Glyph List Specification, or "" if it is unknown.
func glyphText(name string) string {
	name, _, _ = strings.Cut(name, ".")
	var out strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		out.WriteString(oneGlyph(part))
	}
	return out.String()
}

// oneGlyph returns the text of a component of a glyph name.
func oneGlyph(name string) string {
	if t, ok := glyphNames[name]; ok {
		return t
	}
	if len(name) == 1 {
		return name
	}
	if rest, ok := strings.CutPrefix(name, "uni"); ok && len(rest) >= 4 && len(rest)%4 == 0 {
		var out []rune
		for ; len(rest) > 0; rest = rest[4:] {
			v, err := strconv.ParseUint(rest[:4], 16, 16)
			if err != nil {
				return ""
			}
			out = append(out, rune(v))
		}
		return string(out)
	}
	if rest, ok := strings.CutPrefix(name, "u"); ok && len(rest) >= 4 && len(rest) <= 6 {
		if v, err := strconv.ParseUint(rest, 16, 21); err == nil {
			return string(rune(v))
		}
	}
	if rest, ok := strings.CutPrefix(name, "afii"); ok {
		return cyrillic(rest)
	}
	return accented(name)
}

// accents maps the suffixes of the names of accented letters to combining characters.
var accents = []struct{ suffix, mark string }{
	{"hungarumlaut", "\u030B"}, {"commaaccent", "\u0327"}, {"circumflex", "\u0302"}, {"dotaccent", "\u0307"}, {"dieresis", "\u0308"},
	{"cedilla", "\u0327"}, {"ogonek", "\u0328"}, {"macron", "\u0304"}, {"grave", "\u0300"}, {"acute", "\u0301"}, {"tilde", "\u0303"},
	{"caron", "\u030C"}, {"breve", "\u0306"}, {"tonos", "\u0301"}, {"ring", "\u030A"},
}

// accented returns the accented letter with this name.
func accented(name string) string {
	for _, a := range accents {
		if base, ok := strings.CutSuffix(name, a.suffix); ok && base != "" {
			letter := base
			if len(base) > 1 {
				if letter = glyphNames[base]; letter == "" {
					continue
				}
			}
			return norm.NFC.String(letter + a.mark)
		}
	}
	return ""
}

// cyrillic returns the letter named afii followed by number. Adobe numbers the capital letters from 10017 to 10049 and the
// small ones from 10065 to 10097, with Io as the seventh letter, unlike in Unicode.
func cyrillic(number string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return ""
	}
	for _, from := range []int{10017, 10065} {
		i := n - from
		letter, io := 'А', 'Ё'
		if from == 10065 {
			letter, io = 'а', 'ё'
		}
		switch {
		case i < 0 || i > 32:
		case i == 6:
			return string(io)
		case i > 6:
			return string(letter + rune(i) - 1)
		default:
			return string(letter + rune(i))
		}
	}
	return map[int]string{61352: "№", 208: "―", 10145: "Ў", 10193: "ў", 10050: "Ґ", 10098: "ґ", 10053: "Є", 10101: "є", 10055: "І", 10103: "і", 10056: "Ї", 10104: "ї"}[n]
}

// glyphNames maps the glyph names whose text can't be computed, as far as they are common, to their text.
var glyphNames = pairs(`space:\u0020 exclam:! quotedbl:" numbersign:# dollar:$ percent:% ampersand:& quotesingle:' parenleft:( parenright:)
asterisk:* plus:+ comma:, hyphen:- period:. slash:/ zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 colon:: semicolon:;
less:< equal:= greater:> question:? at:@ bracketleft:[ backslash:\u005C bracketright:] asciicircum:^ underscore:_ grave:\u0060 braceleft:{ bar:|
braceright:} asciitilde:~ nbspace:\u0020 nonbreakingspace:\u0020 exclamdown:¡ cent:¢ sterling:£ currency:¤ yen:¥ brokenbar:¦ section:§ dieresis:¨
copyright:© ordfeminine:ª guillemotleft:« guillemetleft:« logicalnot:¬ sfthyphen:- softhyphen:- registered:® macron:¯ degree:° plusminus:± acute:´ mu:µ paragraph:¶
periodcentered:· middot:· cedilla:¸ ordmasculine:º guillemotright:» guillemetright:» onequarter:¼ onehalf:½ threequarters:¾ questiondown:¿
onesuperior:¹ twosuperior:² threesuperior:³ AE:Æ Eth:Ð multiply:× Oslash:Ø Thorn:Þ germandbls:ß ae:æ eth:ð divide:÷ oslash:ø thorn:þ
dotlessi:ı dotlessj:ȷ Dcroat:Đ dcroat:đ Hbar:Ħ hbar:ħ IJ:Ĳ ij:ĳ kgreenlandic:ĸ Ldot:Ŀ ldot:ŀ Lslash:Ł lslash:ł napostrophe:ŉ Eng:Ŋ eng:ŋ OE:Œ oe:œ
Tbar:Ŧ tbar:ŧ longs:ſ florin:ƒ circumflex:ˆ caron:ˇ breve:˘ dotaccent:˙ ring:˚ ogonek:˛ tilde:˜ hungarumlaut:˝
endash:– emdash:— quoteleft:‘ quoteright:’ quotesinglbase:‚ quotedblleft:“ quotedblright:” quotedblbase:„ dagger:† daggerdbl:‡ bullet:• ellipsis:…
perthousand:‰ guilsinglleft:‹ guilsinglright:› fraction:⁄ Euro:€ euro:€ trademark:™ minus:− figuredash:‒ horizontalbar:― minute:′ second:″
fi:fi fl:fl ff:ff ffi:ffi ffl:ffl st:st ft:ft ct:ct
Alpha:Α Beta:Β Gamma:Γ Delta:Δ Epsilon:Ε Zeta:Ζ Eta:Η Theta:Θ Iota:Ι Kappa:Κ Lambda:Λ Mu:Μ Nu:Ν Xi:Ξ Omicron:Ο Pi:Π Rho:Ρ Sigma:Σ Tau:Τ Upsilon:Υ
Phi:Φ Chi:Χ Psi:Ψ Omega:Ω alpha:α beta:β gamma:γ delta:δ epsilon:ε zeta:ζ eta:η theta:θ iota:ι kappa:κ lambda:λ nu:ν xi:ξ omicron:ο pi:π rho:ρ
sigma:σ sigma1:ς tau:τ upsilon:υ phi:φ chi:χ psi:ψ omega:ω theta1:ϑ phi1:ϕ omega1:ϖ epsilon1:ε
arrowleft:← arrowright:→ arrowup:↑ arrowdown:↓ arrowboth:↔ arrowdblright:⇒ arrowdblleft:⇐ arrowdblboth:⇔ infinity:∞ partialdiff:∂ product:∏
summation:∑ radical:√ integral:∫ approxequal:≈ notequal:≠ lessequal:≤ greaterequal:≥ lozenge:◊ element:∈ notelement:∉ emptyset:∅ gradient:∇
proportional:∝ angle:∠ logicaland:∧ logicalor:∨ intersection:∩ union:∪ similar:∼ congruent:≅ equivalence:≡ propersubset:⊂ propersuperset:⊃
reflexsubset:⊆ universal:∀ existential:∃ asteriskmath:∗ bulletoperator:∙ dotmath:⋅ perpendicular:⊥ circleplus:⊕ circlemultiply:⊗ weierstrass:℘
Ifraktur:ℑ Rfraktur:ℜ aleph:ℵ prime:′ check:✓ checkmark:✓ square:□ blacksquare:■ circle:○ blackcircle:● triangle:△ filledbox:■ openbullet:◦
numero:№ estimated:℮ oneeighth:⅛ threeeighths:⅜ fiveeighths:⅝ seveneighths:⅞ onethird:⅓ twothirds:⅔ zerosuperior:⁰ foursuperior:⁴`)

// pairs parses a list of name:text, where the text may be \u and a hexadecimal code point.
func pairs(list string) map[string]string {
	out := map[string]string{}
	for item := range strings.FieldsSeq(list) {
		name, text, _ := strings.Cut(item, ":")
		if code, ok := strings.CutPrefix(text, `\u`); ok {
			if v, err := strconv.ParseUint(code, 16, 16); err == nil {
				text = string(rune(v))
			}
		}
		out[name] = text
	}
	return out
}
