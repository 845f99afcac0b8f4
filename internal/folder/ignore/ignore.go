// Package ignore decides by patterns which files of a folder are meant: those of .quarryignore files, which have the rules of
// .gitignore, and those of flags, which have the same rules and alternatives in braces besides.
package ignore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	// maxBytes is the size of the largest file of patterns.
	maxBytes = 1 << 20
	// maxBraces bounds the alternatives of one pattern, whose combinations are tried one by one.
	maxBraces = 8
)

// Pattern matches paths with slashes, relative to the folder where it stands. The zero value matches nothing.
type Pattern struct {
	glob    string // of doublestar, from the folder down
	folders bool   // matches folders only
	negated bool
}

// New returns the pattern of a flag.
func New(text string) (Pattern, error) {
	if strings.Count(text, "{") > maxBraces {
		return Pattern{}, fmt.Errorf("the pattern %q has more than %d braces", text, maxBraces)
	}
	return compile(strings.TrimSpace(text))
}

// compile reads a pattern without its negation.
func compile(text string) (Pattern, error) {
	p := Pattern{glob: text}
	if rest, found := strings.CutSuffix(p.glob, "/"); found && !strings.HasSuffix(rest, `\`) {
		p.glob, p.folders = rest, true
	}
	rest, anchored := strings.CutPrefix(p.glob, "/")
	if p.glob = rest; p.glob == "" {
		return Pattern{}, fmt.Errorf("the pattern %q names nothing", text)
	}
	if !anchored && !strings.Contains(p.glob, "/") {
		p.glob = "**/" + p.glob
	}
	if strings.HasSuffix(p.glob, "/**") {
		p.glob += "/*" // what is in the folder, but not the folder
	}
	if !doublestar.ValidatePattern(p.glob) {
		return Pattern{}, fmt.Errorf("the pattern %q has an open bracket or brace, or ends in a backslash", text)
	}
	return p, nil
}

// Match reports whether the pattern names this file or folder itself.
func (p Pattern) Match(path string, folder bool) bool {
	return (folder || !p.folders) && doublestar.MatchUnvalidated(p.glob, path)
}

// Covers reports whether the pattern names this file or a folder that it is in.
func (p Pattern) Covers(path string) bool {
	for i := range len(path) {
		if path[i] == '/' && p.Match(path[:i], true) {
			return true
		}
	}
	return p.Match(path, false)
}

// Inside reports whether the pattern may name something in a folder.
func (p Pattern) Inside(folder string) bool {
	if strings.Contains(p.glob, "{") {
		return true // a slash may stand between braces
	}
	parts := strings.Split(p.glob, "/")
	for i, name := range strings.Split(folder, "/") {
		switch {
		case i >= len(parts) || parts[i] == "**":
			return true // it names a folder above, or whatever comes
		case !doublestar.MatchUnvalidated(parts[i], name):
			return false
		}
	}
	return true
}

// Reaches reports whether one part of the pattern stands for names with a leading dot, and for this one.
func (p Pattern) Reaches(hidden string) bool {
	for part := range strings.SplitSeq(p.glob, "/") {
		if strings.HasPrefix(part, ".") && doublestar.MatchUnvalidated(part, hidden) {
			return true
		}
	}
	return false
}

// Rules are the patterns of one file, and behind them those of the folders above. Nil has none. They do not change.
type Rules struct {
	above    *Rules
	folder   string // where the file stands: "" or a path that ends in a slash
	patterns []Pattern
}

// Read returns rules with the patterns of a file that stands in a folder, "" for the topmost. The error names the lines that
// are wrong; the rules have the others.
func Read(r io.Reader, folder string, above *Rules) (*Rules, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return above, err
	}
	if len(data) > maxBytes {
		return above, fmt.Errorf("the file has more than %d bytes", maxBytes)
	}
	rules := &Rules{above: above, folder: folder}
	if folder != "" {
		rules.folder = folder + "/"
	}
	var wrong []error
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))))
	lines.Buffer(nil, maxBytes+1)
	for n := 1; lines.Scan(); n++ {
		text := trimEnd(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		text, negated := strings.CutPrefix(text, "!")
		p, err := compile(braces.Replace(text))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		p.negated = negated
		rules.patterns = append(rules.patterns, p)
	}
	return rules, errors.Join(append(wrong, lines.Err())...)
}

// braces keeps braces from being alternatives: in a .gitignore they are characters.
var braces = strings.NewReplacer(`\\`, `\\`, `\{`, `\{`, `\}`, `\}`, `{`, `\{`, `}`, `\}`)

// trimEnd cuts spaces from the end of a line, but for one that a backslash protects.
func trimEnd(line string) string {
	cut := strings.TrimRight(line, " \t\r")
	if slashes := len(cut) - len(strings.TrimRight(cut, `\`)); slashes%2 == 1 && len(cut) < len(line) && line[len(cut)] != '\r' {
		return line[:len(cut)+1]
	}
	return cut
}

// Ignored reports whether the rules leave out a file or folder; the last pattern that matches decides, and those of a folder
// before those above it. What is in an ignored folder is ignored, which the caller sees to.
func (r *Rules) Ignored(path string, folder bool) bool {
	for at := r; at != nil; at = at.above {
		below, inside := strings.CutPrefix(path, at.folder)
		if !inside {
			continue
		}
		for i := len(at.patterns) - 1; i >= 0; i-- {
			if at.patterns[i].Match(below, folder) {
				return !at.patterns[i].negated
			}
		}
	}
	return false
}
