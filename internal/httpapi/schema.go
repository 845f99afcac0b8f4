package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"quarry/internal/api"
	"quarry/internal/fault"
)

// schemas checks values against the contract's schemas, each compiled when it is first needed. Safe for concurrent
// use.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler          // guarded by mu
	ready    map[string]*jsonschema.Schema // guarded by mu
}

func newSchemas(source []byte) (*schemas, error) {
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
	return &schemas{compiler: c, ready: map[string]*jsonschema.Schema{}}, nil
}

func (s *schemas) get(name string) (*jsonschema.Schema, error) {
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

// check adds to bad every place of v, named from path on, that the schema refuses.
func (s *schemas) check(name string, v any, path string, bad *fault.Fault) error {
	sch, err := s.get(name)
	if err != nil {
		return err
	}
	err = sch.Validate(v)
	var refused *jsonschema.ValidationError
	if errors.As(err, &refused) {
		report(refused, v, path, bad)
		return nil
	}
	return err
}

// report goes to the leaves of an error, which say what is wrong. A choice between forms is a leaf too: its branches
// contradict one another.
func report(e *jsonschema.ValidationError, v any, path string, bad *fault.Fault) {
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		where, _ := locate(v, e.InstanceLocation, path)
		bad.Field(where, "has none of the forms that are accepted here")
		return
	}
	for _, cause := range e.Causes {
		report(cause, v, path, bad)
	}
	if len(e.Causes) > 0 {
		return
	}
	where, got := locate(v, e.InstanceLocation, path)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			bad.Field(where+"."+name, "is required")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			bad.Field(where+"."+shorten(name), "is not known here")
		}
	default:
		bad.Field(where, "%s", reason(e.ErrorKind, got))
	}
}

// locate writes an instance location with dots and [n] and gives the value there.
func locate(v any, location []string, path string) (string, any) {
	for _, token := range location {
		switch in := v.(type) {
		case []any:
			path += "[" + token + "]"
			if i, err := strconv.Atoi(token); err == nil && i < len(in) {
				v = in[i]
			}
		case map[string]any:
			path += "." + shorten(token)
			v = in[token]
		}
	}
	return path, v
}

func reason(e jsonschema.ErrorKind, got any) string {
	switch k := e.(type) {
	case *kind.Type:
		return "must be " + either(k.Want) + ", not " + typeName(got)
	case *kind.Enum:
		return "must be one of " + values(k.Want) + ", not " + show(k.Got)
	case *kind.Const:
		return "must be " + show(k.Want) + ", not " + show(k.Got)
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	case *kind.Pattern:
		return "must match the pattern " + k.Want
	case *kind.Format:
		return "must be " + format(k.Want) + ", not " + show(k.Got)
	case *kind.Not, *kind.FalseSchema:
		return "is not allowed here"
	}
	return size(e)
}

func size(e jsonschema.ErrorKind) string {
	switch k := e.(type) {
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must be at least %s long, it has %d", count(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must be at most %s long, it has %d", count(k.Want, "character"), k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s", count(k.Want, "item"))
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s, it has %d", count(k.Want, "item"), k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %s", count(k.Want, "member"))
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %s, it has %d", count(k.Want, "member"), k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("has the same item at %d and %d", k.Duplicates[0], k.Duplicates[1])
	}
	return "is not what the contract allows"
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

func typeName(v any) string {
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
		out[i] = fmt.Sprint(v)
	}
	return strings.Join(out, ", ")
}

func show(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(shorten(v))
	case map[string]any, []any:
		return typeName(v)
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
