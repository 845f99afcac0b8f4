package metadata

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// pattern is a pattern of LIKE, split at its % signs: the first piece begins a text, the last one ends it, and those
// between follow each other in it. A pattern without % has one piece.
type pattern []piece

// piece is a part of a pattern; anyRune in it stands for _.
type piece struct {
	runes []rune
	plain string // the piece as text, if it has no _
	wild  bool   // it has one
}

// anyRune is not a character.
const anyRune = -1

// parsePattern parses a pattern. A backslash takes the special meaning from the character after it; ok is false if there
// is none.
func parsePattern(s string) (out pattern, ok bool) {
	var current []rune
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			current, escaped = append(current, r), false
		case r == '\\':
			escaped = true
		case r == '%':
			out, current = append(out, newPiece(current)), nil
		case r == '_':
			current = append(current, anyRune)
		default:
			current = append(current, r)
		}
	}
	return append(out, newPiece(current)), !escaped
}

func newPiece(runes []rune) piece {
	p := piece{runes: runes, wild: slices.Contains(runes, anyRune)}
	if !p.wild {
		p.plain = string(runes)
	}
	return p
}

func (p pattern) matches(s string) bool {
	rest, ok := p[0].begins(s)
	if len(p) == 1 {
		return ok && rest == ""
	}
	if !ok {
		return false
	}
	last := p[len(p)-1]
	for _, piece := range p[1 : len(p)-1] {
		if rest, ok = piece.first(rest); !ok {
			return false
		}
	}
	return last.ends(rest)
}

// begins reports whether s begins with the piece, and returns what follows.
func (p piece) begins(s string) (rest string, ok bool) {
	if !p.wild {
		return strings.CutPrefix(s, p.plain)
	}
	for _, want := range p.runes {
		r, n := utf8.DecodeRuneInString(s)
		if n == 0 || want != anyRune && r != want {
			return "", false
		}
		s = s[n:]
	}
	return s, true
}

// first returns what follows the first place in s where the piece stands.
func (p piece) first(s string) (rest string, ok bool) {
	if !p.wild {
		_, rest, ok = strings.Cut(s, p.plain)
		return rest, ok
	}
	for ; s != ""; s = s[width(s):] {
		if rest, ok = p.begins(s); ok {
			return rest, true
		}
	}
	return "", false
}

// ends reports whether s ends with the piece.
func (p piece) ends(s string) bool {
	if !p.wild {
		return strings.HasSuffix(s, p.plain)
	}
	at := len(s)
	for range p.runes {
		_, n := utf8.DecodeLastRuneInString(s[:at])
		if n == 0 {
			return false
		}
		at -= n
	}
	_, ok := p.begins(s[at:])
	return ok
}

// width returns the size of the first character of s in bytes.
func width(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
