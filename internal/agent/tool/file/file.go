// Package file is the tools of agents for the files of a session: those that make, read, search and query them, image_read, which shows
// the model an image, document_conversion, and get_document_text, which writes the text of a document to a file (contract: tools.md
// section 3).
package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
)

// The names of the tools, and of the types of their configurations.
const (
	Create       = "artifact_create"
	Read         = "artifact_read"
	Grep         = "artifact_grep"
	Query        = "artifact_jq" // has no type of its own
	Image        = "image_read"
	Conversion   = "document_conversion"
	DocumentText = "get_document_text"
)

// Config is what the tools work with.
type Config struct {
	Documents Documents
	Reader    Reader
	MaxFile   int64 // bytes of a file that is converted
}

// Tools returns the types of the tools, and the tools that have no type of their own.
func Tools(c Config) (types, dynamic map[string]tool.Type, err error) {
	types, dynamic = map[string]tool.Type{}, map[string]tool.Type{}
	for name, made := range map[string]func(*schema.Schema) tool.Type{
		Create: newCreate, Read: newRead, Grep: newGrep, Image: newImage, Query: newQuery,
		DocumentText: func(s *schema.Schema) tool.Type { return newText(s, c.Documents) },
		Conversion:   func(s *schema.Schema) tool.Type { return newConversion(s, c.Reader, c.MaxFile) },
	} {
		arguments, err := schema.New(json.RawMessage(schemas[name].arguments))
		if err != nil {
			return nil, nil, fmt.Errorf("arguments of %s: %w", name, err)
		}
		output, err := schema.New(json.RawMessage(schemas[name].output))
		if err != nil {
			return nil, nil, fmt.Errorf("output of %s: %w", name, err)
		}
		into := types
		if name == Query {
			into = dynamic
		}
		into[name] = returning(made(arguments), output)
	}
	return types, dynamic, nil
}

// returning returns a type whose tools have outputs of a shape.
func returning(made tool.Type, output *schema.Schema) tool.Type {
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		t, err := made(configuration)
		if err == nil {
			t.Output = output
		}
		return t, err
	}
}

// settingsField is the member of configurations that has the settings of a tool.
const settingsField = "tool_configuration"

// settings reads the settings of a configuration into v, whose members are all that there are.
func settings(configuration json.RawMessage, v any) error {
	var c struct {
		Settings json.RawMessage `json:"tool_configuration"`
	}
	if err := json.Unmarshal(configuration, &c); err != nil || len(c.Settings) == 0 || string(c.Settings) == "null" {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(c.Settings))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return fault.InvalidField(fault.Join(settingsField, kind.Field), "can't be %s", kind.Value)
	case err != nil:
		return fault.InvalidField(settingsField, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// unconfigured refuses settings of a tool that has none.
func unconfigured(configuration json.RawMessage) error { return settings(configuration, &struct{}{}) }

// invalid returns the failure of arguments.
func invalid(format string, args ...any) error {
	return &tool.Failure{Class: tool.InvalidInput, Text: fmt.Sprintf(format, args...)}
}

// arguments reads the arguments of a call.
func arguments(c *tool.Call, v any) error {
	if err := json.Unmarshal(c.Arguments, v); err != nil {
		return invalid("the arguments can't be read: %s", err)
	}
	if c.Files == nil {
		return &tool.Failure{Class: tool.ExecutionError, Text: "a session can't have files while it is made"}
	}
	return nil
}

// Reference is what an output says of a file.
type Reference struct {
	ID       string `json:"artifact_id"`
	Filename string `json:"filename"`
	MIME     string `json:"mime_type"`
	Size     int64  `json:"size_bytes"`
}

func reference(a *artifact.Artifact) Reference { return Reference{a.ID, a.Filename, a.MIME, a.Size} }

// encode writes an output.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write the output of a tool: %w", err)
	}
	return b.Bytes(), nil
}

// upTo reads at most n bytes of r.
func upTo(r io.Reader, n int64) ([]byte, error) { return io.ReadAll(io.LimitReader(r, n)) }
