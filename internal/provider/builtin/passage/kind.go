package passage

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// fewest is how many words a piece has that says something by itself.
	fewest = 4
	// fewInLabel and labelBytes bound a line without an end that is a label.
	fewInLabel = 6
	labelBytes = 60
)

// kind returns what a sentence is by its form. term is what it belongs to, "" for nothing.
func (c *cutter) kind(text, term string) Kind {
	ended, value := ends(text), strings.ContainsFunc(text, unicode.IsDigit) || key(text) != ""
	switch {
	case row(text):
		return Item
	case asks(text):
		return Question
	case c.words.sends(text):
		return Boilerplate
	case links.MatchString(text), pages.MatchString(text), menu(text), leader.MatchString(text), !ended && capitals(text):
		return Navigation
	case strings.HasSuffix(text, ":"):
		return Label
	case few(text, fewest-1) && (term == "" || !value && !ended):
		return Label
	case !ended && len(text) < labelBytes && few(text, fewInLabel) && !value:
		return Label
	}
	return Prose
}

// few reports whether a text has at most n words. Of scripts that put no blanks between words it knows nothing.
func few(text string, n int) bool {
	for range strings.FieldsSeq(text) {
		if n--; n < 0 {
			return false
		}
	}
	return !strings.ContainsFunc(text, unblanked)
}

// unblanked reports whether a letter is of a script without blanks between words.
func unblanked(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// last returns the last character of a text before closing quotes and brackets.
func last(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, `"'”’»)]`))
	return r
}

func asks(text string) bool { return strings.ContainsRune("?？؟՞", last(text)) }

func ends(text string) bool { return strings.ContainsRune(".!。！।۔…｡", last(text)) }

// rowPattern matches a row of a table as its parts are written: names with their values.
var rowPattern = regexp.MustCompile(`^[^:;\n]{1,60}: [^;\n]*; [^:;\n]{1,60}: `)

func row(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return rowPattern.MatchString(text) && balanced(name) // a bracket that opens in a name encloses a part of a sentence
}

// links matches a text that is addresses and nothing else, and pages one that is names of manual pages.
var (
	links = regexp.MustCompile(`^(?:[<(\[]?(?:https?://|mailto:|www\.)[^\s<>]+[>)\].,;]*\s*)+$`)
	pages = regexp.MustCompile(`^(?:<?[\w.+:-]+\(\d\w*\)>?[,.]?\s*(?:and\s+)?)+$`)
)

// leader matches a line of a table of contents: a title, dots and the number of its page.
var leader = regexp.MustCompile(`(?:\.\s?){5,}\s*\d*\s*$`)

// separators stand between the entries of a menu.
var separators = regexp.MustCompile(`\s[|»›→·•]\s`)

// menu reports whether a text is short entries between separators.
func menu(text string) bool {
	entries := separators.Split(text, -1)
	if len(entries) < 3 || ends(text) {
		return false
	}
	for _, e := range entries {
		if !few(e, 4) && !strings.ContainsFunc(e, unblanked) || len(e) > labelBytes || strings.ContainsFunc(e, unicode.IsDigit) {
			return false // a row of a table
		}
	}
	return true
}

// capitals reports whether a text without an end runs titles together: of eight words or more, three in four begin with a
// capital letter and have others.
func capitals(text string) bool {
	words, upper := 0, 0
	for w := range strings.FieldsSeq(text) {
		r, size := utf8.DecodeRuneInString(w)
		switch {
		case unicode.IsDigit(r):
			return false
		case !unicode.IsLetter(r):
			continue
		case unicode.IsUpper(r) && strings.ContainsFunc(w[size:], unicode.IsLower):
			upper++
		}
		words++
	}
	return words >= 8 && 4*upper >= 3*words
}

// pairs are the brackets and quotation marks that have an opening and a closing form.
var pairs = map[rune]rune{')': '(', ']': '[', '}': '{', '」': '「', '』': '『', '）': '（', '】': '【', '》': '《'}

// numbering matches the number of an item, whose bracket opens nowhere.
var numbering = regexp.MustCompile(`^\(?[0-9a-zA-Z]{1,3}\)\s`)

// balanced reports whether every bracket and quotation mark in a text is closed. Apostrophes, and marks of inches behind digits, are
// none.
func balanced(text string) bool {
	text = text[len(numbering.FindString(text)):]
	var open []rune
	straight, low, high, guillemets := 0, 0, 0, 0
	var before rune
	for _, r := range text {
		switch r {
		case '(', '[', '{', '「', '『', '（', '【', '《':
			open = append(open, r)
		case ')', ']', '}', '」', '』', '）', '】', '》':
			if n := len(open); n == 0 || open[n-1] != pairs[r] {
				return false
			}
			open = open[:len(open)-1]
		case '"':
			if !unicode.IsDigit(before) || straight%2 == 1 {
				straight++
			}
		case '„':
			low++
		case '“', '”':
			high++
		case '«', '»':
			guillemets++
		}
		before = r
	}
	if low > 0 {
		high -= low
	}
	return len(open) == 0 && straight%2 == 0 && guillemets%2 == 0 && (low > 0 && high == 0 || low == 0 && high%2 == 0)
}
