package builtin

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"quarry/internal/text/token"
)

// oneOf picks a value of an enumeration: the one that what was found names first, else one that stands for not knowing,
// else the first.
func (f *filler) oneOf(list []any, s map[string]any, p place) any {
	for _, c := range f.best(p) {
		for _, x := range list {
			if named(c.text, x) {
				return x
			}
		}
	}
	for _, x := range list {
		if f.mentioned(x) {
			return x
		}
	}
	if d, ok := s["default"]; ok {
		return d
	}
	if !p.must {
		return absent{}
	}
	for _, x := range list {
		if text, ok := x.(string); x == nil || ok && slices.Contains([]string{"unknown", "none", "other", "n/a", "unclear", "neutral"}, strings.ToLower(text)) {
			return x
		}
	}
	return list[0]
}

// mentioned reports whether the question or a sentence of the answer names a value.
func (f *filler) mentioned(x any) bool {
	if named(f.said, x) {
		return true
	}
	return slices.ContainsFunc(f.answer, func(c *candidate) bool { return named(c.text, x) })
}

// named reports whether text holds a value as whole words.
func named(text string, x any) bool {
	value := fmt.Sprint(x)
	if s, ok := x.(string); ok {
		value = strings.Join(nameWords(s), " ")
	}
	if value == "" {
		return false
	}
	return strings.Contains(" "+spaced(text)+" ", " "+spaced(value)+" ")
}

// spaced is text in lower-case words with single blanks.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}

var denials = regexp.MustCompile(`(?i)\b(?:not|no|never|none|neither|nor|without|cannot|\w+n't|nicht|kein\w*|nie|ohne|ne|pas|jamais|sans|nunca|sin|não|non|senza|niet|geen)\b`)

// boolean is whether the sentence that says most about a member affirms it.
func (f *filler) boolean(p place) any {
	best := f.best(p)
	if len(best) == 0 {
		if p.must {
			return false
		}
		return absent{}
	}
	return !denials.MatchString(best[0].text)
}

var (
	figures = regexp.MustCompile(`[-−]?\d+(?:[,.\x{202f} ]\d{3})*(?:[.,]\d+)?`)
	numbers = map[string]float64{
		"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "hundred": 100, "thousand": 1000, "million": 1e6,
	}
)

// number is the first number within bounds in the sentences that say most about a member.
func (f *filler) number(s map[string]any, p place, whole bool) any {
	b := boundsOf(s, whole)
	year := slices.Contains(nameWords(p.name), "year")
	for _, c := range f.best(p) {
		for _, x := range figuresIn(c.text) {
			if b.admit(x) && (!year || x >= 1000 && x < 3000) {
				return b.typed(x)
			}
		}
	}
	if !p.must {
		return absent{}
	}
	return b.typed(b.nearest(0))
}

// figuresIn gives the numbers in a text in order, in figures first.
func figuresIn(text string) []float64 {
	var out []float64
	for _, m := range figures.FindAllString(text, -1) {
		if x, ok := parseFigure(m); ok {
			out = append(out, x)
		}
	}
	for w := range strings.FieldsSeq(text) {
		if x, ok := numbers[plainWord(w)]; ok {
			out = append(out, x)
		}
	}
	return out
}

// parseFigure reads "1,280", "1.280", "3.7" and "3,7": a separator with three figures behind it stands for thousands
// unless it is a single point, as in "1.280" by itself, which English writes for a fraction.
func parseFigure(m string) (float64, bool) {
	m = strings.NewReplacer("−", "-", " ", "", "\u202f", "").Replace(m)
	if strings.Contains(m, ",") && (strings.Contains(m, ".") || len(m)-strings.LastIndex(m, ",") == 4) {
		m = strings.ReplaceAll(m, ",", "")
	}
	m = strings.Replace(m, ",", ".", 1)
	if strings.Count(m, ".") > 1 {
		m = strings.ReplaceAll(m, ".", "")
	}
	x, err := strconv.ParseFloat(m, 64)
	return x, err == nil
}

// bounds are what a schema admits of numbers.
type bounds struct {
	low, high, step float64
	whole           bool
}

