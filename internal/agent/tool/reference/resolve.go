package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"quarry/internal/jsonvalue"
)

// Scene is what references read.
type Scene struct {
	Agent   Subject
	Session Subject
	Caller  *Caller           // who opens the session, while it is made; nil afterwards, and where nobody is known
	Secrets map[string]string // of the session
	// AgentSecrets are those of the agent, as they were when the turn began.
	AgentSecrets map[string]string
	Outputs      map[string]Latest // the latest output of each tool in the session, by configuration
	Now          time.Time
}

// Subject is an agent or a session, as references see it.
type Subject struct {
	Key, Name, Description string
	Metadata               json.RawMessage // an object
}

// Caller is who stands behind a request, in the words of session.caller. The JSON names are those of the store, too.
type Caller struct {
	Type  string `json:"type,omitempty"` // such as user or api_key; "" where nobody is known
	ID    string `json:"id,omitempty"`
	Email string `json:"email,omitempty"` // of a user who has one
}

// AgentCaller is the Caller.Type of agents.
const AgentCaller = "agent"

// Name returns one text for type and id, "" where nobody is known.
func (c *Caller) Name() string {
	if c.Type == "" {
		return ""
	}
	return c.Type + ":" + c.ID
}

// members returns what references read of a caller; nil for nobody.
func (c *Caller) members() map[string]any {
	if c == nil || c.Type == "" {
		return nil
	}
	out := map[string]any{"type": c.Type, "id": c.ID}
	if c.Email != "" {
		out["email"] = c.Email
	}
	return out
}

// Latest is the latest output of a tool.
type Latest struct {
	Output json.RawMessage // an object
	Failed bool
}

// Problem is why a reference has no value.
type Problem int

// The problems.
const (
	Resolved   Problem = iota
	Unresolved         // nothing is there, or null
	Dependency         // the tool whose output it reads has failed or was never called
	Nobody             // it reads session.caller, which only a session that is being made has, and not each
)

// Resolve returns the value of a reference, and whether it is a secret.
func (s *Scene) Resolve(r Reference) (value any, secret bool, p Problem) {
	root := r.steps[0].Name
	rest := r.steps[1:]
	switch {
	case root == "currentDate":
		return s.Date(), false, Resolved
	case root == "tools":
		latest, called := s.Outputs[rest[0].Name]
		if !called || latest.Failed {
			return nil, false, Dependency
		}
		value, rest = jsonvalue.Decode(latest.Output), rest[3:]
	default:
		subject := s.agent()
		if root == "session" {
			subject = s.session()
		}
		name, p := s.name(rest[0])
		if p != Resolved {
			return nil, false, p
		}
		if root == "session" && name == "caller" && subject[name] == nil {
			return nil, false, Nobody
		}
		value, rest = subject[name], rest[1:]
		secret = name == "secrets"
	}
	for _, step := range rest {
		if value, p = s.enter(value, step); p != Resolved {
			return nil, secret, p
		}
	}
	if value == nil {
		return nil, secret, Unresolved
	}
	return value, secret, Resolved
}

// name returns the name of a step.
func (s *Scene) name(at Step) (string, Problem) {
	switch {
	case at.Index >= 0:
		return strconv.Itoa(at.Index), Resolved
	case at.inner == nil:
		return at.Name, Resolved
	}
	v, _, p := s.Resolve(*at.inner)
	switch v := v.(type) {
	case string:
		return v, p
	case json.Number:
		return v.String(), p
	}
	return "", max(p, Unresolved)
}

// enter returns a member of a value.
func (s *Scene) enter(value any, at Step) (any, Problem) {
	name, p := s.name(at)
	if p != Resolved {
		return nil, p
	}
	switch v := value.(type) {
	case map[string]any:
		return v[name], Resolved
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
			return v[i], Resolved
		}
	}
	return nil, Unresolved
}

// Date returns the value of currentDate.
func (s *Scene) Date() string { return s.Now.UTC().Format(time.RFC3339) }

// members returns a subject without its secrets.
func (s *Subject) members() map[string]any {
	metadata, _ := jsonvalue.Decode(s.Metadata).(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	out := map[string]any{"key": s.Key, "name": s.Name, "metadata": metadata}
	if s.Description != "" {
		out["description"] = s.Description
	}
	return out
}

// agent and session return what references and transforms read of them, secrets included.
func (s *Scene) agent() map[string]any {
	out := s.Agent.members()
	out["secrets"] = secrets(s.AgentSecrets)
	return out
}

func (s *Scene) session() map[string]any {
	out := s.Session.members()
	out["secrets"] = secrets(s.Secrets)
	if who := s.Caller.members(); who != nil {
		out["caller"] = who
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

// Document returns what input_transform reads beside arguments.
func (s *Scene) Document(args any) map[string]any {
	out := s.Visible()
	out["args"], out["agent"], out["session"] = args, s.agent(), s.session()
	return out
}

// Visible returns what conditions and other transforms read: no secret.
func (s *Scene) Visible() map[string]any {
	session := s.session()
	delete(session, "secrets")
	tools := map[string]any{}
	for name, latest := range s.Outputs {
		tools[name] = map[string]any{"outputs": map[string]any{"latest": jsonvalue.Decode(latest.Output)}}
	}
	return map[string]any{"agent": s.Agent.members(), "session": session, "tools": tools, "currentDate": s.Date()}
}

// Value is what a reference has led to. The JSON names are those of the store.
type Value struct {
	Value  any  `json:"value"`
	Secret bool `json:"secret,omitempty"`
}

// Texts returns the secret texts in v.
func (v Value) Texts() []string {
	if !v.Secret {
		return nil
	}
	return texts(v.Value)
}

// Resolution resolves the references within values.
type Resolution struct {
	Scene   *Scene
	Fixed   map[string]Value // of references that were resolved before, by their text
	Missing []string         // paths without a value
	Nobody  bool             // session.caller is among Missing
	Failed  []string         // paths to outputs that are not there
	Secrets []string         // values that are secret
}

// Value returns v with each reference replaced by its value, and $$ref by $ref.
func (r *Resolution) Value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok, _ := Of(v); ok {
			return r.reference(ref)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			if name == "$$ref" {
				name = "$ref"
			}
			out[name] = r.Value(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.Value(v[i])
		}
		return out
	}
	return v
}

func (r *Resolution) reference(ref Reference) any {
	if v, ok := r.Fixed[ref.text]; ok {
		r.Secrets = append(r.Secrets, v.Texts()...)
		return v.Value
	}
	v, secret, p := r.Scene.Resolve(ref)
	switch {
	case (p == Unresolved || p == Nobody) && !slices.Contains(r.Missing, ref.text):
		r.Missing, r.Nobody = append(r.Missing, ref.text), r.Nobody || p == Nobody
	case p == Dependency && !slices.Contains(r.Failed, ref.text):
		r.Failed = append(r.Failed, ref.text)
	}
	r.Secrets = append(r.Secrets, Value{v, secret}.Texts()...)
	return v
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

// Of returns the reference that v is, if it is one. A faulty one is an error.
func Of(v any) (Reference, bool, error) {
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
	r, err := Parse(text)
	return r, true, err
}
