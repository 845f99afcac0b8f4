package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// problem is why a reference has no value.
type problem int

const (
	resolved   problem = iota
	unresolved         // nothing is there, or null
	dependency         // the tool whose output it reads has failed or was never called
)

// resolve returns the value of a reference, and whether it is a secret.
func (s *Scene) resolve(r Reference) (value any, secret bool, p problem) {
	root := r.steps[0].name
	rest := r.steps[1:]
	switch {
	case root == "currentDate":
		return s.date(), false, resolved
	case root == "tools":
		latest, called := s.Outputs[rest[0].name]
		if !called || latest.Failed {
			return nil, false, dependency
		}
		value, rest = decode(latest.Output), rest[3:]
	default:
		subject := s.Agent.members()
		if root == "session" {
			subject = s.Session.members()
			subject["secrets"] = secrets(s.Secrets)
		}
		name, p := s.name(rest[0])
		if p != resolved {
			return nil, false, p
		}
		value, rest = subject[name], rest[1:]
		secret = name == "secrets"
	}
	for _, step := range rest {
		if value, p = s.enter(value, step); p != resolved {
			return nil, secret, p
		}
	}
	if value == nil {
		return nil, secret, unresolved
	}
	return value, secret, resolved
}

// name returns the name of a step.
func (s *Scene) name(at step) (string, problem) {
	switch {
	case at.index >= 0:
		return strconv.Itoa(at.index), resolved
	case at.inner == nil:
		return at.name, resolved
	}
	v, _, p := s.resolve(*at.inner)
	switch v := v.(type) {
	case string:
		return v, p
	case json.Number:
		return v.String(), p
	}
	return "", max(p, unresolved)
}

// enter returns a member of a value.
func (s *Scene) enter(value any, at step) (any, problem) {
	name, p := s.name(at)
	if p != resolved {
		return nil, p
	}
	switch v := value.(type) {
	case map[string]any:
		return v[name], resolved
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
			return v[i], resolved
		}
	}
	return nil, unresolved
}

func (s *Scene) date() string { return s.Now.UTC().Format(time.RFC3339) }

// members returns what references and transforms read of a subject.
func (s *Subject) members() map[string]any {
	metadata, _ := decode(s.Metadata).(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	out := map[string]any{"key": s.Key, "name": s.Name, "metadata": metadata}
	if s.Description != "" {
		out["description"] = s.Description
	}
	return out
}

func secrets(all map[string]string) map[string]any {
	out := make(map[string]any, len(all))
	for name, v := range all {
		out[name] = v
	}
	return out
}

// decode returns a JSON value with its numbers as they were written, nil if it can't be read.
func decode(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// resolution resolves the references within values.
type resolution struct {
	scene   *Scene
	missing []string // paths without a value
	failed  []string // paths to outputs that are not there
	secrets []string // values that are secret
}

// value returns v with each reference replaced by its value, and $$ref by $ref.
func (r *resolution) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok, _ := reference(v); ok {
			return r.reference(ref)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			if name == "$$ref" {
				name = "$ref"
			}
			out[name] = r.value(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.value(v[i])
		}
		return out
	}
	return v
}

func (r *resolution) reference(ref Reference) any {
	v, secret, p := r.scene.resolve(ref)
	switch {
	case p == unresolved && !slices.Contains(r.missing, ref.text):
		r.missing = append(r.missing, ref.text)
	case p == dependency && !slices.Contains(r.failed, ref.text):
		r.failed = append(r.failed, ref.text)
	}
	if secret {
		r.secrets = append(r.secrets, texts(v)...)
	}
	return v
}

// failure returns why not everything was resolved, nil if it was.
func (r *resolution) failure() *Failure {
	switch {
	case len(r.missing) > 0:
		return &Failure{InvalidConfiguration, fmt.Sprintf("unresolved refs [%s]", strings.Join(r.missing, ", "))}
	case len(r.failed) > 0:
		return &Failure{DependencyFailed, fmt.Sprintf("a tool that this call depends on has failed or was not called: unresolved refs [%s]", strings.Join(r.failed, ", "))}
	}
	return nil
}

// texts returns the texts within a value.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case map[string]any:
		for _, member := range v {
			out = append(out, texts(member)...)
		}
	}
	return out
}

// reference returns the reference that v is, if it is one. A faulty one is an error.
func reference(v any) (Reference, bool, error) {
	object, _ := v.(map[string]any)
	path, ok := object["$ref"]
	if !ok {
		return Reference{}, false, nil
	}
	text, isText := path.(string)
	switch {
	case len(object) > 1:
		return Reference{}, true, fmt.Errorf(`has further members beside "$ref"; a member of that name that is no reference is written "$$ref"`)
	case !isText:
		return Reference{}, true, fmt.Errorf(`has a "$ref" that is no text; a member of that name that is no reference is written "$$ref"`)
	}
	r, err := ParseReference(text)
	return r, true, err
}
