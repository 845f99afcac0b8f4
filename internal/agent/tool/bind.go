package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// Bound is the tools of a turn: their references of the kind that stays the same during a turn are resolved, their
// descriptions are rendered. It is safe for concurrent use.
type Bound struct {
	set     *Set
	eager   map[string]map[string]reference.Value // configuration → place → value
	secrets []string                              // values in eager that are secret, and those of configurations
	offers  map[string]llm.Tool
}

// Bind resolves references and renders descriptions for a turn. before is what Bind returned when this turn began, "" if it
// begins now: a turn that goes on after a kill keeps its values. The text to keep with the turn holds no secret in clear; "" if there is
// nothing to keep. What has no value, or can't be rendered, is fault.KindUnprocessable.
func (s *Set) Bind(scene Scene, before string) (*Bound, string, error) {
	b := &Bound{set: s, offers: map[string]llm.Tool{}}
	var err error
	if before != "" {
		b.eager, err = s.thaw(&scene, before)
	} else if b.eager, err = s.resolve(&scene); err == nil {
		before, err = s.freeze(&scene, b.eager)
	}
	if err != nil {
		return nil, "", err
	}
	for _, values := range b.eager {
		for _, v := range values {
			b.secrets = append(b.secrets, v.Texts()...)
		}
	}
	read := scene.variables()
	for _, name := range s.names {
		c := s.tools[name]
		b.secrets = append(b.secrets, c.Secrets...)
		offer := llm.Tool{Name: name, Description: c.Description, Parameters: c.shown}
		if c.describe != nil {
			text, err := c.describe.Render(read, vtl.Limits{})
			if err != nil {
				return nil, "", fault.Unprocessable("template_failed", "Failed to render the description of tool '%s': %s", name, err)
			}
			if strings.TrimSpace(text) != "" {
				offer.Description = text
			}
		}
		b.offers[name] = offer
	}
	return b, before, nil
}

// resolve returns the values of eager references.
func (s *Set) resolve(scene *Scene) (map[string]map[string]reference.Value, error) {
	out := map[string]map[string]reference.Value{}
	var wrong []string
	for _, name := range s.names {
		values := map[string]reference.Value{}
		var missing []string
		for _, place := range slices.Sorted(maps.Keys(s.tools[name].Eager)) {
			ref := s.tools[name].Eager[place]
			v, secret, p := scene.Resolve(ref.Reference)
			_, isText := v.(string)
			switch {
			case p != reference.Resolved:
				missing = append(missing, ref.String())
			case !isText && !ref.Any:
				wrong = append(wrong, fmt.Sprintf("tool '%s': %s is %s, but %s takes a text", name, ref, typeName(v), place))
			default:
				values[place] = reference.Value{Value: v, Secret: secret}
			}
		}
		if len(missing) > 0 {
			slices.Sort(missing)
			wrong = append(wrong, fmt.Sprintf("tool '%s': unresolved refs [%s]", name, strings.Join(slices.Compact(missing), ", ")))
		}
		if len(values) > 0 {
			out[name] = values
		}
	}
	if len(wrong) > 0 {
		return nil, fault.Unprocessable("unresolved_references", "Failed to resolve eager references: %s", strings.Join(wrong, "; "))
	}
	return out, nil
}

func typeName(v any) string {
	switch v.(type) {
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "an object"
}

// sealed marks a text that holds secrets.
const sealed = "sealed:"

// sealName is what the values of a turn are sealed for.
func sealName(s *Scene) string { return "turn/" + s.Agent.Key + "/" + s.Session.Key }

// freeze returns values as a text.
func (s *Set) freeze(scene *Scene, values map[string]map[string]reference.Value) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	plain, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("keep the references of a turn: %w", err)
	}
	for _, one := range values {
		for _, v := range one {
			if !v.Secret {
				continue
			}
			closed, err := s.kit.Sealer.Seal(sealName(scene), plain)
			if err != nil {
				return "", fmt.Errorf("seal the references of a turn: %w", err)
			}
			return sealed + base64.StdEncoding.EncodeToString(closed), nil
		}
	}
	return string(plain), nil
}

// thaw returns the values that freeze has made a text of.
func (s *Set) thaw(scene *Scene, text string) (values map[string]map[string]reference.Value, err error) {
	plain := []byte(text)
	if closed, ok := strings.CutPrefix(text, sealed); ok {
		if plain, err = base64.StdEncoding.DecodeString(closed); err == nil {
			plain, err = s.kit.Sealer.Open(sealName(scene), plain)
		}
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(plain))
		d.UseNumber()
		err = d.Decode(&values)
	}
	if err != nil {
		return nil, fmt.Errorf("read the references of a turn: %w", err)
	}
	return values, nil
}

// Plain returns what Bind has returned to keep, without a seal; Bind takes it, too.
func (b *Bound) Plain() (string, error) {
	if len(b.eager) == 0 {
		return "", nil
	}
	plain, err := json.Marshal(b.eager)
	return string(plain), err
}

// Sealed returns what Bind returns to keep.
func (b *Bound) Sealed(scene Scene) (string, error) { return b.set.freeze(&scene, b.eager) }

// variables returns what description templates read.
func (s *Scene) variables() map[string]vtl.Value {
	object := func(members ...any) *vtl.Map {
		m := &vtl.Map{}
		for i := 0; i < len(members); i += 2 {
			m.Put(members[i].(string), members[i+1])
		}
		return m
	}
	return map[string]vtl.Value{
		"agent":       object("name", s.Agent.Name, "metadata", variables(&s.Agent)),
		"session":     object("key", s.Session.Key, "metadata", variables(&s.Session)),
		"currentDate": s.Date(),
	}
}

func variables(s *reference.Subject) vtl.Value {
	if v, err := vtl.FromJSON(s.Metadata); err == nil {
		return v
	}
	return &vtl.Map{}
}

// offered reports whether a tool may be called in a step.
func (b *Bound) offered(name string, allowed *[]string) bool {
	c, ok := b.set.tools[name]
	return ok && !c.Disabled && (allowed == nil || slices.Contains(*allowed, name))
}

// Offer returns the tools that the model sees in a step: those allowed, nil for all, in the order of their names.
func (b *Bound) Offer(allowed *[]string) (out []llm.Tool) {
	for _, name := range b.set.names {
		if b.offered(name, allowed) {
			out = append(out, b.offers[name])
		}
	}
	return out
}

// Entry is a tool as an agent has it.
type Entry struct {
	*Tool
	Own json.RawMessage // tool_output_offloading of the configuration; nil for none
}

// All yields the tools by the names of their configurations, in their order.
func (b *Bound) All(yield func(string, Entry) bool) {
	for _, name := range b.set.names {
		if c := b.set.tools[name]; !yield(name, Entry{c.Tool, c.offloading}) {
			return
		}
	}
}

// mask returns the mask of what is stored.
func (b *Bound) mask(scene *Scene, more []string) *mask.Mask {
	all := slices.Concat(b.secrets, more)
	return mask.New(slices.AppendSeq(all, maps.Values(scene.Secrets))...)
}