func boundsOf(s map[string]any, whole bool) bounds {
	b := bounds{low: math.Inf(-1), high: math.Inf(1), whole: whole}
	if x, ok := s["minimum"].(float64); ok {
		b.low = x
	}
	if x, ok := s["maximum"].(float64); ok {
		b.high = x
	}
	nudge := 1.0
	if !whole {
		nudge = 1e-9
	}
	if x, ok := s["exclusiveMinimum"].(float64); ok {
		b.low = max(b.low, x+nudge*max(1, math.Abs(x)*1e-6))
	}
	if x, ok := s["exclusiveMaximum"].(float64); ok {
		b.high = min(b.high, x-nudge*max(1, math.Abs(x)*1e-6))
	}
	if x, ok := s["multipleOf"].(float64); ok && x > 0 {
		b.step = x
	}
	if whole {
		b.low, b.high = math.Ceil(b.low), math.Floor(b.high)
	}
	return b
}

func (b bounds) admit(x float64) bool {
	if b.whole && x != math.Trunc(x) {
		return false
	}
	if b.step > 0 && math.Mod(x, b.step) != 0 {
		return false
	}
	return x >= b.low && x <= b.high
}

// nearest is the admitted number next to x.
func (b bounds) nearest(x float64) float64 {
	x = min(max(x, b.low), b.high)
	if b.step > 0 {
		up := math.Ceil(x/b.step) * b.step
		if up > b.high {
			up = math.Floor(x/b.step) * b.step
		}
		x = up
	}
	return x
}

func (b bounds) typed(x float64) any {
	if b.whole && math.Abs(x) < 1<<53 {
		return int64(x)
	}
	return x
}

// text is the passage's own words about a member: what stands behind its name and a colon, what has the form of its
// format or pattern, a name where a name is asked for, else a sentence.
func (f *filler) text(s map[string]any, p place) any {
	if wholeAnswer(p) && len(f.answer) > 0 {
		if v, ok := f.fit(s, f.answerText(), p); ok {
			return v
		}
	}
	best := f.best(p)
	for _, c := range best {
		if v, ok := f.fit(s, labelled(c.text, p), p); ok {
			return v
		}
	}
	for _, c := range best {
		if v, ok := f.fit(s, c.text, p); ok {
			return v
		}
	}
	if !p.must {
		return absent{}
	}
	if f.needed && s["format"] == nil && s["pattern"] == nil {
		if v, ok := f.fit(s, f.said, p); ok {
			return v
		}
	}
	return f.neutral(s)
}

// wholeAnswer reports whether a member is to hold the answer to the question.
func wholeAnswer(p place) bool {
	for _, w := range nameWords(p.name) {
		switch w {
		case "answer", "response", "summary", "reply", "explanation", "reasoning", "text", "content", "result":
			return true
		}
	}
	return false
}

// labelled is what stands behind "name:" in text, "" where nothing does.
func labelled(text string, p place) string {
	name := strings.Join(nameWords(p.name), `[ _-]?`)
	if name == "" {
		return ""
	}
	label, err := regexp.Compile(`(?im)(?:^|[^\p{L}])` + regexpWords(name) + `\s*[:=：]\s*([^\n;|]+)`)
	if err != nil {
		return ""
	}
	m := label.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.TrimRight(strings.TrimSpace(m[1]), ".,")
}

// regexpWords keeps the pattern between words as it is.
func regexpWords(name string) string {
	parts := strings.Split(name, `[ _-]?`)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return strings.Join(parts, `[ _-]?`)
}

// fit makes text a value of a string schema, or reports that it can't.
func (f *filler) fit(s map[string]any, text string, p place) (string, bool) {
	if text == "" {
		return "", false
	}
	if format, ok := s["format"].(string); ok {
		if find, known := formats[format]; known {
			if text = find(text); text == "" {
				return "", false
			}
		}
	} else if isName(p) {
		if n := properName(text, p.words()+" "+f.said); n != "" {
			text = n
		}
	}
	re, ok := f.pattern(s)
	if !ok || re != nil && !re.MatchString(text) {
		return "", false
	}
	if re != nil {
		if m := re.FindString(text); m != "" && re.MatchString(m) {
			text = m
		}
	}
	if most, ok := s["maxLength"].(float64); ok {
		text = cutRunes(text, int(most))
	}
	if least, ok := s["minLength"].(float64); ok && utf8.RuneCountInString(text) < int(least) {
		return "", false
	}
	return text, text != "" && (re == nil || re.MatchString(text))
}

// pattern gives the pattern of a schema, nil for none, or reports that it can't be read.
func (f *filler) pattern(s map[string]any) (*regexp.Regexp, bool) {
	text, ok := s["pattern"].(string)
	if !ok {
		return nil, true
	}
	re, ok := f.patterns[text]
	if !ok {
		re, _ = regexp.Compile(text) // one that can't be read is kept as nil
		if f.patterns == nil {
			f.patterns = map[string]*regexp.Regexp{}
		}
		f.patterns[text] = re
	}
	return re, re != nil
}

