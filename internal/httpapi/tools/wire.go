package tools

import (
	"encoding/json"
	"time"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

// toolBody is Tool: the members of all types.
type toolBody struct {
	ID            string          `json:"id"`
	Type          string          `json:"type"`
	Name          string          `json:"name"`
	Title         *string         `json:"title,omitempty"`
	Description   string          `json:"description"`
	Documentation string          `json:"documentation"`
	Enabled       bool            `json:"enabled"`
	Experimental  bool            `json:"experimental"`
	Input         json.RawMessage `json:"input_schema"`
	Output        json.RawMessage `json:"output_schema,omitempty"`
	Category      *string         `json:"category,omitempty"`
	Lineage       string          `json:"lineage"`
	Version       *string         `json:"version,omitempty"`
	Groups        []string        `json:"tool_groups,omitempty"`
	Offloading    json.RawMessage `json:"tool_output_offloading,omitempty"`
	Seconds       *int64          `json:"max_execution_time_seconds,omitempty"`
	Server        *string         `json:"server_id,omitempty"`
	Annotations   *annotations    `json:"annotations,omitempty"`
	Created       time.Time       `json:"created_at"`
	Updated       time.Time       `json:"updated_at"`
}

// annotations is McpToolAnnotations.
type annotations struct {
	ReadOnly    *bool `json:"read_only_hint,omitempty"`
	Destructive *bool `json:"destructive_hint,omitempty"`
	Idempotent  *bool `json:"idempotent_hint,omitempty"`
	OpenWorld   *bool `json:"open_world_hint,omitempty"`
}

func wireTool(t *catalog.Tool) toolBody {
	out := toolBody{
		ID: string(t.ID), Type: t.Type, Name: t.Name, Title: opt.NonZero(t.Title), Description: t.Description, Documentation: t.Description,
		Enabled: t.Available(), Input: t.Input, Output: t.Output, Lineage: t.Name, Offloading: t.Offloading, Seconds: opt.NonZero(t.Seconds),
		Created: t.Created, Updated: t.Updated,
	}
	if r := t.Remote; r != nil {
		of := string(r.Server)
		out.Server, out.Annotations = &of, &annotations{r.ReadOnly, r.Destructive, r.Idempotent, r.OpenWorld}
		if r.Gone {
			out.Documentation = "Disabled until its tool server lists it again. " + out.Documentation
		}
	}
	if b := t.Built; b != nil {
		out.Category, out.Lineage, out.Version, out.Groups = &b.Category, b.Lineage, &b.Released, b.Groups
	}
	return out
}

// changeBody is CreateToolRequest and UpdateToolRequest.
type changeBody struct {
	Type        opt.Field[string]          `json:"type"`
	Name        opt.Field[string]          `json:"name"`
	Title       opt.Field[string]          `json:"title"`
	Description opt.Field[string]          `json:"description"`
	Enabled     opt.Field[bool]            `json:"enabled"`
	Input       opt.Field[json.RawMessage] `json:"input_schema"`
	Output      opt.Field[json.RawMessage] `json:"output_schema"`
	Offloading  opt.Field[json.RawMessage] `json:"tool_output_offloading"`
	Seconds     opt.Field[int64]           `json:"max_execution_time_seconds"`
}

// parse decodes a checked body.
func parse(raw json.RawMessage) (catalog.Change, error) {
	var b changeBody
	err := httpapi.Decode(raw, &b)
	return catalog.Change(b), err
}

// listBody is ListToolsResponse.
type listBody struct {
	Tools    []toolBody `json:"tools"`
	Metadata struct {
		PageKey *string `json:"page_key,omitempty"`
	} `json:"metadata"`
}
