// Package bounds proves that every bound of the contract is exact: one below is refused, on it and one
// above it are taken, or the other way round. It walks the parameters and bodies of every operation that is built, so an
// operation without requests in testdata/requests.yaml fails its test. It is called by its own test.
package bounds

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bound is one limit of one place of an operation's request.
type Bound struct {
	Place   string // query.limit, body.search.corpora[].query, body.search.reranker<mmr>.diversity_bias
	Keyword string // minimum, maxLength, pattern, …
	Value   any
	Type    string // of the place: string, integer, number, array
	Pattern string // of a string
	Least   int    // minLength, minItems or minProperties
	Most    int    // maxLength or maxItems, 0 = none
}

type object = map[string]any

// Contract is the OpenAPI file.
type Contract struct{ doc object }

// NewContract reads the OpenAPI file.
func NewContract(raw []byte) (*Contract, error) {
	var doc object
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	return &Contract{doc}, nil
}

// Bounds returns the bounds of an operation's parameters and bodies in no particular order.
func (c *Contract) Bounds(operation string) ([]Bound, error) {
	for _, item := range members(c.doc["paths"]) {
		for _, op := range members(item) {
			spec, ok := op.(object)
			if !ok || spec["operationId"] != operation {
				continue
			}
			return c.of(spec, append(list(spec["parameters"]), list(item.(object)["parameters"])...)), nil
		}
	}
	return nil, fmt.Errorf("the contract has no operation %s", operation)
}

func (c *Contract) of(op object, parameters []any) []Bound {
	w := &walk{c: c, seen: map[string]int{}}
	for _, p := range parameters {
		p := c.follow(p)
		w.schema(p["schema"], fmt.Sprintf("%s.%s", p["in"], p["name"]))
	}
	for media, content := range members(c.follow(op["requestBody"])["content"]) {
		root := "body"
		if strings.HasPrefix(media, "multipart/") {
			root = "form"
		}
		w.schema(content.(object)["schema"], root)
	}
	return w.found
}

// follow returns the target of a reference, or v itself.
func (c *Contract) follow(v any) object {
	o, _ := v.(object)
	ref, _ := o["$ref"].(string)
	if ref == "" {
		return o
	}
	at := any(c.doc)
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(object)[name]
	}
	return c.follow(at)
}

// walk collects the bounds below a schema. A schema is entered at most twice on one path: stages hold stages.
type walk struct {
	c     *Contract
	seen  map[string]int
	found []Bound
}

func (w *walk) schema(v any, place string) {
	o, _ := v.(object)
	if ref, _ := o["$ref"].(string); ref != "" {
		if w.seen[ref] == 2 {
			return
		}
		w.seen[ref]++
		defer func() { w.seen[ref]-- }()
	}
	s := w.c.follow(v)
	w.bounds(s, place)
	for name, p := range members(s["properties"]) {
		w.schema(p, place+"."+name)
	}
	if s["items"] != nil {
		w.schema(s["items"], place+"[]")
	}
	if more, ok := s["additionalProperties"].(object); ok {
		w.schema(more, place+".any")
	}
	for _, part := range list(s["allOf"]) {
		w.schema(part, place)
	}
	w.variants(s, place)
}

// variants enters the branches of a union, by the discriminator's value where there is one.
func (w *walk) variants(s object, place string) {
	names := map[any]string{}
	discriminator, _ := s["discriminator"].(object)
	for name, ref := range members(discriminator["mapping"]) {
		names[ref] = name
	}
	for i, branch := range append(list(s["oneOf"]), list(s["anyOf"])...) {
		name, ok := names[branch.(object)["$ref"]]
		if !ok {
			name = fmt.Sprint(i)
		}
		w.schema(branch, place+"<"+name+">")
	}
}

var keywords = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}

func (w *walk) bounds(s object, place string) {
	b := Bound{Place: place}
	for _, what := range []string{"Length", "Items", "Properties"} { // a schema is of one of these kinds
		b.Least, b.Most = b.Least+whole(s["min"+what]), b.Most+whole(s["max"+what])
	}
	b.Type, _ = s["type"].(string)
	b.Pattern, _ = s["pattern"].(string)
	for _, k := range keywords {
		if v, ok := s[k]; ok {
			b.Keyword, b.Value = k, v
			w.found = append(w.found, b)
		}
	}
	if s["format"] != "int32" {
		return
	}
	for k, v := range map[string]any{"minimum": math.MinInt32, "maximum": math.MaxInt32} {
		if _, ok := s[k]; !ok {
			b.Keyword, b.Value = k, v
			w.found = append(w.found, b)
		}
	}
}

// Field is the name that field_errors use for a place. A repeated query parameter goes by its name alone.
func Field(place string) string {
	var out strings.Builder
	if strings.HasPrefix(place, "query.") {
		place = strings.TrimSuffix(place, "[]")
	}
	for rest := strings.ReplaceAll(place, "[]", "[0]"); rest != ""; {
		before, after, _ := strings.Cut(rest, "<")
		_, rest, _ = strings.Cut(after, ">")
		out.WriteString(before)
	}
	if field, ok := strings.CutPrefix(out.String(), "form."); ok {
		return "body." + field
	}
	return out.String()
}

func members(v any) object {
	o, _ := v.(object)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return slices.Clone(l)
}

func whole(v any) int {
	n, _ := v.(int)
	return n
}
