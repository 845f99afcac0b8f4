package form

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"quarry/internal/provider/builtin/span"
)

// absent is the value of a member of which nothing was found.
type absent struct{}

// value returns a value for a schema. It is absent where nothing was found and the place does not need one.
func (f *filler) value(schema any, p place) any {
	if f.steps++; f.steps > mostSteps || p.depth > 2*deepest {
		if p.must {
			return nil
		}
		return absent{}
	}
	s := f.resolve(schema, 0)
	if c, ok := s["const"]; ok {
		return c
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return f.oneOf(list, s, p)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if list, ok := s[word].([]any); ok && len(list) > 0 {
			return f.alternative(s, list, p)
		}
	}
	if d, ok := s["default"]; ok && f.from.Needed {
		return d
	}
	kinds := kindsOf(s)
	inner := p
	inner.must = p.must && !slices.Contains(kinds, "null")
	for _, k := range kinds {
		if k == "null" {
			continue
		}
		if v := f.ofType(k, s, inner); v != (any)(absent{}) {
			return v
		}
	}
	if p.must {
		return nil
	}
	return absent{}
}

func (f *filler) ofType(kind string, s map[string]any, p place) any {
	switch kind {
	case "object":
		return f.object(s, p)
	case "array":
		return f.array(s, p)
	case "integer", "number":
		return f.number(s, p, kind == "integer")
	case "boolean":
		return f.boolean(p)
	}
	return f.text(s, p)
}

// kindsOf returns the types that a schema admits, by its members where it does not say.
func kindsOf(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, x := range t {
			if k, ok := x.(string); ok {
				out = append(out, k)
			}
		}
		return out
	}
	switch {
	case s["properties"] != nil || s["required"] != nil:
		return []string{"object"}
	case s["items"] != nil || s["prefixItems"] != nil:
		return []string{"array"}
	case s["minimum"] != nil || s["maximum"] != nil:
		return []string{"number"}
	}
	return []string{"string"}
}

// resolve follows references within the schema and merges what must hold together. What cannot be read admits all.
func (f *filler) resolve(schema any, depth int) map[string]any {
	s, _ := schema.(map[string]any)
	for range deepest {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		target := f.lookup(ref)
		merged := maps.Clone(target)
		if merged == nil {
			merged = map[string]any{}
		}
		for k, v := range s {
			if k != "$ref" {
				merged[k] = v
			}
		}
		s = merged
	}
	all, ok := s["allOf"].([]any)
	if !ok || depth > deepest {
		return s
	}
	out := maps.Clone(s)
	delete(out, "allOf")
	for _, x := range all[:min(mostItems, len(all))] {
		merge(out, f.resolve(x, depth+1))
	}
	return out
}

func merge(into, s map[string]any) {
	for k, v := range s {
		switch have := into[k].(type) {
		case map[string]any:
			if more, ok := v.(map[string]any); ok {
				have = maps.Clone(have)
				maps.Copy(have, more)
				into[k] = have
			}
		case []any:
			if more, ok := v.([]any); ok && k == "required" {
				into[k] = append(slices.Clone(have), more...)
			}
		case nil:
			into[k] = v
		}
	}
}

// lookup finds "#/$defs/x" in the whole schema.
func (f *filler) lookup(ref string) map[string]any {
	at := f.root
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	m, _ := at.(map[string]any)
	return m
}

// alternative takes the first schema of which something is found, else null if that is one, else the first.
func (f *filler) alternative(s map[string]any, list []any, p place) any {
	rest := maps.Clone(s)
	delete(rest, "anyOf")
	delete(rest, "oneOf")
	null := false
	var first map[string]any
	for _, x := range list {
		option := maps.Clone(rest)
		merge(option, f.resolve(x, 0))
		if slices.Equal(kindsOf(option), []string{"null"}) {
			null = true
			continue
		}
		if first == nil {
			first = option
		}
		if v := f.value(option, place{p.name, p.about, p.depth + 1, false}); v != (any)(absent{}) {
			return v
		}
	}
	switch {
	case !p.must:
		return absent{}
	case null || first == nil:
		return nil
	}
	return f.value(first, place{p.name, p.about, p.depth + 1, true})
}

