package grep

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// maxPattern is the most characters of a pattern, and maxSteps the most steps of the program that it becomes: in the worst
// case, each is tried at each character of a text.
const (
	maxPattern = 1_000
	maxSteps   = 2_500
)

// Pattern is a compiled pattern with the options that it was compiled for. It is safe for concurrent use.
type Pattern struct {
	options Options
	first   *regexp.Regexp // finds the first match in a line
	further *regexp.Regexp // -w: finds one behind a character that is in no word, as its first group; nil without
	program *syntax.Prog
}

// Compile compiles a pattern. Errors are sentences for whoever wrote it.
func Compile(text string, o Options) (*Pattern, error) {
	if n := utf8.RuneCountInString(text); n > maxPattern {
		return nil, fmt.Errorf("the pattern has %d characters, more than the %d that are allowed", n, maxPattern)
	}
	flags := syntax.Perl
	if o.Fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(text, flags)
	var bad *syntax.Error
	switch {
	case errors.As(err, &bad) && (bad.Code == syntax.ErrInvalidRepeatSize || bad.Code == syntax.ErrLarge):
		return nil, fmt.Errorf("the pattern repeats too much: a repeat counts to 1000 at most, and repeats inside each other are multiplied: %w", err)
	case err != nil:
		return nil, fmt.Errorf("the pattern is no regular expression of the syntax RE2, which has no look-around and no back-references: %w", err)
	}
	p := &Pattern{options: o}
	return p, p.compile(tree.String())
}

// besides is what stands beside a whole word.
const besides = `[^\pL\pN_]`

// compile sets the expressions.
func (p *Pattern) compile(text string) (err error) {
	if p.options.Word {
		if p.further, err = regexp.Compile(besides + "(" + text + ")(?:" + besides + "|$)"); err != nil {
			return fmt.Errorf("the pattern can't be used with -w: %w", err)
		}
		text = "(?:^|" + besides + ")(" + text + ")(?:" + besides + "|$)"
	}
	if p.first, err = regexp.Compile(text); err != nil {
		return fmt.Errorf("the pattern can't be used: %w", err)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err == nil {
		p.program, err = syntax.Compile(tree.Simplify())
	}
	if err != nil {
		return fmt.Errorf("the pattern can't be used: %w", err)
	}
	if n := len(p.program.Inst); n > maxSteps {
		return fmt.Errorf("the pattern is too large: it becomes a program of %d steps, more than the %d that are allowed; repeat less in it", n, maxSteps)
	}
	return nil
}

// matches returns where up to n matches stand in a line, n < 0 for all. Matches of nothing are left out.
func (p *Pattern) matches(line []byte, n int) (out [][]int) {
	if p.further == nil {
		for _, m := range p.first.FindAllIndex(line, n) {
			if m[0] < m[1] {
				out = append(out, m)
			}
		}
		return out
	}
	re := p.first
	for at := 0; at < len(line) && (n < 0 || len(out) < n); re = p.further {
		m := re.FindSubmatchIndex(line[at:])
		if m == nil {
			break
		}
		from, to := at+m[2], at+m[3]
		if from < to {
			out = append(out, []int{from, to})
		} else {
			_, size := utf8.DecodeRune(line[to:])
			to += max(size, 1)
		}
		_, size := utf8.DecodeLastRune(line[:min(to, len(line))]) // the character before the next match
		at = max(to-size, at+1)
	}
	return out
}
