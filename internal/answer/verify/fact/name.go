package fact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name is a word that is written like the name of a person, place or product.
type Name struct {
	Start, End int
	Text       string // lower case, without the 's of a possessive
	Word       int    // its place among the words
}

// Names returns the names of a sentence: words with a capital that is not due to their place, and those with several capitals,
// such as "IL-6". common reports whether a word is an everyday one, so that the first word of a sentence is not taken for a
// name; German writes every noun with a capital, so there only words that are not common count. Texts in capitals or title
// case have no names.
func Names(text string, ws []Word, lang string, common func(lower string) bool) []Name {
	upper, letters := 0, 0
	for _, w := range ws {
		if r, _ := utf8.DecodeRuneInString(w.Text); unicode.IsLetter(r) && len(w.Text) > 3 {
			letters++
			if w.Upper {
				upper++
			}
		}
	}
	if lang != "deu" && letters > 3 && upper*5 > letters*4 {
		return nil // a heading
	}
	var out []Name
	for i, w := range ws {
		lower := strings.TrimSuffix(strings.TrimSuffix(w.Text, "'s"), "'")
		if !w.Upper || months[w.Text] != 0 || utf8.RuneCountInString(lower) < 2 {
			continue
		}
		if strings.HasPrefix(w.Text, "i'") || pronouns[lower] {
			continue
		}
		if (w.First || lang == "deu") && !w.Caps && common(lower) {
			continue
		}
		if w.First && !w.Caps && lang != "eng" && lang != "deu" && !(i+1 < len(ws) && ws[i+1].Upper) {
			continue // there is no table of common words
		}
		if w.Caps && spelledOut(lower, ws) || i > 0 && units[lower] != "" && measured(ws[i-1].Text) {
			continue
		}
		out = append(out, Name{Start: w.Start, End: w.Start + nameBytes(w), Text: lower, Word: i})
	}
	return out
}

// measured reports whether a unit may follow a word: "5", "degrees".
func measured(before string) bool {
	figures, _ := digits(before)
	_, written := cardinals[before]
	return figures != "" || written || degrees[before]
}

// spelledOut reports whether the words contain what an abbreviation stands for: "chronic kidney disease (CKD)".
func spelledOut(name string, ws []Word) bool {
	n := utf8.RuneCountInString(name)
	for i := 0; n > 1 && i+n <= len(ws); i++ {
		at := 0
		for j, letter := range []rune(name) {
			if r, _ := utf8.DecodeRuneInString(ws[i+j].Text); r == letter {
				at++
			}
		}
		if at == n {
			return true
		}
	}
	return false
}

func nameBytes(w Word) int {
	if name, ok := strings.CutSuffix(w.Text, "'s"); ok {
		return len(name)
	}
	return w.End - w.Start
}

var pronouns = set(`i sie ihr ihre ihrem ihren ihrer ihnen you vous usted ustedes вы вам вас`)

// HasName reports whether the words hold the name: the word itself, another form of it, or the words that an abbreviation stands
// for.
func HasName(name string, ws []Word) bool {
	for i, w := range ws {
		t := strings.TrimSuffix(w.Text, "'s")
		if t == name || akin(t, name) || initials(name, ws, i) {
			return true
		}
	}
	return false
}

// akin reports whether two words differ only in their endings: adjectives, plurals, cases.
func akin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	common := 0
	for common < len(a) && a[common] == b[common] {
		common++
	}
	return common >= 4 && len(a)-common <= 2 && len(b)-common <= 3 && common*3 >= 2*len(b)
}

// initials reports whether the words from i on have the letters of an abbreviation: "who" of World Health Organization.
func initials(name string, ws []Word, i int) bool {
	n := utf8.RuneCountInString(name)
	if n < 2 || n > 6 {
		return false
	}
	at := i
	for _, want := range name {
		for at < len(ws) && at > i && !ws[at].Upper && len(ws[at].Text) <= 3 {
			at++ // of, the, and
		}
		if at >= len(ws) || !ws[at].Upper {
			return false
		}
		if got, _ := utf8.DecodeRuneInString(ws[at].Text); got != want {
			return false
		}
		at++
	}
	return true
}
