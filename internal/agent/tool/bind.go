package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

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
	secrets []string                              // values in eager that are secret, those of configurations, of agent and session
	offers  map[string]llm.Tool
	mask    func() *mask.Mask
}

// Kept is what is kept with a turn, for a process that goes on with it.
type Kept struct {
	Text   string // "" for nothing
	Secret bool   // it holds secrets, and is sealed where it lies
}

// Bind resolves references and renders descriptions for a turn. before is the text that Bind returned when this turn began, "" if it
// begins now: a turn that goes on after a kill keeps its values. What has no value, or can't be rendered, is fault.KindUnprocessable.
func (s *Set) Bind(scene Scene, before string) (*Bound, Kept, error) {
	b := &Bound{set: s, offers: map[string]llm.Tool{}}
	kept := Kept{Text: before}
	var err error
	if before != "" {
		d := json.NewDecoder(strings.NewReader(before))
		d.UseNumber()
		if err = d.Decode(&b.eager); err != nil {
			err = fmt.Errorf("read the references of a turn: %w", err)
		}
	} else if b.eager, err = s.resolve(&scene); err == nil {
		kept, err = freeze(b.eager)
	}
	if err != nil {
		return nil, Kept{}, err
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
				return nil, Kept{}, fault.Unprocessable("template_failed", "Failed to render the description of tool '%s': %s", name, err)
			}
			if strings.TrimSpace(text) != "" {
				offer.Description = text
			}
		}
		b.offers[name] = offer
	}
	b.secrets = slices.AppendSeq(slices.AppendSeq(b.secrets, maps.Values(scene.Secrets)), maps.Values(scene.AgentSecrets))
	b.mask = sync.OnceValue(func() *mask.Mask { return mask.New(b.secrets...) })
	return b, kept, nil
}

// Only returns a set with one of the tools of s, which is there.
func (s *Set) Only(name string) *Set {
	return &Set{s.kit, map[string]*configured{name: s.tools[name]}, []string{name}}
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
			case p == reference.Nobody: // its calls fail, see unresolved
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

// MaxKept bounds what is kept with a turn and sealed, in bytes.
const MaxKept = 1 << 20

// freeze returns values as a text.
func freeze(values map[string]map[string]reference.Value) (kept Kept, err error) {
	if len(values) == 0 {
		return kept, nil
	}
	plain, err := json.Marshal(values)
	if err != nil {
		return kept, fmt.Errorf("keep the references of a turn: %w", err)
	}
	kept.Text = string(plain)
	for _, one := range values {
		for _, v := range one {
			kept.Secret = kept.Secret || v.Secret
		}
	}
	return kept, nil
}

// Check returns the fault of what is too large to be sealed.
func (k Kept) Check() error {
	if k.Secret && len(k.Text) > MaxKept {
		return fault.Unprocessable("references_too_large", "what the tools of the agent refer to has %d bytes, more than the %d that are kept "+
			"with a turn; refer to single secrets in place of all of them", len(k.Text), MaxKept)
	}
	return nil
}

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

// Type returns the type of a configuration, "" where there is none of the name.
func (b *Bound) Type(name string) string {
	if c := b.set.tools[name]; c != nil {
		return c.kind
	}
	return ""
}

// All yields the tools by the names of their configurations, in their order.
func (b *Bound) All(yield func(string, Entry) bool) {
	for _, name := range b.set.names {
		if c := b.set.tools[name]; !yield(name, Entry{c.Tool, c.offloading}) {
			return
		}
	}
}

// Mask returns the mask of what the turn stores, logs and shows: of the secrets of agent and session, of what references took from
// them, and of credentials in configurations. It is nil where there are none.
func (b *Bound) Mask() *mask.Mask { return b.mask() }
