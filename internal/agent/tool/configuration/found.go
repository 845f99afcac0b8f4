package configuration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/credential"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
)

// keyField is the member of an entry that names a configuration.
const keyField = "tool_configuration_key"

// offloadingField is the member of an entry of which each member counts for itself.
const offloadingField = "tool_output_offloading"

// fields are the members of a reference that win over those of the configuration.
var fields = []string{"description_template", "input_transform", "output_transform", "max_execution_time_seconds", offloadingField}

// Found is the configurations that an agent refers to, by key, as they were at one moment; nil where it refers to none.
type Found map[string]Configuration

// missing returns the fault of references to configurations that do not exist.
func (f Found) missing(entries map[string]json.RawMessage) error {
	bad := fault.Invalid()
	for name, entry := range entries {
		key, refers := referred(entry)
		if _, there := f[key]; refers && !there {
			bad.Field(fault.Join(fault.Join(tool.Field, name), keyField),
				"there is no tool configuration %q; GET /v2/tool_configurations lists those that there are", key)
		}
	}
	return bad.Err()
}

// expand returns entries with what they refer to in place of the references. Of a configuration that is not there, or that is
// disabled unless all are asked for, the reference stays.
func (f Found) expand(entries map[string]json.RawMessage, all bool) (map[string]json.RawMessage, error) {
	if f == nil {
		return entries, nil
	}
	out := maps.Clone(entries)
	for name, entry := range entries {
		key, refers := referred(entry)
		c, there := f[key]
		if !refers || !there || !c.Enabled && !all {
			continue
		}
		var err error
		if out[name], err = merged(c.Entry, entry); err != nil {
			return nil, fmt.Errorf("read tool configuration %s: %w", key, err)
		}
	}
	return out, nil
}

// merged returns the entry of a configuration with what stands beside a reference to it.
func merged(entry, reference json.RawMessage) (json.RawMessage, error) {
	out, err := members(entry)
	if err != nil {
		return nil, err
	}
	own, err := members(reference)
	if err != nil {
		return nil, err
	}
	for _, name := range fields {
		v, given := own[name]
		if !given || string(v) == "null" {
			continue
		}
		if name == offloadingField {
			if v, err = over(out[name], v); err != nil {
				return nil, err
			}
		}
		out[name] = v
	}
	return encode(out)
}

// over returns an object with the members of another one put over it.
func over(below, above json.RawMessage) (json.RawMessage, error) {
	out, err := members(below)
	if err != nil {
		return above, nil // not an object, as a check of it says
	}
	top, err := members(above)
	if err != nil {
		return above, nil
	}
	maps.Copy(out, top)
	return encode(out)
}

// members returns the members of an object, none for what is absent or null.
func members(raw json.RawMessage) (out map[string]json.RawMessage, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &out)
	}
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	return out, err
}

// own reports whether an entry itself has what stands at a path within it.
func own(entry json.RawMessage, path string) bool {
	all, err := members(entry)
	name, _, _ := strings.Cut(path, ".")
	_, given := all[name]
	return err == nil && given
}

// stamp returns a text that is another one as soon as one of the configurations is.
func (f Found) stamp() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(&b, "%s@%d.%d ", key, f[key].No, f[key].Version)
	}
	return b.String()
}

// disabled is the tool.Type of references that were not replaced.
func (f Found) disabled(entry json.RawMessage) (*tool.Tool, error) {
	key, _ := referred(entry)
	why := "disabled"
	if _, there := f[key]; !there {
		why = "gone"
	}
	none, err := schema.New(json.RawMessage(`{"type":"object"}`))
	if err != nil {
		return nil, err
	}
	return &tool.Tool{Name: key, Schema: none, Disabled: true, Why: fmt.Sprintf("its configuration %s is %s", key, why)}, nil
}

// withMark is before a text that has configurations in it.
const withMark = "configurations:"

// keeping is what a turn keeps: the configurations that it began with, and what tool.Bound keeps.
type keeping struct {
	Configurations Found  `json:"configurations"`
	Resolved       string `json:"resolved,omitempty"`
}

// with returns what to keep with a turn: what is resolved, and the configurations, which may have credentials of tools.
func (f Found) with(resolved tool.Kept) (tool.Kept, error) {
	if f == nil {
		return resolved, nil
	}
	raw, err := encode(keeping{f, resolved.Text})
	if err != nil {
		return tool.Kept{}, err
	}
	entries := map[string]json.RawMessage{}
	for key, c := range f {
		entries[key] = c.Entry
	}
	_, taken := credential.Take(entries)
	return tool.Kept{Text: withMark + string(raw), Secret: resolved.Secret || len(taken) > 0}, nil
}

// kept returns what with has made a text of; nil if it has no configurations.
func kept(text string) (Found, string, error) {
	raw, ok := strings.CutPrefix(text, withMark)
	if !ok {
		return nil, text, nil
	}
	var k keeping
	if err := json.Unmarshal([]byte(raw), &k); err != nil {
		return nil, "", fmt.Errorf("read the tool configurations of a turn: %w", err)
	}
	if k.Configurations == nil {
		k.Configurations = Found{}
	}
	return k.Configurations, k.Resolved, nil
}
