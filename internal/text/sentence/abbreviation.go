package sentence

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joined reports whether the boundary that UAX 29 puts between a and b is false, so that b continues the sentence a.
func joined(text string, a, b Span) bool {
	left, right := text[a.Start:a.End], text[b.Start:b.End]
	if !hasWord(left) {
		return true // an ellipsis or a bullet belongs to what follows
	}
	next, _ := utf8.DecodeRuneInString(right)
	if mark := left[len(left)-1]; mark == '?' || mark == '!' {
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(left, "?!"))
		if a.End == b.Start && letter(next) || unicode.IsSpace(before) && unicode.IsLower(next) {
			return true // a placeholder "?1", an address with a query, or the mark itself is spoken of
		}
	}
	body := strings.TrimRightFunc(left, closing)
	if len(body) < len(left) && unicode.IsLower(next) {
		return true // "Why?" he asked.
	}
	if body != left || !strings.HasSuffix(left, ".") || strings.HasSuffix(left, "..") {
		return false
	}
	before, last := lastWords(left[:len(left)-1])
	follow := firstWord(right)
	switch {
	case last == "":
		return false
	case before == "" && numbering(last):
		return true
	case titles[strings.ToLower(last)]:
		return true
	case last == "No" || beforeNumbers[strings.ToLower(last)]:
		return unicode.IsDigit(next)
	case ordinal(before, last):
		return !starters[follow]
	case strings.Contains(last, "."):
		return acronym(last) && !starters[follow]
	}
	return initial(before, last) && !starters[follow] && unicode.IsUpper(next)
}

