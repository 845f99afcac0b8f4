package instructions

import (
	"encoding/json"
	"time"

	"quarry/internal/agent/instruction"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

// instructionBody is InitialInstruction.
type instructionBody struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	TemplateType string          `json:"template_type"`
	Template     string          `json:"template"`
	Version      int64           `json:"version"`
	Metadata     json.RawMessage `json:"metadata"`
	Enabled      bool            `json:"enabled"`
	Created      time.Time       `json:"created_at"`
	Updated      time.Time       `json:"updated_at"`
}

func wireInstruction(in *instruction.Instruction) instructionBody {
	out := instructionBody{
		ID: string(in.ID), Type: "initial", Name: in.Name, Description: in.Description, TemplateType: "velocity", Template: in.Template,
		Version: in.Version, Metadata: in.Metadata, Enabled: in.Enabled, Created: in.Created, Updated: in.Updated,
	}
	if in.Plain {
		out.TemplateType = plain
	}
	return out
}

// plain is the kind of templates that are no templates.
const plain = "text"

// changeBody is CreateInstructionRequest and UpdateInstructionRequest.
type changeBody struct {
	Name         opt.Field[string]          `json:"name"`
	Description  opt.Field[string]          `json:"description"`
	TemplateType opt.Field[string]          `json:"template_type"`
	Template     opt.Field[string]          `json:"template"`
	Metadata     opt.Field[json.RawMessage] `json:"metadata"`
	Enabled      opt.Field[bool]            `json:"enabled"`
}

// parse decodes a checked body.
func parse(raw json.RawMessage) (instruction.Change, error) {
	var b changeBody
	if err := httpapi.Decode(raw, &b); err != nil {
		return instruction.Change{}, err
	}
	c := instruction.Change{Name: b.Name, Description: b.Description, Template: b.Template, Metadata: b.Metadata, Enabled: b.Enabled}
	if kind, ok := b.TemplateType.Get(); ok {
		c.Plain = opt.Some(kind == plain)
	}
	return c, nil
}

// sample decodes a checked TestInstructionRequest.
func sample(raw json.RawMessage) (instruction.Sample, error) {
	var b struct {
		Context json.RawMessage    `json:"context"`
		Tools   []instruction.Tool `json:"tools"`
	}
	err := httpapi.Decode(raw, &b)
	return instruction.Sample{Metadata: b.Context, Tools: b.Tools}, err
}

// testBody is TestInstructionResponse.
type testBody struct {
	Rendered string `json:"rendered_instruction"`
}

// listBody is ListInstructionsResponse.
type listBody struct {
	Instructions []instructionBody `json:"instructions"`
	Metadata     struct {
		PageKey *string `json:"page_key,omitempty"`
	} `json:"metadata"`
}
