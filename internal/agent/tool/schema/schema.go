// Package schema holds values to JSON Schemas: the arguments of tools, their outputs, structured answers.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"quarry/internal/agent/tool/reference"
	"quarry/internal/jsonvalue"
)

// Schema is the JSON Schema of the arguments of a tool, which are an object, or of a structured answer.
type Schema struct {
	raw      json.RawMessage
	compiled *jsonschema.Schema
}

// New compiles a schema.
func New(raw json.RawMessage) (*Schema, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	const here = "urn:schema" // a relative name would stand behind the working directory in messages
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is loaded from files or the network
	if err := c.AddResource(here, v); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	compiled, err := c.Compile(here)
	var invalid *jsonschema.SchemaValidationError
	var because *jsonschema.ValidationError
	switch {
	case errors.As(err, &invalid) && errors.As(invalid.Err, &because):
		return nil, fmt.Errorf("is no JSON Schema: %s", strings.Join(leaves(because, nil), "; "))
	case err != nil:
		return nil, fmt.Errorf("is a JSON Schema that can't be used: %w", err)
	}
	return &Schema{raw, compiled}, nil
}

// JSON returns the schema as it was written.
func (s *Schema) JSON() json.RawMessage { return s.raw }

// maxReasons bounds how many reasons an error of arguments has.
const maxReasons = 10

// Check returns why a value, decoded JSON, does not fit, nil if it does.
func (s *Schema) Check(value any) error {
	var bad *jsonschema.ValidationError
	if err := s.compiled.Validate(value); !errors.As(err, &bad) {
		return err
	}
	var reasons []string
	reasons = leaves(bad, reasons)
	return errors.New(strings.Join(reasons, "; "))
}

// english writes the messages of the library.
var english = message.NewPrinter(language.English)

// leaves adds the reasons of an error that have no causes of their own.
func leaves(e *jsonschema.ValidationError, reasons []string) []string {
	for _, cause := range e.Causes {
		reasons = leaves(cause, reasons)
	}
	if len(e.Causes) > 0 || len(reasons) >= maxReasons {
		return reasons
	}
	text := e.ErrorKind.LocalizedString(english)
	switch k := e.ErrorKind.(type) { // the library writes large bounds as powers of ten
	case *kind.Minimum:
		text = "must be at least " + number(k.Want)
	case *kind.Maximum:
		text = "must be at most " + number(k.Want)
	}
	if len(e.InstanceLocation) > 0 {
		text = strings.Join(e.InstanceLocation, ".") + ": " + text
	}
	return append(reasons, text)
}

// number returns a bound as people write it.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// Without returns the schema without these arguments.
func (s *Schema) Without(paths [][]reference.Step) json.RawMessage {
	if len(paths) == 0 {
		return s.raw
	}
	v, _ := jsonvalue.Decode(s.raw).(map[string]any)
	for _, p := range paths {
		hide(v, p)
	}
	return jsonvalue.Encode(v)
}

// hide removes an argument from the schema of the object that it is in. A position of a list can't be removed alone, since one
// schema holds for all of them: the list stays as it is.
func hide(schema map[string]any, path []reference.Step) {
	name := path[0].Name
	properties, _ := schema["properties"].(map[string]any)
	if len(path) > 1 {
		if inner, ok := properties[name].(map[string]any); ok && path[1].Index < 0 {
			hide(inner, path[1:])
		}
		return
	}
	delete(properties, name)
	if required, ok := schema["required"].([]any); ok {
		required = slices.DeleteFunc(required, func(v any) bool { return v == name })
		if schema["required"] = required; len(required) == 0 {
			delete(schema, "required")
		}
	}
}

// Find returns what is wrong with the path of an override, nil if there can be such an argument.
func (s *Schema) Find(path []reference.Step) error {
	at, _ := jsonvalue.Decode(s.raw).(map[string]any)
	for _, step := range path {
		if step.Index >= 0 {
			if !takes(at, "array") {
				return fmt.Errorf("is no argument of the tool: what stands before [%d] is no list", step.Index)
			}
			at, _ = at["items"].(map[string]any)
			continue
		}
		properties, _ := at["properties"].(map[string]any)
		next, known := properties[step.Name]
		if closed := at["additionalProperties"] == false; !known && (closed || !takes(at, "object")) {
			return fmt.Errorf("is no argument of the tool; it takes %s", either(properties))
		}
		at, _ = next.(map[string]any)
	}
	return nil
}

// takes reports whether a schema allows values of a type, which it does if it says nothing of types.
func takes(schema map[string]any, kind string) bool {
	switch types := schema["type"].(type) {
	case string:
		return types == kind
	case []any:
		return slices.Contains(types, any(kind))
	}
	return true
}

func either(properties map[string]any) string {
	if len(properties) == 0 {
		return "nothing here"
	}
	return strings.Join(slices.Sorted(maps.Keys(properties)), ", ")
}