func (f *filler) object(s map[string]any, p place) any {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	var required []string
	if list, ok := s["required"].([]any); ok {
		for _, x := range list {
			if name, ok := x.(string); ok {
				required = append(required, name)
			}
		}
	}
	names := slices.Sorted(maps.Keys(properties))
	for _, name := range required {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	found := false
	for _, name := range names {
		must := slices.Contains(required, name)
		if !must && (f.from.Needed || p.depth >= deepest || f.members >= mostMembers) {
			continue
		}
		f.members++
		inner := place{name: name, depth: p.depth + 1, must: must}
		member := f.resolve(properties[name], 0)
		inner.about, _ = member["description"].(string)
		if v, ok := f.from.Fixed[name]; ok && p.depth == 0 {
			out[name] = fixedValue(member, v)
			continue
		}
		if v := f.value(member, inner); v != (any)(absent{}) {
			out[name] = v
			found = true
		}
	}
	if !found && !p.must && !f.from.Needed {
		return absent{}
	}
	return out
}

// fixedValue is a text as a member that may be a list of texts wants it.
func fixedValue(schema map[string]any, text string) any {
	if slices.Equal(kindsOf(schema), []string{"array"}) {
		return []any{text}
	}
	if most, ok := schema["maxLength"].(float64); ok {
		return span.Cut(text, int(most))
	}
	return text
}

func (f *filler) array(s map[string]any, p place) any {
	least, most := 0, mostItems
	if n, ok := s["minItems"].(float64); ok {
		least = int(min(n, mostMembers))
	}
	if n, ok := s["maxItems"].(float64); ok {
		most = min(most, int(n))
	}
	most = max(most, least)
	items := f.resolve(s["items"], 0)
	out := []any{}
	seen := map[string]bool{}
	add := func(v any) bool {
		key, err := json.Marshal(v)
		if err != nil || seen[string(key)] {
			return false
		}
		seen[string(key)] = true
		out = append(out, v)
		return true
	}
	for _, v := range f.elements(items, p) {
		if len(out) < most {
			add(v)
		}
	}
	if len(out) == 0 && !p.must {
		return absent{}
	}
	for len(out) < least {
		v := f.value(items, place{name: p.name, about: p.about, depth: p.depth + 1, must: true})
		if !add(v) && (s["uniqueItems"] != true || !add(another(v, len(out)))) {
			out = append(out, v)
		}
	}
	return out
}

// elements returns what was found for an array: every value of an enumeration that stands in what was found, an object or a
// number for each sentence or passage, or the sentences.
func (f *filler) elements(items map[string]any, p place) []any {
	if f.from.Needed || p.depth >= deepest {
		return nil
	}
	var out []any
	inner := place{name: p.name, about: p.about, depth: p.depth + 1}
	if list, ok := items["enum"].([]any); ok {
		for _, x := range list {
			if f.mentioned(x) {
				out = append(out, x)
			}
		}
		return out
	}
	best := f.best(p)
	if cites(p) && slices.Contains(kindsOf(items), "integer") {
		for _, c := range f.from.Answer {
			if c.N > 0 {
				out = append(out, c.N)
			}
		}
		return out
	}
	if f.only >= 0 || slices.Contains(kindsOf(items), "string") {
		for _, c := range best[:min(mostItems, len(best))] {
			if v, ok := f.fit(items, c.Text, inner); ok {
				out = append(out, v)
			}
		}
		return out
	}
	for _, c := range best {
		if len(out) == mostItems || f.members >= mostMembers {
			break
		}
		f.only = c.Passage
		if v := f.value(items, inner); v != (any)(absent{}) {
			out = append(out, v)
		}
		f.only = -1
	}
	return out
}

func cites(p place) bool {
	for _, w := range span.Words(p.name) {
		if strings.HasPrefix(w, "citation") || strings.HasPrefix(w, "source") || strings.HasPrefix(w, "reference") {
			return true
		}
	}
	return false
}

// another changes a value so that an array of unlike elements may hold it, too.
func another(v any, n int) any {
	switch x := v.(type) {
	case float64:
		return x + float64(n)
	case int64:
		return x + int64(n)
	}
	return v
}
