package span

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// Shortest returns a text with the fewest repetitions that a pattern matches; false if it finds none.
func Shortest(pattern string) (string, bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	write(&b, parsed)
	re, err := regexp.Compile(pattern)
	return b.String(), err == nil && re.MatchString(b.String())
}

// longestMade bounds the text, in bytes.
const longestMade = 10_000

func write(b *strings.Builder, re *syntax.Regexp) {
	if b.Len() > longestMade {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			b.WriteRune(printable(re.Rune))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('-')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[0])
	case syntax.OpRepeat:
		for i := 0; i < re.Min && b.Len() <= longestMade; i++ {
			write(b, re.Sub[0])
		}
	}
}

// printable returns a character of a class, a digit or letter if it has one.
func printable(ranges []rune) rune {
	for _, want := range "0aA" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	return ranges[0]
}
