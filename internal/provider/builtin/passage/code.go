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
		case usage(line):
			code++
		case bullet.MatchString(trimmed), prose(trimmed):
			if sentences++; lines == 0 {
				return false
			}
		case isCode(line):
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

// isCode reports whether a line has the form of one of a program, of settings or of a terminal.
func isCode(line string) bool {
	return len(line) < longestLine && (command.MatchString(line) || statement.MatchString(line))
}

// longestLine bounds a line of code, in bytes. A longer one is a paragraph.
const longestLine = 400

// argument matches what may follow a command in its synopsis, apart from a word in lower case: something optional in brackets, a choice
// in braces, a placeholder, an option or several of one.
var argument = regexp.MustCompile(`^\s*(?:(?:\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|\{[^{}]*\}|<[^<>]+>|--?[\w-]+(?:[= ]<[^<>]+>)?|[A-Z][A-Z0-9_-]*|\|)(?:\.\.\.|…)?,?)`)

var (
	// optional matches an argument that can be left out: an option, a placeholder or one word in square brackets.
	optional = regexp.MustCompile(`^\s*\[\s*(?:-|<|[A-Z][A-Z0-9_-]*\b|[a-z][\w-]*(?:\.\.\.|…)?\s*\])`)
	// operand matches a placeholder in lower case, such as a file.
	operand = regexp.MustCompile(`^\s*[a-z][\w.:/-]*(?:\.\.\.|…)?(?:\s|$)`)
	// called matches the name of the command.
	called = regexp.MustCompile(`^\s*(?:(?i:usage|synopsis):\s*)?[a-z][\w.+-]*\s`)
)

// fewOperands is how many operands a synopsis has at most. More are words of a sentence.
const fewOperands = 2

// usage reports whether a line is the synopsis of a command: "ls [OPTION]... [FILE]...". It has something optional, and
// hardly a word that has none of the forms of arguments.
func usage(line string) bool {
	m := called.FindString(line)
	if m == "" || len(line) >= longestLine {
		return false
	}
	rest, operands, some := line[len(m):], 0, false
	for strings.TrimSpace(rest) != "" {
		if a := argument.FindString(rest); a != "" {
			some = some || optional.MatchString(a)
			rest = rest[len(a):]
			continue
		}
		o := operand.FindString(rest)
		if operands++; o == "" || operands > fewOperands {
			return false
		}
		rest = rest[len(o):]
	}
	return some
}

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
		if usage(line) || isCode(line) && !prose(trimmed) {
			code++
		}
	}
	return lines > 0 && 2*code > lines
}

// prose reports whether a line reads like a sentence: it begins with a capital letter or a sign of a list, and ends as one, or is
// mostly words.
func prose(line string) bool {
	line, _ = withoutMarks(line)
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
