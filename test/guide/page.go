// Package guide runs the pages of docs/guide and the README as their readers do: every sh block of a page, in order, in one
// shell, against the real program. The block after it, if it shows output, is compared with what came out. It is called by
// its own tests, and by test/compat for the page on clients.
package guide

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Example is one block that the reader runs or saves, and the output that the page shows for it.
type Example struct {
	Line  int    // of the page where the block begins
	Text  string // for the shell, or the content of File
	File  string // "" for the shell
	Unrun bool   // it needs root, Docker, a package registry or another host: only its syntax is checked
	Shown string // "" where the page shows none
	JSON  bool   // Shown is an excerpt of JSON
}

// unrun marks a block that is not run: ```sh syntax-only.
const unrun = "sh syntax-only"

// Examples returns the sh blocks of a page, each with the block of output that follows it directly, and the blocks in other
// languages that name a file (```python ask.py). Others that need no shell, such as an excerpt of a file, are passed over.
func Examples(page string) ([]Example, error) {
	var out []Example
	var block []string
	kind, open, start, joined := "", false, 0, false
	for i, line := range strings.Split(page, "\n") {
		rest, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			open, kind, start, block = true, rest, i+1, nil
		case fence:
			open = false
			text := strings.Join(block, "\n") + "\n"
			language, file, _ := strings.Cut(kind, " ")
			switch {
			case kind == "sh" || kind == unrun:
				out = append(out, Example{Line: start, Text: text, Unrun: kind == unrun})
				joined = true
			case slices.Contains(others, language):
				if file != "" {
					out = append(out, Example{Line: start, Text: text, File: file})
				}
				joined = false
			case !joined || kind != "" && kind != "json":
				return nil, fmt.Errorf("line %d: a block of %q that no sh block goes before", start, kind)
			default:
				out[len(out)-1].Shown, out[len(out)-1].JSON = text, kind == "json"
				joined = false
			}
		case open:
			block = append(block, line)
		case strings.TrimSpace(line) != "":
			joined = false
		}
	}
	if open {
		return nil, fmt.Errorf("line %d: the block has no end", start)
	}
	return out, nil
}

// others are the languages of blocks that are neither for the shell nor output.
var others = []string{"caddyfile", "dockerfile", "ini", "nginx", "python", "text", "typescript", "yaml"}

// Compare returns the first difference between output and what the page shows. Text: line by line, "…" stands for anything. JSON: the
// page shows an excerpt; members that are left out and whatever "…" stands for are not compared. In both, numbers with
// a fraction are measurements: they may differ by a hundredth.
func (e Example) Compare(got string) error {
	switch {
	case e.Shown == "":
		return nil
	case !e.JSON:
		return compareText(e.Shown, got)
	}
	var want, is any
	if err := json.Unmarshal([]byte(e.Shown), &want); err != nil {
		return fmt.Errorf("the page shows JSON that can't be read: %w", err)
	}
	if err := json.Unmarshal([]byte(got), &is); err != nil {
		return fmt.Errorf("the output is not JSON: %w: %.300s", err, got)
	}
	return compareJSON("", want, is)
}

const anything = "…"

var fraction = regexp.MustCompile(`-?\d+\.\d+`)

func compareText(want, got string) error {
	wanted, is := lines(want), lines(got)
	if len(wanted) != len(is) {
		return fmt.Errorf("%d lines, the page shows %d:\n%s", len(is), len(wanted), got)
	}
	for i, w := range wanted {
		var pattern strings.Builder
		for n, part := range strings.Split(fraction.ReplaceAllString(w, "\x00"), anything) {
			if n > 0 {
				pattern.WriteString(".*")
			}
			pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(part), "\x00", `(-?\d+\.\d+)`))
		}
		found := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(is[i])
		if found == nil {
			return fmt.Errorf("line %d is %q, the page shows %q", i+1, is[i], w)
		}
		for n, shown := range fraction.FindAllString(w, -1) {
			if !near(number(shown), number(found[n+1])) {
				return fmt.Errorf("line %d: %s is now %s", i+1, shown, found[n+1])
			}
		}
	}
	return nil
}

func lines(text string) []string {
	out := strings.Split(strings.TrimSpace(text), "\n")
	for i := range out {
		out[i] = strings.Join(strings.Fields(out[i]), " ")
	}
	return out
}

func number(text string) (f float64) {
	_, _ = fmt.Sscan(text, &f) // it matched the pattern
	return f
}

// near allows a hundredth: scores are the same on every machine, but a page need not follow their last digit.
func near(a, b float64) bool { return math.Abs(a-b) <= 0.01*max(1, math.Abs(a), math.Abs(b)) }

func compareJSON(at string, want, got any) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, the page shows an object", at, got)
		}
		for name, v := range w {
			inner, there := g[name]
			if !there && name != anything {
				return fmt.Errorf("%s has no member %s", at, name)
			}
			if err := compareJSON(at+"."+name, v, inner); err != nil {
				return err
			}
		}
		return nil
	case []any:
		return compareList(at, w, got)
	case float64:
		if g, ok := got.(float64); ok && (g == w || w != math.Trunc(w) && near(w, g)) {
			return nil
		}
	case string:
		g, ok := got.(string)
		before, after, open := strings.Cut(w, anything)
		if w == anything || ok && (g == w || open && strings.HasPrefix(g, before) && strings.HasSuffix(g, after)) {
			return nil
		}
	default:
		if want == got {
			return nil
		}
	}
	return fmt.Errorf("%s is %v, the page shows %v", at, got, want)
}

func compareList(at string, want []any, got any) error {
	g, ok := got.([]any)
	if !ok {
		return fmt.Errorf("%s is %v, the page shows a list", at, got)
	}
	if n := len(want); n > 0 && want[n-1] == anything && len(g) >= n-1 {
		want, g = want[:n-1], g[:n-1]
	}
	if len(want) != len(g) {
		return fmt.Errorf("%s has %d items, the page shows %d: %v", at, len(g), len(want), got)
	}
	for i := range want {
		if err := compareJSON(fmt.Sprintf("%s[%d]", at, i), want[i], g[i]); err != nil {
			return err
		}
	}
	return nil
}
