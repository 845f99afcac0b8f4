package offload

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a shape.
const (
	shapeDepth   = 4
	shapeMembers = 20  // of an object
	shapeName    = 40  // characters of a name
	shapeLength  = 800 // characters
)

// shape describes JSON in a line: what its members are, of what kind, and how many there are.
func shape(v any) string {
	var b strings.Builder
	describe(&b, v, 0)
	s := []rune(b.String())
	if len(s) > shapeLength {
		return string(s[:shapeLength]) + "…"
	}
	return string(s)
}

func describe(b *strings.Builder, v any, depth int) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString("boolean")
	case json.Number:
		b.WriteString("number")
	case string:
		fmt.Fprintf(b, "text of %d characters", utf8.RuneCountInString(v))
	case []any:
		fmt.Fprintf(b, "list of %d", len(v))
		if len(v) > 0 {
			b.WriteString(", the first: ")
			describe(b, v[0], depth)
		}
	case map[string]any:
		describeObject(b, v, depth)
	}
}

func describeObject(b *strings.Builder, v map[string]any, depth int) {
	if depth == shapeDepth {
		fmt.Fprintf(b, "object of %d", len(v))
		return
	}
	b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			b.WriteString("; ")
		}
		if i == shapeMembers {
			fmt.Fprintf(b, "… %d more", len(v)-i)
			break
		}
		if r := []rune(name); len(r) > shapeName {
			b.WriteString(string(r[:shapeName]) + "…")
		} else {
			b.WriteString(name)
		}
		b.WriteString(": ")
		describe(b, v[name], depth+1)
	}
	b.WriteString("}")
}
