package filter

import (
	"slices"
	"strings"

	"quarry/internal/expr"
	"quarry/internal/fault"
)

// reserved words can't be names without quotes.
var reserved = []string{"AND", "OR", "NOT", "IN", "IS"}

// reference parses doc.<name> or part.<name>, where the name may be quoted and may contain further periods.
func (p *parser) reference() *node {
	t := p.tok
	if slices.ContainsFunc(reserved, func(w string) bool { return strings.EqualFold(w, t.Value) }) {
		panic(p.unexpected("a value, a reference or ("))
	}
	level := Document
	switch {
	case t.Value == "part":
		level = Part
	case t.Value != "doc":
		panic(p.bare(t))
	}
	if !strings.HasPrefix(p.lex.Rest(), ".") {
		panic(p.bare(t))
	}
	name, unquoted := p.path(t.End)
	ordinal, ok := p.resolve(level, name)
	if unquoted {
		var more int
		if ordinal, ok, more = p.hyphens(level, name); more > 0 {
			name += p.lex.Rest()[:more]
			p.lex.Skip(more)
		}
	}
	written := strings.TrimSuffix(p.text[t.Start:], p.lex.Rest())
	if !ok && !slices.Contains(p.unknown, written) {
		p.unknown = append(p.unknown, written)
	}
	if ok && level == Part && p.scope == DocumentOnly && p.outside == nil {
		p.outside = p.typeError(t.Start, "%s cannot be used here: this filter selects documents, so it may use doc. references only", written)
	}
	p.next()
	return &node{op: opRef, at: t.Start, attr: ordinal}
}

// bare returns the error of a name without a level, or of a word of another language.
func (p *parser) bare(t expr.Token) *fault.Fault {
	if strings.HasPrefix(strings.TrimSpace(p.lex.Rest()), "(") && !sqlWord(t) {
		return p.syntax(t.Start, "%s is not part of the filter language, which has no functions", t.Value)
	}
	if sqlWord(t) {
		return p.unexpected("a value or a reference")
	}
	if lower := strings.ToLower(t.Value); lower != t.Value && (lower == "doc" || lower == "part") && strings.HasPrefix(p.lex.Rest(), ".") {
		return p.syntax(t.Start, "%s must be written in lower case, as %s", t.Value, lower)
	}
	return p.syntax(t.Start, "%s must be referenced as doc.%s or part.%s", t.Value, t.Value, t.Value)
}

// path parses "." name { "." name } right after the level. unquoted is about the last name.
func (p *parser) path(end int) (name string, unquoted bool) {
	var parts []string
	for strings.HasPrefix(p.lex.Rest(), ".") {
		p.lex.Skip(1)
		m, ok := p.lex.Member()
		if !ok {
			panic(p.syntax(end+1, "expected a name after the period"))
		}
		parts = append(parts, m.Value)
		end, unquoted = m.End, m.Quote == 0
	}
	return strings.Join(parts, "."), unquoted
}

// resolve returns the ordinal of an attribute; doc.metadata.x means doc.x unless an attribute metadata.x is declared.
func (p *parser) resolve(l Level, name string) (int, bool) {
	if i, ok := p.schema.Find(l, name); ok {
		return i, true
	}
	if short, ok := strings.CutPrefix(name, "metadata."); ok {
		return p.schema.Find(l, short)
	}
	return 0, false
}

// hyphens decides whether hyphens right after a name belong to it or are minus signs. They belong to the name if an
// attribute of that name is declared (the longest such name). If the name alone is unknown, too, and a word follows the
// hyphen, the whole is one unknown name. Otherwise they are minus signs. more is the number of bytes that belong to the
// name.
func (p *parser) hyphens(l Level, name string) (ordinal int, ok bool, more int) {
	rest := p.lex.Rest()
	end := len(rest)
	if i := strings.IndexFunc(rest, func(r rune) bool { return r != '-' && r != '.' && !expr.InName(r) }); i >= 0 {
		end = i
	}
	if strings.HasPrefix(rest, "-") {
		for n := min(end, p.schema.longest+len("metadata.")-len(name)); n > 1; n-- {
			whole := (n == end || rest[n] == '-') && rest[n-1] != '-' && rest[n-1] != '.'
			if !whole {
				continue
			}
			if i, ok := p.resolve(l, name+rest[:n]); ok {
				return i, true, n
			}
		}
	}
	ordinal, ok = p.resolve(l, name)
	if !ok && end > 1 && rest[0] == '-' && wordAfter(rest[1:end]) {
		return 0, false, end
	}
	return ordinal, ok, 0
}

// wordAfter reports whether s, which follows a hyphen, continues a name rather than beginning a number, another sign or a
// reference.
func wordAfter(s string) bool {
	return s[0] != '-' && s[0] != '.' && (s[0] < '0' || s[0] > '9') &&
		!strings.HasPrefix(s, "doc.") && !strings.HasPrefix(s, "part.")
}