// cutRunes shortens text to n characters at most, at a blank where there is one.
func cutRunes(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := string([]rune(text)[:max(0, n)])
	if i := strings.LastIndexFunc(cut, unicode.IsSpace); i > len(cut)/2 {
		return strings.TrimSpace(cut[:i])
	}
	return cut
}

var nameNouns = []string{"name", "person", "author", "city", "country", "company", "organization", "organisation", "place", "location", "president", "designer", "director", "founder", "ceo", "owner", "winner", "manager", "capital", "artist", "inventor"}

// isName reports whether a member is to hold a name.
func isName(p place) bool {
	ws := nameWords(p.name)
	return len(ws) > 0 && slices.Contains(nameNouns, ws[len(ws)-1])
}

// properName is the first run of capitalised words in text that are not in asked, past the first word of the sentence
// where it can be.
func properName(text, asked string) string {
	known := map[string]bool{}
	for _, t := range token.Analyze(asked, "").Words {
		known[t.Text] = true
	}
	fields := strings.Fields(text)
	best := ""
	for i := 0; i < len(fields); i++ {
		from := i
		for i < len(fields) {
			r, _ := utf8.DecodeRuneInString(strings.TrimLeft(fields[i], `"'“(`))
			if !unicode.IsUpper(r) || known[plainWord(fields[i])] {
				break
			}
			i++
			if strings.ContainsAny(fields[i-1][len(fields[i-1])-1:], ",;.") {
				break
			}
		}
		if i > from {
			run := strings.Trim(strings.Join(fields[from:i], " "), `.,;:"'“”()`)
			if from > 0 || i-from > 1 {
				return run
			}
			if best == "" {
				best = run
			}
			i--
		}
	}
	if len(fields) <= 4 {
		return best
	}
	return ""
}

// formats find what has a format in a text; "" where nothing does.
var formats = map[string]func(string) string{
	"date":      findDate,
	"date-time": func(s string) string { return behind(findDate(s), "T00:00:00Z") },
	"time":      func(s string) string { return behind(clock.FindString(s), ":00Z") },
	"email":     regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`).FindString,
	"uri":       func(s string) string { return strings.TrimRight(address.FindString(s), ".,;") },
	"url":       func(s string) string { return strings.TrimRight(address.FindString(s), ".,;") },
	"uuid":      regexp.MustCompile(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`).FindString,
	"ipv4":      regexp.MustCompile(`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`).FindString,
}

var (
	clock   = regexp.MustCompile(`\b(?:[01]\d|2[0-3]):[0-5]\d\b`)
	address = regexp.MustCompile(`https?://[^\s"<>)\]]+`)
	days    = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2} \p{L}+,? \d{4}\b|\b\p{L}+ \d{1,2}, \d{4}\b|\b\d{1,2}\.\d{1,2}\.\d{4}\b`)
	layouts = []string{"2006-01-02", "2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006", "2.1.2006", "2 January, 2006"}
)

func behind(found, rest string) string {
	if found == "" {
		return ""
	}
	return found + rest
}

// findDate gives the first date in a text, as the format wants it.
func findDate(text string) string {
	for _, m := range days.FindAllString(text, -1) {
		for _, l := range layouts {
			if t, err := time.Parse(l, m); err == nil {
				return t.Format("2006-01-02")
			}
		}
	}
	return ""
}

// neutrals are values of a format that say nothing.
var neutrals = map[string]string{
	"date": "0001-01-01", "date-time": "0001-01-01T00:00:00Z", "time": "00:00:00Z", "email": "unknown@example.invalid", "uri": "about:blank",
	"url": "about:blank", "uuid": "00000000-0000-0000-0000-000000000000", "ipv4": "0.0.0.0", "ipv6": "::", "hostname": "invalid", "duration": "PT0S",
}

// neutral is a valid value that says nothing.
func (f *filler) neutral(s map[string]any) string {
	if format, ok := s["format"].(string); ok && neutrals[format] != "" {
		return neutrals[format]
	}
	if pattern, ok := s["pattern"].(string); ok {
		if text, ok := shortest(pattern); ok {
			return text
		}
	}
	if least, ok := s["minLength"].(float64); ok {
		return strings.Repeat("-", int(min(least, 10_000)))
	}
	return ""
}
