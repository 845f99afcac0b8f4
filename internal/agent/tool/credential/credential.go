// Package credential finds the credentials that stand in configurations of tools as they are, not as references. They are kept
// apart from the configurations, sealed, and nobody reads them: in their place stands ****.
package credential

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"quarry/internal/agent/tool/mask"
	"quarry/internal/endpoint"
	"quarry/internal/jsonvalue"
)

// members are the credentials of auth of web_get; the contract marks them x-secret.
var members = []string{"client_secret", "refresh_token", "token", "value"}

const (
	kind     = "web_get"
	override = "argument_override"
	auth     = "auth"
	headers  = "headers" // those that carry credentials, see endpoint.Carries
)

// Mark is the member that stands for a credential which is kept apart, with its number.
const Mark = "$sealed"

// rewrite returns a configuration with the value at each place of a credential that f changes. One without a change stays as it is
// written.
func rewrite(configuration json.RawMessage, f func(v any) (next any, changed bool)) json.RawMessage {
	if !bytes.Contains(configuration, []byte(`"`+auth)) && !bytes.Contains(configuration, []byte(`"`+headers)) {
		return configuration
	}
	top, _ := jsonvalue.Decode(configuration).(map[string]any)
	pinned, _ := top[override].(map[string]any)
	if top["type"] != kind || pinned == nil {
		return configuration
	}
	changed := false
	change := func(in map[string]any, key string) {
		if next, ok := f(in[key]); ok {
			in[key], changed = next, true
		}
	}
	whole, _ := pinned[auth].(map[string]any)
	for _, member := range members {
		change(whole, member)
		change(pinned, auth+"."+member)
	}
	whole, _ = pinned[headers].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		if endpoint.Carries(name) {
			change(whole, name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(pinned)) {
		if name, one := strings.CutPrefix(key, headers+"."); one && endpoint.Carries(name) {
			change(pinned, key)
		}
	}
	if !changed {
		return configuration
	}
	return jsonvalue.Encode(top)
}

// each rewrites all configurations of an agent, in the order of their names.
func each(all map[string]json.RawMessage, f func(v any) (next any, changed bool)) map[string]json.RawMessage {
	if len(all) == 0 {
		return all
	}
	out := maps.Clone(all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out[name] = rewrite(all[name], f)
	}
	return out
}

// Masked returns configurations as they are shown.
func Masked(all map[string]json.RawMessage) map[string]json.RawMessage {
	return each(all, func(v any) (any, bool) {
		_, ok := v.(string)
		return mask.Masked, ok
	})
}

// MaskedOne returns one configuration as it is shown.
func MaskedOne(configuration json.RawMessage) json.RawMessage {
	return Masked(map[string]json.RawMessage{"": configuration})[""]
}

// Take returns configurations with a mark for each credential, and the credentials by their numbers.
func Take(all map[string]json.RawMessage) (marked map[string]json.RawMessage, taken []string) {
	marked = each(all, func(v any) (any, bool) {
		text, ok := v.(string)
		if ok {
			taken = append(taken, text)
		}
		return map[string]any{Mark: len(taken) - 1}, ok
	})
	return marked, taken
}

// Marked reports whether configurations have marks.
func Marked(all map[string]json.RawMessage) (found bool) {
	each(all, func(v any) (any, bool) {
		object, _ := v.(map[string]any)
		_, is := object[Mark].(json.Number)
		found = found || is
		return nil, false
	})
	return found
}

// Put returns configurations with the credentials in the place of their marks.
func Put(marked map[string]json.RawMessage, taken []string) (map[string]json.RawMessage, error) {
	missing := false
	out := each(marked, func(v any) (any, bool) {
		object, _ := v.(map[string]any)
		number, is := object[Mark].(json.Number)
		if !is {
			return nil, false
		}
		n, err := number.Int64()
		if err != nil || n < 0 || n >= int64(len(taken)) {
			missing = true
			return nil, false
		}
		return taken[n], true
	})
	if missing {
		return nil, errors.New("a credential of a tool is missing among those that are sealed")
	}
	return out, nil
}
