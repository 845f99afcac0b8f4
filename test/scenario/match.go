package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// at returns the value at a dotted path in decoded JSON; list elements by number.
func at(v any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			member, ok := x[name]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// differ describes how got fails to contain want: members of maps one by one, lists element by element and of equal
// length, numbers by value, the text "*" matches anything that is there. "" when it does contain it.
func differ(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: got %s, want an object", path, show(got))
		}
		for k, v := range w {
			member, ok := g[k]
			if !ok {
				return fmt.Sprintf("%s.%s: is missing in %s", path, k, show(got))
			}
			if d := differ(path+"."+k, v, member); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: got %s, want %d elements", path, show(got), len(w))
		}
		for i := range w {
			if d := differ(fmt.Sprintf("%s.%d", path, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		if w == "*" {
			return ""
		}
	case int:
		want = float64(w)
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s: got %s, want %s", path, show(got), show(want))
	}
	return ""
}

func show(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(raw) > 400 {
		raw = append(raw[:400], "…"...)
	}
	return string(raw)
}

// fill replaces ${name} in every string of v by the saved value; a string that is nothing but ${name} takes the value
// itself.
func fill(v any, saved map[string]any) any {
	switch x := v.(type) {
	case string:
		return fillText(x, saved)
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, m := range x {
			out[k] = fill(m, saved)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, m := range x {
			out[i] = fill(m, saved)
		}
		return out
	}
	return v
}

func fillText(s string, saved map[string]any) any {
	for name, value := range saved {
		if s == "${"+name+"}" {
			return value
		}
		s = strings.ReplaceAll(s, "${"+name+"}", fmt.Sprint(value))
	}
	return s
}
