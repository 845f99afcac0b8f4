// Package file is the tools of agents for the files of a session: artifact_create, artifact_read and artifact_grep, and
// get_document_text, which writes the text of a document to a file (contract: tools.md section 3).
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
	DocumentText = "get_document_text"
)

// Types returns the types of the tools.
func Types(d Documents) (map[string]tool.Type, error) {
	out := map[string]tool.Type{}
	for name, made := range map[string]func(*schema.Schema) tool.Type{
		Create: newCreate, Read: newRead, Grep: newGrep, DocumentText: func(s *schema.Schema) tool.Type { return newText(s, d) },
	} {
		arguments, err := schema.New(json.RawMessage(schemas[name]))
		if err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", name, err)
		}
		out[name] = made(arguments)
	}
	return out, nil
}

// schemas are of the arguments.
var schemas = map[string]string{
	Create: `{
	"type": "object",
	"properties": {
		"filename": {"type": "string", "minLength": 1, "maxLength": 255, "description": "The name of the file with its ending, as in report.md."},
		"content": {"type": "string", "description": "What the file holds: text."},
		"mime_type": {"type": "string", "maxLength": 255, "description": "The media type; left out, it follows from the ending of the name."},
		"description": {"type": "string", "maxLength": 1000, "description": "What the file is, in a sentence."}
	},
	"required": ["filename", "content"],
	"additionalProperties": false
}`,
	Read: `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "minLength": 1, "description": "The id of the file, as in art_report_x7k2."},
		"encoding": {"type": "string", "enum": ["raw", "base64"], "description": "raw, the default, for text; base64 for everything else."},
		"start_line": {"type": "integer", "minimum": 1, "description": "The first line to read, counted from 1; left out with end_line, the whole file is read."},
		"end_line": {"type": "integer", "minimum": 1, "description": "The last line to read, itself included."}
	},
	"required": ["artifact_id"],
	"additionalProperties": false
}`,
	Grep: `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "minLength": 1, "description": "The id of the file, as in art_report_x7k2."},
		"pattern": {"type": "string", "minLength": 1, "description": "A regular expression of the syntax RE2, searched in each line."},
		"grep_options": {
			"type": "array", "items": {"type": "string"}, "maxItems": 20,
			"description": "Options of grep: -i ignores case, -n shows line numbers, -v inverts, -c counts, -w whole words, -o only what matches; with a number -m stops behind so many lines, -A, -B and -C show lines behind, before and around, as in -A 3."
		}
	},
	"required": ["artifact_id", "pattern"],
	"additionalProperties": false
}`,
	DocumentText: `{
	"type": "object",
	"properties": {
		"document_id": {"type": "string", "minLength": 1, "description": "The id of the document, as results of a search have it."},
		"corpus_key": {"type": "string", "minLength": 1, "description": "The key of the corpus that the document is in."}
	},
	"required": ["document_id", "corpus_key"],
	"additionalProperties": false
}`,
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
		return &tool.Failure{Class: tool.ExecutionError, Text: "this session can't have files"}
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
