// Package check parses JSON strictly and checks it against the schemas of the contract. Every fault names a field of the
// request, with a reason that its sender understands. It knows neither requests nor operations.
package check

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quarry/internal/api"
	"quarry/internal/fault"
)

// Schemas checks values against the contract's schemas, each compiled when it is first needed. Safe for concurrent
// use.
type Schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler          // guarded by mu
	ready    map[string]*jsonschema.Schema // guarded by mu
}

// Contract returns the schemas of the contract, which are read once for the process.
var Contract = sync.OnceValues(func() (*Schemas, error) { return newSchemas(api.Schemas) })

func newSchemas(source []byte) (*Schemas, error) {
	var all map[string]any
	if err := json.Unmarshal(source, &all); err != nil {
		return nil, fmt.Errorf("read schemas: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for name, doc := range all {
		if err := c.AddResource(api.SchemaURL(name), doc); err != nil {
			return nil, fmt.Errorf("add schema %s: %w", name, err)
		}
	}
	return &Schemas{compiler: c, ready: map[string]*jsonschema.Schema{}}, nil
}

func (s *Schemas) get(name string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sch := s.ready[name]; sch != nil {
		return sch, nil
	}
	sch, err := s.compiler.Compile(api.SchemaURL(name))
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	s.ready[name] = sch
	return sch, nil
}

// Check adds to bad the places of v, named from path on, that the schema refuses. It removes members of v that differ from
// known ones in case alone, which Go's decoder would take for those, and reports whether there were any.
func (s *Schemas) Check(name string, v any, path string, bad *fault.Fault) (dropped bool, err error) {
	sch, err := s.get(name)
	if err != nil {
		return false, err
	}
	c := &checker{place: place{root: path}, bad: bad}
	c.check(sch, v)
	return c.dropped, nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

var typeNames = map[string]string{
	"string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false",
	"object": "an object", "array": "an array", "null": "null",
}

func either(types []string) string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = typeNames[t]
	}
	return strings.Join(out, " or ")
}

// TypeName returns the type of a JSON value with its article.
func TypeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "the number " + shorten(v.String())
	case []any:
		return "an array"
	}
	return "an object"
}

func values(all []any) string {
	out := make([]string, len(all))
	for i, v := range all {
		if out[i] = fmt.Sprint(v); v == nil {
			out[i] = "null"
		}
	}
	return strings.Join(out, ", ")
}

// Show returns a value as refusals repeat it, cut short.
func Show(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(shorten(v))
	case map[string]any, []any:
		return TypeName(v)
	case nil:
		return "null"
	}
	return shorten(fmt.Sprint(v))
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func format(name string) string {
	switch name {
	case "date-time":
		return "a date and time as in RFC 3339"
	case "email":
		return "an e-mail address"
	case "uri":
		return "a URI"
	}
	return "of the form " + name
}
