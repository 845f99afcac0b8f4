package passage

import (
	"regexp"
	"strings"
	"unicode"

	"quarry/internal/text/sentence"
)

// split cuts text into sentences. A row of a table is one piece whatever stands in its cells, and so is each line of a list of
// names with values.
func split(text string) []sentence.Span {
	var out []sentence.Span
	start, listed := 0, false // of the lines that are not cut yet; the line before is a name with a value
	flush := func(end int) {
		for _, s := range sentence.Split(text[start:end]) {
			out = append(out, sentence.Span{Start: start + s.Start, End: start + s.End})
		}
	}
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := text[at:end]
		value := valued(line)
		switch {
		case row(strings.TrimSpace(line)):
			flush(at)
			out = append(out, rows(text, at, end)...)
			start = end
		case value && (listed || valued(first(text[end:]))):
			flush(at)
			out = append(out, trim(text, at, end))
			start = end
		}
		listed, at = value, end
	}
	flush(len(text))
	return out
}

// first returns the first line of a text.
func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// valued reports whether a line is a name with a value, not a sentence.
func valued(line string) bool {
	line = strings.TrimSpace(line)
	return key(line) != "" && !ends(line) && !bullet.MatchString(line)
}

// rows cuts the line text[start:end] into the rows of a table that stand in it, each of which begins with the name of the first
// column.
func rows(text string, start, end int) []sentence.Span {
	name, _, _ := strings.Cut(strings.TrimSpace(text[start:end]), ":")
	var out []sentence.Span
	for at := start + 1; ; at++ {
		n := strings.Index(text[at:end], " "+name+": ")
		if n < 0 {
			return append(out, trim(text, start, end))
		}
		at += n
		if last := text[start:at]; !strings.Contains(last[strings.LastIndex(last, ";")+1:], ":") {
			continue // the end of the name of another column
		}
		out = append(out, trim(text, start, at))
		start = at
	}
}

// trim returns text[start:end] without the white space around it.
func trim(text string, start, end int) sentence.Span {
	piece := text[start:end]
	start += len(piece) - len(strings.TrimLeftFunc(piece, unicode.IsSpace))
	return sentence.Span{Start: start, End: start + len(strings.TrimSpace(piece))}
}

// identifier matches the name of an option, a parameter or a function at the start of an item, and what shows that it is one.
var identifier = regexp.MustCompile(`^(-{0,2}[\pL_$][\w.$-]*)(?:\(\))?(\s+(?:[(<\[|–—=]|--? |(?:string|number|boolean|bool|int|integer|object|function|array)\b))?`)

// option returns the name that an item of a list of options begins with; "" for none.
func option(item string) string {
	m := identifier.FindStringSubmatch(item)
	if m == nil {
		return ""
	}
	hump := strings.ContainsAny(m[1], "_$") || strings.HasPrefix(m[1], "-")
	for i, r := range m[1] {
		hump = hump || i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(m[1][i-1]))
	}
	if m[2] == "" && !hump {
		return ""
	}
	return m[1]
}
