// Package instruction keeps texts that tell agents how to work, for several agents and in versions: what they are, what
// templates in them read, and what references of agents to them name. Package agent checks the references when an agent is
// written; package agent/turn renders the texts.
package instruction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Text is a part of a system prompt. The JSON names are those of the store.
type Text struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Template    string          `json:"template"`
	Plain       bool            `json:"plain,omitempty"` // the template is a text and has no references
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Enabled     bool            `json:"enabled"`
}

// MaxName is the most characters that the name of an instruction has.
const MaxName = 50

// Check adds what is wrong with a text to bad, by the names of the contract under a place, which may be empty.
func (t *Text) Check(at string, bad *fault.Fault) {
	if strings.TrimSpace(t.Name) == "" {
		bad.Field(fault.Join(at, "name"), "must not be empty")
	}
	if n := utf8.RuneCountInString(t.Name); n > MaxName {
		bad.Field(fault.Join(at, "name"), "must be at most %d characters long, it has %d", MaxName, n)
	}
	if t.Metadata != nil && !bytes.HasPrefix(bytes.TrimSpace(t.Metadata), []byte("{")) {
		bad.Field(fault.Join(at, "metadata"), "must be an object")
	}
	if t.Plain {
		return
	}
	if _, err := vtl.ParseText(t.Template); err != nil {
		bad.Field(fault.Join(at, "template"), "%s", err)
	}
}

// Render returns the text with the values of its references. A Plain one needs none.
func (t *Text) Render(values map[string]vtl.Value) (string, error) {
	if t.Plain {
		return t.Template, nil
	}
	compiled, err := vtl.ParseText(t.Template)
	if err != nil {
		return "", err
	}
	return compiled.Render(values, vtl.Limits{})
}

// Instruction is one version of an instruction that is kept for agents.
type Instruction struct {
	No      int64 // the store's row number, which no later instruction gets; never shown
	ID      id.Instruction
	Version int64 // from 1; a number is never used again
	Latest  int64 // the version that references without one name
	Text
	Created time.Time // of the instruction; microseconds, UTC, like Updated
	Updated time.Time // when the version was written
}

// Position returns the place of in in a list by age.
func (in *Instruction) Position() *page.Position { return page.At(in.Created, in.ID) }

// Missing returns the fault of an instruction that does not exist.
func Missing(which id.Instruction) error {
	return fault.NotFound("instruction_not_found", string(which), "instruction %s does not exist", which)
}

// NoVersion returns the fault of a version that an instruction does not have.
func NoVersion(which id.Instruction, version int64) error {
	return fault.NotFound("instruction_version_not_found", string(which), "instruction %s has no version %d", which, version)
}

// Tool is a tool as templates see it.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Scene is what templates read.
type Scene struct {
	AgentKey, AgentName string
	AgentMetadata       json.RawMessage // an object, or nil for an empty one
	SessionKey          string
	SessionMetadata     json.RawMessage // as above
	Tools               []Tool
	At                  time.Time
}

// Values returns the variables of templates.
func (s *Scene) Values() (map[string]vtl.Value, error) {
	tools := s.Tools
	if tools == nil {
		tools = []Tool{}
	}
	out := map[string]vtl.Value{"currentDate": s.At.UTC().Format(time.RFC3339)}
	for name, v := range map[string]any{
		"agent":   map[string]any{"key": s.AgentKey, "name": s.AgentName, "metadata": object(s.AgentMetadata)},
		"session": map[string]any{"key": s.SessionKey, "metadata": object(s.SessionMetadata)},
		"tools":   tools,
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encode %s for instructions: %w", name, err)
		}
		if out[name], err = vtl.FromJSON(raw); err != nil {
			return nil, fmt.Errorf("read %s for instructions: %w", name, err)
		}
	}
	return out, nil
}

func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}
