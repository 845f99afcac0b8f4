// Package jsonpath removes from JSON what paths of clients select (RFC 9535).
package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ohler55/ojg/jp"
)

// Bounds of a path and of what it selects.
const (
	maxLength  = 500 // characters
	maxMatches = 10_000
)

// Path is a path that was read. It is safe for concurrent use.
type Path struct{ expr jp.Expr }

// Parse reads a path. One that selects the whole value is none.
func Parse(text string) (*Path, error) {
	if n := utf8.RuneCountInString(text); n > maxLength {
		return nil, fmt.Errorf("has %d characters, more than the %d that are allowed", n, maxLength)
	}
	x, err := jp.ParseString(text)
	if err != nil {
		return nil, fmt.Errorf("is no JSONPath, as $.author.email or $..internal: %w", err)
	}
	if !slices.ContainsFunc(x, func(f jp.Frag) bool {
		switch f.(type) {
		case jp.Root, jp.At, jp.Bracket, jp.Descent:
			return false
		}
		return true
	}) {
		return nil, errors.New("selects nothing within the value; a path names members behind the $, as $.author.email")
	}
	return &Path{x}, nil
}

// Remove returns v, decoded JSON that it may change, with numbers of either kind, without what the path selects.
func (p *Path) Remove(v any) any {
	found := p.expr.Locate(plain(v), maxMatches)
	// the last items of a list first, so that those before them keep their places
	slices.SortStableFunc(found, func(a, b jp.Expr) int { return compare(b, a) })
	for _, path := range found {
		v = remove(v, path)
	}
	return v
}

// plain returns a copy of v whose numbers can be compared.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Float64()
		return n
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = plain(v[name])
		}
		return out
	}
	return v
}

// compare orders places so that those within others, and later items, come behind.
func compare(a, b jp.Expr) int {
	for i := range min(len(a), len(b)) {
		m, isItem := a[i].(jp.Nth)
		n, too := b[i].(jp.Nth)
		if isItem && too && m != n {
			return int(m) - int(n)
		}
		if x, y := a[i:i+1].String(), b[i:i+1].String(); !(isItem && too) && x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return len(a) - len(b)
}

// remove returns v without what stands at a place.
func remove(v any, path jp.Expr) any {
	if len(path) == 0 {
		return v
	}
	switch at := path[0].(type) {
	case jp.Root, jp.At:
		return remove(v, path[1:])
	case jp.Child:
		object, _ := v.(map[string]any)
		inner, ok := object[string(at)]
		switch {
		case !ok:
		case len(path) == 1:
			delete(object, string(at))
		default:
			object[string(at)] = remove(inner, path[1:])
		}
		return v
	case jp.Nth:
		list, _ := v.([]any)
		i := int(at)
		switch {
		case i < 0 || i >= len(list):
		case len(path) == 1:
			return slices.Delete(list, i, i+1)
		default:
			list[i] = remove(list[i], path[1:])
		}
	}
	return v
}