// letter reports whether r is a letter or a digit of a script that puts blanks between words.
func letter(r rune) bool {
	return unicode.IsDigit(r) || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// lowercase matches the start of a sentence that begins with a name in lower case, and the verb of which it is the subject.
var lowercase = regexp.MustCompile(`^\s+(\p{Ll}[\w-]*(?:\(\d?\))?)(\s+(?:is|are|was|will|does|has|can|may|must|should|uses|supports|provides)\b)?`)

// lowered cuts sentences that go on with such a name: UAX 29 takes the full stop before it for that of an abbreviation. Spans before
// first are left alone.
func lowered(all []Span, first int, text string) []Span {
	var out []Span // nil while nothing is cut
	for i := first; i < len(all); i++ {
		s := all[i]
		for at := s.Start; ; {
			n := strings.IndexByte(text[at:s.End], '.')
			if n < 0 {
				break
			}
			if at += n + 1; !nameBehind(text[s.Start:s.End], at-s.Start) {
				continue
			}
			if out == nil {
				out = append(out, all[first:i]...)
			}
			out = append(out, Span{s.Start, at})
			s.Start = trim(text, Span{at, s.End}).Start
		}
		if out != nil {
			out = append(out, s)
		}
	}
	if out == nil {
		return all
	}
	return append(all[:first], out...)
}

// Bounds of what is looked at on the two sides of a full stop.
const wordBefore, wordsBehind = 40, 80

// nameBehind reports whether the full stop before at ends a sentence and a name in lower case begins another: behind a bracket that
// closes no abbreviation, before a name that is no word, or before the subject of a verb.
func nameBehind(text string, at int) bool {
	if at == len(text) || !unicode.IsSpace(rune(text[at])) {
		return false
	}
	m := lowercase.FindStringSubmatch(text[at:min(len(text), at+wordsBehind)])
	if m == nil {
		return false
	}
	before := text[max(0, at-1-wordBefore) : at-1]
	bare := strings.TrimRight(before, ")]")
	word := bare[strings.LastIndexFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
	if utf8.RuneCountInString(word) < 4 && !endings[word] || unicode.IsUpper([]rune(word)[0]) && bare == before || abbreviated(word) {
		return false
	}
	odd := strings.ContainsAny(m[1], "_(") || strings.ContainsFunc(m[1], unicode.IsDigit) || strings.ContainsFunc(m[1], unicode.IsUpper)
	return len(bare) < len(before) || odd || m[2] != ""
}

// abbreviated reports whether a word of four letters or more is known as an abbreviation.
func abbreviated(word string) bool {
	return titles[word] || beforeNumbers[word] || abbreviations[word]
}

// endings are short words that end sentences and shorten none.
var endings = set("on in up out off it all one too so use run set now key app")

var abbreviations = set("approx incl excl resp misc dept govt assoc univ corp evtl inkl exkl ungef einschl aprox suiv chap spec ggfs bzgl usw vgl abschn")

// hasWord reports whether s holds a letter or number.
func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func closing(r rune) bool { return strings.ContainsRune(`"'”’»)]`, r) }

// lastWords returns the last two words of s; brackets and quotes are removed from the start of the last.
func lastWords(s string) (before, last string) {
	cut := strings.LastIndexFunc(s, unicode.IsSpace)
	last = strings.TrimLeft(s[cut+1:], `("'“‘«[`)
	if cut < 0 {
		return "", last
	}
	s = strings.TrimRightFunc(s[:cut], unicode.IsSpace)
	return s[strings.LastIndexFunc(s, unicode.IsSpace)+1:], last
}

func firstWord(s string) string {
	s = strings.TrimLeft(s, `("'“‘«[`)
	if cut := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); cut >= 0 {
		return s[:cut]
	}
	return s
}

// numbering reports whether w is the number of a list item or heading ("1", "2.3", "IV", "b").
func numbering(w string) bool {
	if len(w) == 1 {
		return true
	}
	digits := strings.IndexFunc(w, func(r rune) bool { return r != '.' && !unicode.IsDigit(r) }) < 0
	roman := len(w) <= 5 && strings.Trim(w, "IVX") == ""
	return len(w) <= 6 && (digits || roman)
}

// ordinal reports whether w is a German or Nordic ordinal number ("am 3. Oktober"), judging by the word before it.
func ordinal(before, w string) bool {
	if len(w) > 2 || strings.IndexFunc(w, func(r rune) bool { return r < '0' || r > '9' }) >= 0 {
		return false
	}
	return ordinalLead[strings.ToLower(before)]
}

// acronym reports whether w consists of single letters separated by full stops ("U.S", "e.g", "z.B").
func acronym(w string) bool {
	for p := range strings.SplitSeq(w, ".") {
		if utf8.RuneCountInString(p) != 1 {
			return false
		}
	}
	return true
}

// initial reports whether w is the initial of a given name: a capital letter after another name or initial, at the start,
// or after a word such as "and".
func initial(before, w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	if size != len(w) || !unicode.IsUpper(r) {
		return false
	}
	switch before {
	case "", "and", "by", "und", "et", "y", "&", "of", "von":
		return true
	}
	first, _ := utf8.DecodeRuneInString(before)
	return unicode.IsUpper(first) || strings.HasSuffix(before, ",")
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var (
	// titles are titles and other abbreviations that never end a sentence.
	titles = set(`dr mr mrs ms prof messrs rev hon gen col capt lt sgt st mt ft vs cf viz approx resp e.g i.e
		bzw z.b d.h u.a vgl ca evtl ggf usw.a hr fr sr sra srta dra ing mme mlle m.sc ph.d al.e incl excl`)
	// beforeNumbers are abbreviations that do not end a sentence if a number follows.
	beforeNumbers = set(`jan feb mar apr jun jul aug sep sept oct nov dec fig figs eq eqs sec secs ch chap vol vols
		pp p nos nr art abs ref refs tab ver v fl c par pt ed`)
	// ordinalLead are the words that precede a German ordinal number.
	ordinalLead = set(`am im dem den der des vom zum zur ab bis seit die das dritten beim`)
	// starters are words that begin a sentence far more often than they continue a name.
	starters = set(`The A An It Its This That These Those He She They We You I In On At By For With From To If When While
		However There Then Here As After Before But And Or So Some Many Most All No Not What Who Why How Where Such Our
		Their His Her My Your One Since Because Although Der Die Das Ein Eine Es Er Sie Wir Ich El La Los Las Le Les Un Une Il Elle`)
)
