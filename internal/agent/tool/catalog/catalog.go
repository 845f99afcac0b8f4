// Package catalog keeps the tools that configurations of agents refer to: those that come with the program, listed from the
// types that run, and those that clients run, which people create and change.
package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/offload"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Client is the type of tools that the client runs.
const Client = "client"

// Vectara stands for the types of all built-in tools in a list.
const Vectara = "vectara"

// types are the types that a tool can have in the contract.
var types = []string{
	"dynamic_vectara", "mcp", "corpora_search", "web_search", "web_get", "lambda", Client, "sub_agent", "artifact_create", "artifact_read",
	"artifact_grep", "image_read", "document_conversion", "get_document_text",
}

// Tool is a tool of the catalogue.
type Tool struct {
	No      int64 // the store's row number; 0 of a built-in
	ID      id.Tool
	Version int64 // raised by every change, from 1
	Definition
	Built   *Built    // nil of a tool that somebody created
	Created time.Time // microseconds, UTC, like Updated
	Updated time.Time
}

// Position returns the place of t in a list by age.
func (t *Tool) Position() *page.Position { return page.At(t.Created, string(t.ID)) }

// Definition is what a tool is. The JSON names are those of the store.
type Definition struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"` // that the model reads
	Enabled     bool            `json:"enabled"`
	Input       json.RawMessage `json:"input"`                // a JSON Schema
	Output      json.RawMessage `json:"output,omitempty"`     // a JSON Schema; nil: any object
	Offloading  json.RawMessage `json:"offloading,omitempty"` // tool_output_offloading; nil when it was not given
	Seconds     int64           `json:"seconds,omitempty"`    // max_execution_time_seconds; 0 when it was not given
	Remote      *Remote         `json:"remote,omitempty"`     // of a tool of a tool server; nil of any other
}

// Bounds of a definition.
const (
	maxName        = 50
	maxTitle       = 128
	maxDescription = 5_000
	maxSchema      = 100_000 // bytes
	maxSeconds     = 21_600
)

// check adds what is wrong to bad.
func (d *Definition) check(bad *fault.Fault) {
	text := func(field, s string, most int) {
		if n := utf8.RuneCountInString(s); n > most {
			bad.Field(field, "must be at most %d characters long, it has %d", most, n)
		}
	}
	if !tool.Names.MatchString(d.Name) || len(d.Name) > maxName {
		bad.Field("name", "must be 1 to %d letters, digits, _ and -", maxName)
	}
	text("title", d.Title, maxTitle)
	if strings.TrimSpace(d.Description) == "" {
		bad.Field("description", "must not be empty: the model chooses tools by it")
	}
	text("description", d.Description, maxDescription)
	checkSchema("input_schema", d.Input, bad)
	if d.Output != nil {
		checkSchema("output_schema", d.Output, bad)
	}
	bad.Gather(fault.Under(offload.Check(d.Offloading), offload.Field))
	if d.Seconds < 0 || d.Seconds > maxSeconds {
		bad.Field("max_execution_time_seconds", "must be 1 to %d, not %d", maxSeconds, d.Seconds)
	}
}

// checkSchema adds what is wrong with a schema to bad.
func checkSchema(field string, raw json.RawMessage, bad *fault.Fault) {
	if why := CheckSchema(raw); why != "" {
		bad.Field(field, "%s", why)
	}
}

// CheckSchema returns why a schema can't be that of arguments or outputs, which are objects, "" if it can.
func CheckSchema(raw json.RawMessage) string {
	var root struct {
		Type any `json:"type"`
	}
	switch err := json.Unmarshal(raw, &root); {
	case err != nil:
		return "must be a JSON Schema, which is an object"
	case len(raw) > maxSchema:
		return fmt.Sprintf("must have at most %d bytes, it has %d", maxSchema, len(raw))
	case root.Type != nil && root.Type != "object":
		return fmt.Sprintf(`must be of "type": "object", not %v`, root.Type)
	}
	if _, err := schema.New(object(raw)); err != nil {
		return err.Error()
	}
	return ""
}

// object returns a schema with the type object, which models ask for.
func object(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members["type"] != nil {
		return raw
	}
	rest := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("{")))
	if bytes.HasPrefix(rest, []byte("}")) {
		return json.RawMessage(`{"type":"object"}`)
	}
	return append(json.RawMessage(`{"type":"object",`), rest...)
}

// Missing returns the fault of a tool that does not exist.
func Missing(which id.Tool) error {
	return fault.NotFound("tool_not_found", string(which), "tool %s does not exist", which)
}

// taken returns the fault of a name that another tool has.
func taken(name string) error {
	return fault.Conflict("tool_exists", "there is a tool named %s; choose another name", name)
}

// Configured returns the ids of the tools that configurations of an agent refer to, each once and in order.
func Configured(configurations map[string]json.RawMessage) []id.Tool {
	seen := map[id.Tool]bool{}
	for _, raw := range configurations {
		var c struct {
			Type string  `json:"type"`
			ID   id.Tool `json:"tool_id"`
		}
		if json.Unmarshal(raw, &c) == nil && slices.Contains(referring, c.Type) && c.ID != "" {
			seen[c.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// referring are the types of configurations that name a tool by its id.
var referring = []string{Client, Dynamic, MCP}

// Created returns those of the ids that are of tools that somebody has created: no built-in tool is.
func Created(ids []id.Tool) []id.Tool {
	return slices.DeleteFunc(slices.Clone(ids), func(which id.Tool) bool { return strings.HasPrefix(string(which), undated("")) })
}

// Types returns the types that a tool can have in the contract.
func Types() []string { return slices.Clone(types) }

// InUseError is the error of the deletion of a tool that agents have, or configurations that several agents refer to.
type InUseError struct {
	Agents         []string // keys of some of them, like Configurations
	Configurations []string
}

// Error returns who uses the tool, with no subject.
func (e *InUseError) Error() string {
	var users []string
	if len(e.Agents) > 0 {
		users = append(users, fmt.Sprintf("tool_configurations of the agents [%s]", strings.Join(e.Agents, ", ")))
	}
	if len(e.Configurations) > 0 {
		users = append(users, fmt.Sprintf("the stored tool configurations [%s]", strings.Join(e.Configurations, ", ")))
	}
	return strings.Join(users, " and ")
}
