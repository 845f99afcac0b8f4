package fact

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number is a quantity in a text.
type Number struct {
	Start, End int       // bytes of the text, its unit not included
	Values     []float64 // what it may mean: 1.234 means 1,234 in some languages
	Percent    bool
	Month      bool   // a month by its name; Values holds 1 to 12
	Unit       string // one of a small list, "" for others
	Soft       bool   // possibly not a quantity, such as "one": it supports others, but needs no support
	Rough      bool   // stated as approximate
}

// Equal reports whether two numbers can mean the same.
func (n Number) Equal(m Number) bool {
	factor := 1.0 // of n's values in the unit of m
	if n.Unit != "" && m.Unit != "" && n.Unit != m.Unit {
		from, to := measures[n.Unit], measures[m.Unit]
		if from.of == "" || from.of != to.of {
			return false
		}
		factor = from.size / to.size
	}
	if n.Percent != m.Percent && n.Percent && m.Unit != "" {
		return false
	}
	for _, a := range n.Values {
		a *= factor
		for _, b := range m.Values {
			if a == b || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) || rounded(a, b) {
				return true
			}
		}
	}
	return false
}

// rounded reports whether a is b with fewer digits, two at the least.
func rounded(a, b float64) bool {
	if a == math.Trunc(a) && math.Abs(a) < 1000 || a == 0 || b == 0 {
		return false
	}
	for digits := 2; digits <= 4; digits++ {
		scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(b))))
		if math.Abs(math.Round(b*scale)/scale-a) <= 1e-9*math.Abs(a) {
			return true
		}
	}
	return false
}

// Numbers returns the numbers of text, whose words are ws, in order. lang decides which words are numbers: "once" is one in
// Spanish.
func Numbers(text string, ws []Word, lang string) []Number {
	var out []Number
	for i := 0; i < len(ws); {
		n, used := numberAt(text, ws, i, lang)
		if used == 0 {
			i++
			continue
		}
		n.Rough = i > 0 && rough[ws[i-1].Text]
		out = append(out, n)
		i += used
	}
	return out
}

// numberAt returns the number that begins with word i, and how many words it has.
func numberAt(text string, ws []Word, i int, lang string) (Number, int) {
	if m, ok := month(ws, i); ok {
		return m, 1
	}
	n, used := figures(text, ws, i)
	if used == 0 {
		n, used = written(text, ws, i, lang)
	}
	if used == 0 {
		return n, 0
	}
	n.Start, n.End = ws[i].Start, ws[i+used-1].End
	for i+used < len(ws) && blank(text[n.End:ws[i+used].Start]) {
		scale, ok := scales[ws[i+used].Text]
		if !ok {
			break
		}
		for j := range n.Values {
			n.Values[j] *= scale
		}
		n.End, n.Soft = ws[i+used].End, false
		used++
	}
	n.Unit, n.Percent = unit(text, ws, i, i+used)
	if n.Percent || n.Unit != "" {
		n.Soft = false
	}
	return n, used
}

// figures reads digits with their separators.
func figures(text string, ws []Word, i int) (Number, int) {
	whole, rest := digits(ws[i].Text)
	if whole == "" || attached(text, ws, i) {
		return Number{}, 0
	}
	groups, seps, used := []string{whole}, "", 1
	for rest == "" && i+used < len(ws) {
		sep := text[ws[i+used-1].End:ws[i+used].Start]
		part, tail := digits(ws[i+used].Text)
		if part == "" || !strings.Contains(",.'’\u00a0\u202f٬٫", sep) || sep == "" || utf8.RuneCountInString(sep) != 1 {
			break
		}
		if sep == "\u00a0" || sep == "\u202f" || sep == "’" || sep == "'" || sep == "٬" {
			sep = " "
		}
		groups, seps, rest = append(groups, part), seps+strings.ReplaceAll(sep, "٫", "."), tail
		used++
	}
	rest = counted(rest)
	if rest != "" && !endings[rest] && units[rest] == "" && scales[rest] == 0 {
		return Number{}, 0 // a name that begins with digits
	}
	n := Number{Values: readings(groups, seps), Soft: rest == "s"}
	if used == 1 && rest == "" {
		more := torn(text, ws, i, whole)
		if len(more) > 0 && i+2 < len(ws) && scales[ws[i+2].Text] != 0 {
			return Number{Values: more}, 2 // "1. 3 million"
		}
		n.Values = append(n.Values, more...)
	}
	if scale := scales[rest]; scale != 0 {
		for j := range n.Values {
			n.Values[j] *= scale
		}
	}
	return n, used
}

// counted returns what follows the digits of a number without the unit and the particle that Korean writes to it: "만" of "만명이".
func counted(rest string) string {
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case !unicode.Is(unicode.Hangul, r):
		return rest
	case scales[rest[:size]] != 0:
		return rest[:size]
	}
	return ""
}

