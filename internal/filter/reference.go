package filter

import (
	"slices"
	"strings"

	"quarry/internal/expr"
)

// reserved words can't be bare names.
var reserved = []string{"AND", "OR", "NOT", "IN", "IS"}

// reference parses doc.<name> or part.<name>, where the name may be quoted and may hold further periods.
func (p *parser) reference() (*node, error) {
	t := p.tok
	if slices.ContainsFunc(reserved, func(w string) bool { return strings.EqualFold(w, t.Value) }) {
		return nil, p.unexpected("a value, a reference or (")
	}
	level := Document
	switch {
	case t.Value == "part":
		level = Part
	case t.Value != "doc":
		return nil, p.bare(t)
	}
	if !strings.HasPrefix(p.lex.Rest(), ".") {
		return nil, p.bare(t)
	}
	name, end, err := p.path(t.End)
	if err != nil {
		return nil, err
	}
	ordinal, ok := p.resolve(level, name)
	if hyphened, more := p.hyphens(level, name); more > 0 {
		ordinal, ok, name = hyphened, true, name+p.lex.Rest()[:more]
		p.lex.Skip(more)
		end += more
	}
	if !ok {
		full := level.String() + "." + name
		if !slices.Contains(p.unknown, full) {
			p.unknown = append(p.unknown, full)
		}
	} else if level == Part && p.scope == DocumentOnly && p.outside == nil {
		p.outside = p.mistyped(t.Start, "part.%s cannot be used here: this filter selects documents, so it may use doc. references only", name)
	}
	p.next()
	return &node{op: opRef, at: t.Start, attr: ordinal}, nil
}

// bare refuses a name without its level, or a word of another language.
func (p *parser) bare(t expr.Token) error {
	upper := strings.ToUpper(t.Value)
	if strings.HasPrefix(strings.TrimSpace(p.lex.Rest()), "(") {
		return p.syntax(t.Start, "%s is not part of the filter language, which has no functions", t.Value)
	}
	if upper == "LIKE" || upper == "BETWEEN" || upper == "CASE" {
		return p.unexpected("a value or a reference")
	}
	return p.syntax(t.Start, "%s must be referenced as doc.%s or part.%s", t.Value, t.Value, t.Value)
}

// path reads "." name { "." name } right after the level's word.
func (p *parser) path(end int) (string, int, error) {
	var parts []string
	for strings.HasPrefix(p.lex.Rest(), ".") {
		p.lex.Skip(1)
		m, ok := p.lex.Member()
		if !ok {
			return "", 0, p.syntax(end+1, "expected a name after the period")
		}
		parts = append(parts, m.Value)
		end = m.End
	}
	return strings.Join(parts, "."), end, nil
}

// resolve finds an attribute; doc.metadata.x stands for doc.x where no attribute metadata.x is declared.
func (p *parser) resolve(l Level, name string) (int, bool) {
	if i, ok := p.schema.Find(l, name); ok {
		return i, true
	}
	if short, ok := strings.CutPrefix(name, "metadata."); ok {
		return p.schema.Find(l, short)
	}
	return 0, false
}

// hyphens decides what a hyphen right after a name means: part of the name where an attribute of that name is
// declared (the longest such name), else subtraction. It gives the number of bytes that belong to the name.
func (p *parser) hyphens(l Level, name string) (ordinal, more int) {
	rest := p.lex.Rest()
	if !strings.HasPrefix(rest, "-") {
		return 0, 0
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && !strings.ContainsRune("0123456789", r) && !isLetter(r)
	})
	if end < 0 {
		end = len(rest)
	}
	for n := end; n > 1; n-- {
		if i, ok := p.resolve(l, name+rest[:n]); ok {
			return i, n
		}
	}
	return 0, 0
}
