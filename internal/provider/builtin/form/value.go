package form

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/provider/builtin/span"
)

// oneOf returns a value of an enumeration: the one that the best sentence names, else one that question or answer name, else the
// default, else one that means unknown, else the first.
func (f *filler) oneOf(list []any, s map[string]any, p place) any {
	for _, c := range f.best(p) {
		for _, x := range list {
			if span.Named(c.Text, x) {
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
	if span.Named(f.from.Question, x) {
		return true
	}
	return slices.ContainsFunc(f.from.Answer, func(c Sentence) bool { return span.Named(c.Text, x) })
}

// boolean returns whether the sentence that says most about a member affirms it.
func (f *filler) boolean(p place) any {
	best := f.best(p)
	if len(best) == 0 {
		return p.orAbsent(false)
	}
	return !span.Denies(best[0].Text)
}

// number returns the first number within bounds in the sentences that say most about a member.
func (f *filler) number(s map[string]any, p place, whole bool) any {
	b := span.ParseBounds(s, whole)
	year := slices.Contains(span.Words(p.name), "year")
	for _, c := range f.best(p) {
		for _, x := range span.Figures(c.Text) {
			if b.Admit(x) && (!year || x >= 1000 && x < 3000) {
				return b.Typed(x)
			}
		}
	}
	return p.orAbsent(b.Typed(b.Nearest(0)))
}

// text returns the words of a passage about a member: those after its name and a colon, those that have its format or pattern,
// a name if it is to hold one, else a sentence.
func (f *filler) text(s map[string]any, p place) any {
	if wholeAnswer(p) && len(f.from.Answer) > 0 {
		if v, ok := f.fit(s, Join(f.from.Answer), p); ok {
			return v
		}
	}
	best := f.best(p)
	for _, c := range best {
		if v, ok := f.fit(s, span.Labelled(c.Text, p.name), p); ok {
			return v
		}
	}
	for _, c := range best {
		if v, ok := f.fit(s, c.Text, p); ok {
			return v
		}
	}
	if !p.must {
		return absent{}
	}
	if f.from.Needed && s["format"] == nil && s["pattern"] == nil {
		if v, ok := f.fit(s, f.from.Question, p); ok {
			return v
		}
	}
	return f.neutral(s)
}

var answerNouns = []string{"answer", "response", "summary", "reply", "explanation", "reasoning", "text", "content", "result"}

// wholeAnswer reports whether a member is to hold the answer to the question.
func wholeAnswer(p place) bool {
	return slices.ContainsFunc(span.Words(p.name), func(w string) bool { return slices.Contains(answerNouns, w) })
}

// fit cuts text to a value of a string schema, and reports whether it can.
func (f *filler) fit(s map[string]any, text string, p place) (string, bool) {
	if text == "" {
		return "", false
	}
	if format, ok := s["format"].(string); ok {
		if found, known := span.Formatted(format, text); known {
			if text = found; text == "" {
				return "", false
			}
		}
	} else if isName(p) {
		if n := span.Name(text, p.words()+" "+f.from.Question); n != "" {
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
		text = span.Cut(text, int(most))
	}
	if least, ok := s["minLength"].(float64); ok && utf8.RuneCountInString(text) < int(least) {
		return "", false
	}
	return text, text != "" && (re == nil || re.MatchString(text))
}

// pattern returns the pattern of a schema, nil for none, or reports that it can't be read.
func (f *filler) pattern(s map[string]any) (*regexp.Regexp, bool) {
	text, ok := s["pattern"].(string)
	if !ok {
		return nil, true
	}
	re, ok := f.patterns[text]
	if !ok {
		re, _ = regexp.Compile(text) // one that can't be read is kept as nil
		f.patterns[text] = re
	}
	return re, re != nil
}

var nameNouns = []string{"name", "person", "author", "city", "country", "company", "organization", "organisation", "place", "location", "president", "designer", "director", "founder", "ceo", "owner", "winner", "manager", "capital", "artist", "inventor"}

// isName reports whether a member is to hold a name.
func isName(p place) bool {
	ws := span.Words(p.name)
	return len(ws) > 0 && slices.Contains(nameNouns, ws[len(ws)-1])
}

// neutral returns a valid value without content.
func (f *filler) neutral(s map[string]any) string {
	if format, ok := s["format"].(string); ok && span.Neutral(format) != "" {
		return span.Neutral(format)
	}
	if pattern, ok := s["pattern"].(string); ok {
		if text, ok := span.Shortest(pattern); ok {
			return text
		}
	}
	if least, ok := s["minLength"].(float64); ok {
		return strings.Repeat("-", int(min(least, 10_000)))
	}
	return ""
}