// torn reads numbers that a tokenizer has split: "1, 234, 567", "98. 7".
func torn(text string, ws []Word, i int, whole string) []float64 {
	if i+1 >= len(ws) {
		return nil
	}
	sep := text[ws[i].End:ws[i+1].Start]
	part, rest := digits(ws[i+1].Text)
	if part == "" || rest != "" {
		return nil
	}
	switch {
	case sep == ". ":
		return readings([]string{whole, part}, ".")[:1]
	case sep == ", " && len(part) == 3 && len(whole) <= 3:
		all, last := whole+part, i+1
		for last+1 < len(ws) && text[ws[last].End:ws[last+1].Start] == ", " {
			more, rest := digits(ws[last+1].Text)
			if len(more) != 3 || rest != "" {
				break
			}
			all, last = all+more, last+1
		}
		return readings([]string{all}, "")
	}
	return nil
}

// readings returns what grouped digits may mean.
func readings(groups []string, seps string) []float64 {
	var out []float64
	add := func(s string) {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			out = append(out, v)
		}
	}
	all := strings.Join(groups, "")
	last := groups[len(groups)-1]
	grouped := true
	for _, g := range groups[1:] {
		grouped = grouped && (len(g) == 3 || len(g) == 2)
	}
	switch {
	case len(groups) == 1:
		add(all)
	case len(groups) == 2:
		if seps != " " {
			add(groups[0] + "." + last)
		}
		if len(last) == 3 && len(groups[0]) <= 3 && groups[0] != "0" {
			add(all)
		}
	case strings.Trim(seps, seps[:1]) == "": // 1,234,567 or 3.10.1990
		if grouped && len(last) == 3 {
			add(all)
		} else {
			for _, g := range groups {
				add(g)
			}
		}
	default: // 1,234.5
		add(strings.Join(groups[:len(groups)-1], "") + "." + last)
	}
	return out
}

// digits returns the leading digits of s, in ASCII, and the rest.
func digits(s string) (figures, rest string) {
	var b strings.Builder
	for i, r := range s {
		d, ok := digit(r)
		if !ok {
			return b.String(), s[i:]
		}
		b.WriteByte(byte('0' + d))
	}
	return b.String(), ""
}

// attached reports whether word i continues a name: COVID-19, IL-6.
func attached(text string, ws []Word, i int) bool {
	if i == 0 {
		return false
	}
	before, sep := ws[i-1], text[ws[i-1].End:ws[i].Start]
	_, rest := digits(before.Text)
	switch {
	case rest == "": // a range, a fraction, a date
		return false
	case sep == "/":
		return true
	case sep != "-" || months[before.Text] != 0 || openings[before.Text]:
		return false
	}
	_, number := cardinals[before.Text]
	return !number
}

// month reads the name of a month; one that also has another meaning needs a number beside it.
func month(ws []Word, i int) (Number, bool) {
	w := ws[i]
	m := months[w.Text]
	if m == 0 {
		return Number{}, false
	}
	if ambiguous[w.Text] {
		beside := false
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(ws) {
				d, _ := digits(ws[j].Text)
				beside = beside || d != ""
			}
		}
		if !beside && (!w.Upper || w.First) {
			return Number{}, false
		}
	}
	return Number{Start: w.Start, End: w.End, Values: []float64{float64(m)}, Month: true}, true
}

// unit returns the unit of the number in the words ws[from:to].
func unit(text string, ws []Word, from, to int) (unit string, percent bool) {
	before := strings.TrimRight(text[:ws[from].Start], " ")
	for sign, u := range currencies {
		if strings.HasSuffix(before, sign) {
			return u, false
		}
	}
	end := ws[to-1].End
	_, rest := digits(ws[to-1].Text)
	if rest != "" && units[rest] != "" {
		return units[rest], false
	}
	after := strings.TrimLeft(text[end:], " \u00a0\u202f-")
	if strings.HasPrefix(after, "%") || strings.HasPrefix(after, "％") || strings.HasPrefix(after, "٪") {
		return "", true
	}
	for sign, u := range currencies {
		if strings.HasPrefix(after, sign) {
			return u, false
		}
	}
	if strings.HasPrefix(after, "°") || strings.HasPrefix(after, "º") {
		after = strings.TrimLeft(after[2:], " ")
		switch {
		case strings.HasPrefix(after, "C"):
			return "celsius", false
		case strings.HasPrefix(after, "F"):
			return "fahrenheit", false
		}
		return "degree", false
	}
	if to >= len(ws) || !blank(strings.ReplaceAll(text[end:ws[to].Start], "-", " ")) {
		return "", false
	}
	w := ws[to].Text
	if percents[w] || to+1 < len(ws) && percents[w+" "+ws[to+1].Text] {
		return "", true
	}
	if degrees[w] {
		if to+1 < len(ws) && scalesOfHeat[ws[to+1].Text] {
			return ws[to+1].Text, false
		}
		return "degree", false
	}
	return units[w], false
}

func blank(s string) bool { return strings.Trim(s, " \t\n\r\u00a0\u202f") == "" }

// IsUnit reports whether a word, in lower case, is a unit or means percent.
func IsUnit(word string) bool { return units[word] != "" || percents[word] }
