package account

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the form by which names are compared: two names with the same form are the same name. Compatibility
// variants, case and runs of spaces make no difference, so that nobody can register a look-alike of another user's name
// and a path may spell a name in any form.
func Fold(name string) string {
	for range 4 { // each step may enable the other; two rounds are enough for Unicode 15
		next := cases.Fold().String(norm.NFKC.String(name))
		if next == name {
			break
		}
		name = next
	}
	return strings.Join(strings.Fields(name), " ")
}

// tidy returns a name in composed form (NFC), in which it is stored: keyboards differ in how they send accents.
func tidy(name string) string { return norm.NFC.String(name) }

// nameFault returns what is wrong with the name of a user or group, or "".
func nameFault(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "must be valid UTF-8"
	case name == "." || name == "..":
		return "must not be . or .., which no path can hold"
	case name != strings.TrimSpace(name):
		return "must not begin or end with a space"
	case Fold(name) == "":
		return "must not be empty"
	}
	for i, r := range name {
		if i == 0 && unicode.IsMark(r) {
			return "must not begin with a mark that joins the character before"
		}
		if invisible(r) {
			return "must not hold characters that are not seen, such as controls, joiners and marks of direction"
		}
	}
	return ""
}

// blank are characters that look like nothing although Unicode does not class them as invisible: fillers, variation
// selectors and the blank Braille pattern.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, {Lo: 0x115F, Hi: 0x1160, Stride: 1}, {Lo: 0x17B4, Hi: 0x17B5, Stride: 1},
		{Lo: 0x180B, Hi: 0x180F, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1}, {Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, {Lo: 0xFFF0, Hi: 0xFFFF, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1}},
}

// invisible reports whether a character is invisible or has no fixed meaning: controls, format characters (among them
// direction marks and zero-width joiners), line separators, private use, unassigned code points.
func invisible(r rune) bool {
	if r == ' ' {
		return false
	}
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, blank)
}

// emailFault returns what is wrong with an e-mail address, or "". Mail servers decide what a valid local part is, so
// this only requires one @ between two texts without spaces.
func emailFault(email string) string {
	local, host, ok := strings.Cut(email, "@")
	switch {
	case email == "":
		return "is required"
	case !ok || local == "" || host == "" || strings.ContainsAny(host, "@<>()[]\\,;:\"") || strings.ContainsAny(local, "<>()[]\\,;:\""):
		return "must be an e-mail address such as ann@example.test"
	case strings.ContainsFunc(email, unicode.IsSpace):
		return "must not hold spaces"
	case utf8.RuneCountInString(email) > maxEmail:
		return "must be at most 254 characters"
	}
	return nameFault(email)
}

// maxEmail is the longest address that SMTP allows (RFC 5321, 4.5.3.1.3, less the brackets).
const maxEmail = 254
