// Package reference reads references: paths to values of an agent, of a session and of what tools have returned, which stand in
// configurations as {"$ref": path} (contract: tools.md section 4.1).
package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reference is a path to a value of the scene, such as session.metadata.team.
type Reference struct {
	text  string // as it was written
	steps []Step
}

// Step leads from a value to one of its members.
type Step struct {
	Name  string
	Index int        // of a list; -1 for a name
	inner *Reference // its value is the name
}

// Bounds of a path.
const (
	maxPath    = 1000 // characters
	maxIndex   = 1000
	maxNesting = 4 // references inside references
)

// roots are what a path begins with.
var roots = []string{"agent", "session", "tools", "currentDate"}

// String returns the path as it was written.
func (r Reference) String() string { return r.text }

// Parse reads a path: names behind dots, positions of lists and other paths in brackets.
func Parse(text string) (Reference, error) {
	p := pathParser{rest: text}
	if utf8.RuneCountInString(text) > maxPath {
		return Reference{}, fmt.Errorf("has a path of more than %d characters", maxPath)
	}
	r, err := p.reference(0)
	if err != nil {
		return Reference{}, fmt.Errorf("refers to %q, which is no path: %w", text, err)
	}
	if p.rest != "" {
		return Reference{}, fmt.Errorf("refers to %q, which is no path: it should end before %q", text, p.rest)
	}
	r.text = text
	return r, nil
}

// ParsePath reads the key of an override: a path within arguments.
func ParsePath(text string) ([]Step, error) {
	p := pathParser{rest: text}
	if utf8.RuneCountInString(text) > maxPath {
		return nil, fmt.Errorf("has more than %d characters", maxPath)
	}
	steps, err := p.steps(-1)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("it should end before %q", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("is no path of an argument: %w", err)
	}
	return steps, nil
}

// pathParser reads a path from left to right.
type pathParser struct{ rest string }

func (p *pathParser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// reference reads a path that begins at a root.
func (p *pathParser) reference(nested int) (Reference, error) {
	if p.take("$") {
		p.take(".")
	} else {
		p.take(".")
	}
	steps, err := p.steps(nested)
	if err != nil {
		return Reference{}, err
	}
	if root := steps[0].Name; !slices.Contains(roots, root) {
		return Reference{}, fmt.Errorf("it begins with %q, not with %s", root, strings.Join(roots, ", "))
	}
	switch root := steps[0].Name; {
	case root == "tools" && !output(steps):
		return Reference{}, fmt.Errorf("outputs of tools are at tools.NAME.outputs.latest")
	case root == "currentDate" && len(steps) > 1:
		return Reference{}, fmt.Errorf("currentDate has no members")
	case root != "currentDate" && len(steps) == 1:
		return Reference{}, fmt.Errorf("%q alone names no value", root)
	}
	return Reference{steps: steps}, nil
}

// output reports whether steps lead to the output of a tool.
func output(steps []Step) bool {
	return len(steps) >= 4 && steps[1].inner == nil && steps[1].Index < 0 && steps[2].Name == "outputs" && steps[3].Name == "latest"
}

// steps reads a path. Brackets hold no references if nested is negative.
func (p *pathParser) steps(nested int) ([]Step, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	out := []Step{{Name: name, Index: -1}}
	for {
		var next Step
		switch {
		case p.take("."):
			next.Index = -1
			next.Name, err = p.name()
		case p.take("["):
			next, err = p.bracket(nested)
		default:
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, next)
	}
}

// name reads a name that stands without quotes.
func (p *pathParser) name() (string, error) {
	end := strings.IndexFunc(p.rest, func(r rune) bool {
		return strings.ContainsRune(`.[]'"`, r) || unicode.IsSpace(r) || unicode.IsControl(r)
	})
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	if p.rest = p.rest[end:]; name == "" {
		return "", fmt.Errorf("a name is missing before %q", p.rest)
	}
	return name, nil
}

// bracket reads what stands in brackets, behind the first one.
func (p *pathParser) bracket(nested int) (Step, error) {
	out := Step{Index: -1}
	switch {
	case strings.HasPrefix(p.rest, "'"), strings.HasPrefix(p.rest, `"`):
		quote := p.rest[:1]
		name, rest, ok := strings.Cut(p.rest[1:], quote)
		if !ok {
			return out, fmt.Errorf("a quote is missing behind %q", p.rest)
		}
		out.Name, p.rest = name, rest
	case p.rest != "" && p.rest[0] >= '0' && p.rest[0] <= '9':
		digits := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil || n > maxIndex {
			return out, fmt.Errorf("the position %s is beyond %d", digits, maxIndex)
		}
		out.Index, p.rest = n, p.rest[len(digits):]
	case nested < 0 || nested >= maxNesting:
		return out, fmt.Errorf("a position is missing before %q", p.rest)
	default:
		before := p.rest
		inner, err := p.reference(nested + 1)
		if err != nil {
			return out, err
		}
		inner.text = before[:len(before)-len(p.rest)]
		out.inner = &inner
	}
	if !p.take("]") {
		return out, fmt.Errorf("a ] is missing before %q", p.rest)
	}
	return out, nil
}

// Tools adds the names of the tools whose outputs r reads to names.
func (r Reference) Tools(names []string) []string {
	if r.steps[0].Name == "tools" && !slices.Contains(names, r.steps[1].Name) {
		names = append(names, r.steps[1].Name)
	}
	for _, s := range r.steps {
		if s.inner != nil {
			names = s.inner.Tools(names)
		}
	}
	return names
}
