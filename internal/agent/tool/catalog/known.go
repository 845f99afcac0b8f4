package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// Finder finds the tools that configurations refer to; a Service is one.
type Finder interface {
	Known(ctx context.Context, configurations map[string]json.RawMessage) (Known, error)
}

// Known is the tools that the configurations of an agent refer to, as they are at one moment.
type Known struct {
	tools  map[id.Tool]Tool
	caller Caller // nil: no tool of a server can be called
	// Lenient is whether a tool that is not there any more is one that is disabled, as in a turn, rather than a fault, as where
	// an agent is written.
	Lenient bool
}

// Known reads the tools that configurations refer to.
func (s *Service) Known(ctx context.Context, configurations map[string]json.RawMessage) (Known, error) {
	k := Known{tools: map[id.Tool]Tool{}, caller: s.caller}
	asked := Configured(configurations)
	if len(asked) == 0 {
		return k, nil
	}
	found, err := s.store.Find(ctx, asked)
	if err != nil {
		return k, err
	}
	for _, t := range found {
		k.tools[t.ID] = t
	}
	for _, one := range asked {
		if t := s.built(one); t != nil {
			k.tools[one] = *t
		}
	}
	return k, nil
}

// Stamp returns a text that is another one as soon as one of the tools has changed.
func (k Known) Stamp() string {
	var b strings.Builder
	for _, one := range slices.Sorted(maps.Keys(k.tools)) {
		t := k.tools[one]
		fmt.Fprintf(&b, "%s@%d%t ", one, t.Version, t.Offered())
	}
	return b.String()
}

// Kit returns base with the types that refer to tools.
func (k Known) Kit(base tool.Kit) tool.Kit {
	base.Types = maps.Clone(base.Types)
	if base.Types == nil {
		base.Types = map[string]tool.Type{}
	}
	base.Types[Client] = k.client
	base.Types[MCP] = k.mcp
	base.Types[Dynamic] = func(configuration json.RawMessage) (*tool.Tool, error) { return k.dynamic(configuration, base.Dynamic) }
	return base
}

// Needs returns what configurations name, whatever else is wrong with them. It reads nothing: only tools that come with the program
// name something.
func (s *Service) Needs(kit tool.Kit, configurations map[string]json.RawMessage) (out []permit.Need) {
	k := Known{tools: map[id.Tool]Tool{}, Lenient: true}
	for _, one := range Configured(configurations) {
		if t := s.built(one); t != nil {
			k.tools[one] = *t
		}
	}
	types := k.Kit(kit).Types
	for _, raw := range configurations {
		var c struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(raw, &c) != nil || types[c.Type] == nil {
			continue
		}
		if t, err := types[c.Type](raw); err == nil {
			out = append(out, t.Needs...)
		}
	}
	return permit.Sorted(out)
}

// dynamic returns the tool of a configuration of type Dynamic, which names a built-in one.
func (k Known) dynamic(configuration json.RawMessage, made map[string]tool.Type) (*tool.Tool, error) {
	t, err := k.named(configuration, Dynamic)
	if err != nil {
		return nil, err
	}
	if make, ok := made[t.Name]; ok {
		return make(configuration)
	}
	return nil, fault.InvalidField("tool_id", "names a tool that this service does not have")
}

// named returns the tool that a configuration of a type refers to.
func (k Known) named(configuration json.RawMessage, kind string) (Tool, error) {
	var c struct {
		ID id.Tool `json:"tool_id"`
	}
	if err := json.Unmarshal(configuration, &c); err != nil || c.ID == "" {
		return Tool{}, fault.InvalidField("tool_id", "is required: the id of a tool, tol_…")
	}
	t, ok := k.tools[c.ID]
	switch {
	case !ok && k.Lenient:
		t = Tool{Definition: Definition{Type: kind, Name: string(c.ID), Input: json.RawMessage(`{}`)}}
	case !ok:
		return Tool{}, fault.InvalidField("tool_id", "there is no tool %s; GET /v2/tools lists those that there are", c.ID)
	case t.Type != kind:
		return Tool{}, fault.InvalidField("tool_id", "is %s, a tool of type %s, but the configuration is of type %s", c.ID, t.Type, kind)
	}
	return t, nil
}

// client is the tool.Type of configurations of tools that the client runs.
func (k Known) client(configuration json.RawMessage) (*tool.Tool, error) {
	t, err := k.named(configuration, Client)
	if err != nil {
		return nil, err
	}
	input, err := schema.New(object(t.Input))
	if err != nil {
		return nil, fmt.Errorf("read the input schema of tool %s: %w", t.ID, err)
	}
	out := &tool.Tool{
		Name: t.Name, Description: t.Description, Schema: input, Repeat: tool.Reads, Disabled: !t.Enabled, Client: true, Offloading: t.Offloading,
	}
	if t.Output != nil {
		if out.Output, err = schema.New(object(t.Output)); err != nil {
			return nil, fmt.Errorf("read the output schema of tool %s: %w", t.ID, err)
		}
	}
	return out, nil
}

// compact returns JSON without its blanks, nil as it is.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if raw == nil || json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
