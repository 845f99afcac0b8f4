package examples

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// standIns maps what examples show (identifiers, secrets, addresses) to what stands for it on one service.
type standIns map[string]string

// put returns v with the stand-ins in all of its texts.
func (s standIns) put(v any) any {
	switch x := v.(type) {
	case string:
		return s.text(x)
	case map[string]any:
		out := make(map[string]any, len(x))
		for name, member := range x {
			out[name] = s.put(member)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = s.put(item)
		}
		return out
	}
	return v
}

// text puts longer names first, since one may be the beginning of another.
func (s standIns) text(text string) string {
	names := slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	pairs := make([]string, 0, 2*len(names))
	for _, name := range names {
		pairs = append(pairs, name, s[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// identifier is how examples show a name that the service made up: a prefix, then characters with a digit among them.
// The service's own may have none.
var identifier = regexp.MustCompile(`^([a-z]{2,5}_|chatcmpl-)[0-9A-Za-z_-]*[0-9][0-9A-Za-z_-]*$`)

// comparison compares an answer with the one that an example shows. It learns stand-ins on the way.
type comparison struct {
	free     []string // names of members of which only the type counts
	standIns standIns
}

// differ describes how got fails to show want, "" if it does: objects may have further members and lists further items.
func (c comparison) differ(place string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return unlike(place, want, got)
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			member, ok := g[name]
			if !ok {
				return fmt.Sprintf("%s.%s is not in %v", place, name, got)
			}
			if d := c.differ(place+"."+name, w[name], member); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) < len(w) {
			return unlike(place, want, got)
		}
		for i := range w {
			if d := c.differ(fmt.Sprintf("%s[%d]", place, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		g, ok := got.(string)
		if !ok || !c.alike(place, w, g) {
			return unlike(place, want, got)
		}
		return ""
	case float64:
		g, ok := got.(float64)
		if ok && (c.isFree(place) || math.Trunc(w) != w || math.Trunc(g) != g) {
			return ""
		}
	}
	if !reflect.DeepEqual(want, got) {
		return unlike(place, want, got)
	}
	return ""
}

// alike reports whether got may stand where an example shows want.
func (c comparison) alike(place, want, got string) bool {
	if c.standIns.text(want) == got {
		return true
	}
	shown := identifier.FindStringSubmatch(want)
	if c.isFree(place) || shown != nil && strings.HasPrefix(got, shown[1]) {
		c.standIns[want] = got
		return true
	}
	return isTime(want) && isTime(got)
}

func (c comparison) isFree(place string) bool {
	return slices.Contains(c.free, place[strings.LastIndexByte(place, '.')+1:])
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

func unlike(place string, want, got any) string {
	return fmt.Sprintf("%s: the example shows %v, the service answers %v", place, want, got)
}
