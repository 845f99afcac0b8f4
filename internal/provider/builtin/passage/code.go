package passage

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// block is a stretch of a text that is code or is not.
type block struct {
	start, end int
	code       bool
}

// blocks cuts a text into stretches. Code ends and begins at blank lines; blank lines within it belong to it.
func blocks(text string) []block {
	if program(text) {
		return []block{{0, len(text), true}}
	}
	var out []block
	for start := 0; start < len(text); {
		end := len(text)
		if n := strings.Index(text[start:], "\n\n"); n >= 0 {
			end = start + n + 2
		}
		code := looksLikeCode(text[start:end])
		if n := len(out); n > 0 && out[n-1].code == code {
			out[n-1].end = end
		} else {
			out = append(out, block{start, end, code})
		}
		start = end
	}
	return out
}

// comment matches a line that is a comment of a program.
var comment = regexp.MustCompile(`^\s*(?://|#(?:\s|!|$)|/\*|\*(?:\s|/|$)|--\s|;;)`)

// program reports whether a text is lines of code and nothing else: most of its lines have the form of code or are comments, some of
// them are no comments, and hardly one reads like a sentence, the first never.
func program(text string) bool {
	lines, code, comments, sentences := 0, 0, 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			continue
		case comment.MatchString(line):
			comments++
		case bullet.MatchString(trimmed), prose(trimmed):
			if sentences++; lines == 0 {
				return false
			}
		case len(trimmed) < 400 && (command.MatchString(line) || statement.MatchString(line)):
			code++
		}
		lines++
	}
	return lines > 1 && code > 0 && 2*(code+comments) > lines && 8*sentences <= lines
}

var (
	// command matches a line of a terminal: behind its prompt, or a program with an option.
	command = regexp.MustCompile(`^\s*(?:[$%]|PS>|>>>) \S|^\s*[a-z][\w./-]*(?: [\w./:@=-]+)* --?[a-zA-Z][\w-]*(?:[= ]\S+)*\s*$`)
	// statement matches what lines of programs and of settings have and sentences have not.
	statement = regexp.MustCompile(`[{};]\s*$|^\s*[})\]]|=> |^\s*</?\w[^>]*>|` +
		`^\s*(?:\S+ ?:?= ?)?(?:await )?[\w.]+\([^)]*\)\s*;?\s*$|` +
		`^\s*(?:const|let|var|import|from|export|def|class|func|fn|return|package|public|private|#include|SELECT|INSERT|CREATE)\b.*[({=;:"'<*]|` +
		`^\s*[\w.\[\]"']+ ?(?::=|\+=|==?)\s*\S|^\s*"[\w.*/-]+"\s*:|^\s*["'\[{]?[\w"'.-]+["']?\s*:\s*["'\[{\d\w.]*[^\s,]*,\s*(?://.*|#.*)?$|^\s*//`)
)

// example reports whether a paragraph is code because of what introduces it: the passage is nothing else, the sentence before it ends
// with a colon, and it neither begins nor ends as a sentence does.
func (r *reader) example(b block) bool {
	text := strings.TrimSpace(r.text[b.start:b.end])
	first, _ := utf8.DecodeRuneInString(text)
	return b.start == 0 && b.end == len(r.text) && strings.HasSuffix(r.before, ":") && !unicode.IsUpper(first) && !unquoted(text) &&
		!ends(text) && !asks(text) && !strings.HasSuffix(text, ":") && unicode.IsLetter(rune(text[0]))
}

// unquoted reports whether a text is an item of a list, a row of a table or a name with its value, or reads like prose.
func unquoted(text string) bool {
	return text == "" || bullet.MatchString(text) || row(text) || key(text) != "" || prose(text) || strings.ContainsFunc(text, unblanked)
}

// nested reports whether a paragraph of several lines opens a bracket at the end of its first line and closes one in its last.
func nested(text string) bool {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n")
	if rest == "" || !strings.ContainsAny(first[len(first)-1:], "{([") {
		return false
	}
	last := strings.TrimSpace(rest[strings.LastIndexByte(rest, '\n')+1:])
	return strings.ContainsAny(last[:1], "})]")
}

// looksLikeCode reports whether a paragraph is lines of code: most of them have the form of a command or a statement, and none is a
// sentence.
func looksLikeCode(text string) bool {
	lines, code := 0, 0
	if nested(text) {
		return true
	}
	if links.MatchString(strings.TrimSpace(text)) {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		lines++
		if len(trimmed) < 400 && (command.MatchString(line) && !prose(trimmed) || statement.MatchString(line) && !prose(trimmed)) {
			code++
		}
	}
	return lines > 0 && 2*code > lines
}

// prose reports whether a line reads like a sentence: it begins with a capital letter or a sign of a list, and ends as one, or is
// mostly words.
func prose(line string) bool {
	if bullet.MatchString(line) || ends(line) && !strings.HasSuffix(line, "...") {
		return true
	}
	words, total := 0, 0
	for w := range strings.FieldsSeq(line) {
		total++
		if !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(",'’", r) }) {
			words++
		}
	}
	return total >= 6 && 4*words >= 3*total
}
