package markdown

import (
	"fmt"
	"math"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter is the size in bytes of the largest front matter that is parsed.
const maxFrontMatter = 64 << 10

// frontMatter splits source into its front matter, a YAML mapping between two lines of three hyphens at the start, and
// the rest. Anything else at the start is part of the rest.
func frontMatter(source string) (map[string]any, string) {
	none := map[string]any{}
	first, rest, ok := strings.Cut(source, "\n")
	if !ok || strings.TrimRight(first, " \t\r") != "---" {
		return none, source
	}
	size := 0
	for line := range strings.Lines(rest) {
		end := strings.TrimRight(line, " \t\r\n")
		if end != "---" && end != "..." {
			if size += len(line); size > maxFrontMatter {
				return none, source
			}
			continue
		}
		var raw map[string]any
		if err := yaml.Unmarshal([]byte(rest[:size]), &raw); err != nil || raw == nil {
			return none, source
		}
		meta := make(map[string]any, len(raw))
		for k, v := range raw {
			meta[k] = plainValue(v)
		}
		if t, ok := meta["title"]; ok {
			meta["title"] = fmt.Sprint(t)
		}
		if a, ok := meta["author"]; ok {
			if _, taken := meta["Author"]; !taken {
				meta["Author"] = a
			}
		}
		return meta, rest[size+len(line):]
	}
	return none, source
}

// plainValue converts a YAML value to one that JSON can represent.
func plainValue(v any) any {
	switch v := v.(type) {
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	case []any:
		for i := range v {
			v[i] = plainValue(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainValue(v[k])
		}
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[fmt.Sprint(k)] = plainValue(e)
		}
		return m
	}
	return v
}
