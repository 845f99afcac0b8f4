package catalog

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// MCP is the type of the tools that tool servers have.
const MCP = "mcp"

// Remote is what a tool of a tool server has beside its definition. The JSON names are those of the store.
type Remote struct {
	Server id.ToolServer `json:"server"`
	Name   string        `json:"name"`             // the server's own, by which it is called
	Gone   bool          `json:"gone,omitempty"`   // the server doesn't list it any more
	Broken string        `json:"broken,omitempty"` // why it can't be offered, "" if it can

	// Hints of the server, nil where it gives none.
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`

	Off bool `json:"-"` // the server is disabled; read with the tool
}

// repeat returns whether a call that a kill has cut off is made again: if the server says that this does no harm.
func (r *Remote) repeat() tool.Repeat {
	for _, hint := range []*bool{r.ReadOnly, r.Idempotent} {
		if hint != nil && *hint {
			return tool.Reads
		}
	}
	return tool.Never
}

// Available reports whether the tool is enabled, and its server still has it in a form that can be used.
func (d *Definition) Available() bool {
	return d.Enabled && (d.Remote == nil || !d.Remote.Gone && d.Remote.Broken == "")
}

// Offered reports whether agents offer the tool: Available, and of no server that is disabled.
func (d *Definition) Offered() bool { return d.Available() && (d.Remote == nil || !d.Remote.Off) }

// enable returns d, a tool of a server, with the change, which may only be one of Enabled.
func (c *Change) enable(d Definition) (Definition, error) {
	bad := fault.Invalid()
	for field, absent := range map[string]bool{
		"name": c.Name.IsAbsent() || c.Name.Or("") == d.Name, "title": c.Title.IsAbsent(), "description": c.Description.IsAbsent(),
		"input_schema": c.Input.IsAbsent(), "output_schema": c.Output.IsAbsent(), "tool_output_offloading": c.Offloading.IsAbsent(),
		"max_execution_time_seconds": c.Seconds.IsAbsent(),
	} {
		if !absent {
			bad.Field(field, "belongs to the tool server and can't be changed here; of its tools only enabled can")
		}
	}
	d.Enabled = c.Enabled.Or(d.Enabled)
	return d, bad.Err()
}

// Caller calls the tools of tool servers.
type Caller interface {
	// Call calls t, a tool of a server. Structured outputs fit output, nil for any. Errors are those of tool.Tool.Run.
	Call(ctx context.Context, t *Tool, output *schema.Schema, c tool.Call, tell tool.Activity) (json.RawMessage, error)
}

// mcp is the tool.Type of configurations of tools of tool servers.
func (k Known) mcp(configuration json.RawMessage) (*tool.Tool, error) {
	t, err := k.named(configuration, MCP)
	if err != nil {
		return nil, err
	}
	out := &tool.Tool{Name: t.Name, Description: t.Description, Repeat: tool.Never, Disabled: true, Why: t.whyNot()}
	input := t.Input
	if t.Remote == nil || t.Remote.Broken != "" {
		input = json.RawMessage(`{}`)
	}
	if out.Schema, err = schema.New(object(input)); err != nil {
		return nil, fmt.Errorf("read the input schema of tool %s: %w", t.ID, err)
	}
	if out.Why != "" || k.caller == nil {
		return out, nil
	}
	out.Disabled, out.Repeat = false, t.Remote.repeat()
	if t.Output != nil {
		if out.Output, err = schema.New(object(t.Output)); err != nil {
			return nil, fmt.Errorf("read the output schema of tool %s: %w", t.ID, err)
		}
	}
	out.Run = func(ctx context.Context, c tool.Call, tell tool.Activity) (json.RawMessage, error) {
		return k.caller.Call(ctx, &t, out.Output, c, tell)
	}
	return out, nil
}

// whyNot returns why a tool of a server is not offered, "" if it is.
func (t *Tool) whyNot() string {
	switch r := t.Remote; {
	case r == nil:
		return "the tool does not exist any more"
	case !t.Enabled:
		return "it is switched off in the catalogue"
	case r.Gone:
		return "its tool server does not list the tool any more"
	case r.Broken != "":
		return "its " + r.Broken
	case r.Off:
		return "its tool server is disabled"
	}
	return ""
}
