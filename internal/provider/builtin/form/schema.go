package form

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"quarry/internal/provider/builtin/span"
)

// absent is the value of a member for which nothing was found.
type absent struct{}

// value returns a value for a schema. It is absent where nothing was found and the place does not need one.
func (f *filler) value(schema any, p place) any {
	if f.steps++; f.steps > mostSteps || p.depth > 2*deepest {
		return p.orAbsent(nil)
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
	kinds := kindsIn(s)
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
	return p.orAbsent(nil)
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

// kindsIn returns the types that a schema admits, by its members where it does not say.
func kindsIn(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		return texts(t)
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

// texts returns the strings in a list.
func texts(list []any) (out []string) {
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// resolve follows references within the schema and merges what must hold together. What cannot be read admits all.
func (f *filler) resolve(schema any, depth int) map[string]any {
	s, _ := schema.(map[string]any)
	for range deepest {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		merged := map[string]any{}
		maps.Copy(merged, f.lookup(ref))
		beside := maps.Clone(s)
		delete(beside, "$ref")
		maps.Copy(merged, beside)
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

// alternative returns a value of the first schema for which something is found, else null if that is allowed, else one of the
// first.
func (f *filler) alternative(s map[string]any, list []any, p place) any {
	rest := maps.Clone(s)
	delete(rest, "anyOf")
	delete(rest, "oneOf")
	null := false
	var first map[string]any
	for _, x := range list {
		option := maps.Clone(rest)
		merge(option, f.resolve(x, 0))
		if slices.Equal(kindsIn(option), []string{"null"}) {
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
	if !p.must || null || first == nil {
		return p.orAbsent(nil)
	}
	return f.value(first, place{p.name, p.about, p.depth + 1, true})
}

func (f *filler) object(s map[string]any, p place) any {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	list, _ := s["required"].([]any)
	required := texts(list)
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

// fixedValue returns a text as the value of a member, which may be a list of texts.
func fixedValue(schema map[string]any, text string) any {
	if slices.Equal(kindsIn(schema), []string{"array"}) {
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

// elements returns what was found for an array: the values of an enumeration that question or answer name, the numbers of the
// passages that it is to cite, the sentences about it, or a value for each of these.
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
	if cites(p) && slices.Contains(kindsIn(items), "integer") {
		for _, c := range f.from.Answer {
			if c.N > 0 {
				out = append(out, c.N)
			}
		}
		return out
	}
	if f.only >= 0 || slices.Contains(kindsIn(items), "string") {
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

// cites reports whether a member is to hold numbers of passages.
func cites(p place) bool {
	return slices.ContainsFunc(span.Words(p.name), func(w string) bool {
		return strings.HasPrefix(w, "citation") || strings.HasPrefix(w, "source") || strings.HasPrefix(w, "reference")
	})
}

// another changes a value so that an array of unique elements may hold it, too.
func another(v any, n int) any {
	switch x := v.(type) {
	case float64:
		return x + float64(n)
	case int64:
		return x + int64(n)
	}
	return v
}
