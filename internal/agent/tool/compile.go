package tool

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/expr/jq"
	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
	"quarry/internal/opt"
)

// Names is what names of configurations look like, which providers accept as names of functions.
var Names = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// MaxSeconds is the longest that a configuration lets a call take.
const MaxSeconds = 21_600

// Field is the member of an agent that holds configurations; faults name fields in it.
const Field = "tool_configurations"

// Set is the tools of an agent. It is safe for concurrent use.
type Set struct {
	kit   Kit
	tools map[string]*configured
	names []string // in order
}

// configured is a tool as an agent has it.
type configured struct {
	*Tool
	name      string        // of the configuration
	kind      string        // its type
	describe  *vtl.Template // nil: the description of the tool
	overrides []override
	input     *jq.Program // nil: arguments stay as they are
	output    *jq.Program
	needs     []string        // tools whose outputs the overrides read
	shown     json.RawMessage // the schema without pinned arguments
	pinned    []string        // paths of the pinned values; never nil
	limit     time.Duration   // of one call; negative for none
	// offloading is the tool_output_offloading of the configuration; nil for none
	offloading json.RawMessage
}

// base are the members that configurations of all types have.
type base struct {
	Type        string          `json:"type"`
	Override    json.RawMessage `json:"argument_override"`
	Description *string         `json:"description_template"`
	Input       *string         `json:"input_transform"`
	Output      *string         `json:"output_transform"`
	Seconds     *int64          `json:"max_execution_time_seconds"`
	Offloading  json.RawMessage `json:"tool_output_offloading"`
}

// Compile checks the configurations of an agent, by their names, and returns its tools. The error is fault.KindInvalid with
// everything that is wrong, under Field.
func Compile(all map[string]json.RawMessage, kit Kit) (*Set, error) {
	s := &Set{kit: kit, tools: map[string]*configured{}, names: slices.Sorted(maps.Keys(all))}
	bad := fault.Invalid()
	for _, name := range s.names {
		f := fault.Invalid()
		if !Names.MatchString(name) {
			f.Field("", "is no name of a tool: it has 1 to 64 letters, digits, _ and -")
		} else {
			s.tools[name] = kit.compile(name, all, f)
		}
		bad.Gather(fault.Under(f.Err(), fault.Join(Field, name)))
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// compile returns the tool of a configuration and adds to f what is wrong with it.
func (k *Kit) compile(name string, all map[string]json.RawMessage, f *fault.Fault) *configured {
	raw := all[name]
	var b base
	if err := json.Unmarshal(raw, &b); err != nil {
		f.Field("", "can't be read: %s", err)
		return nil
	}
	make, ok := k.Types[b.Type]
	if !ok {
		f.Field("type", "is %q, which is part of the contract and not built yet; built: %s", b.Type, strings.Join(slices.Sorted(maps.Keys(k.Types)), ", "))
		return nil
	}
	c := &configured{name: name, kind: b.Type, pinned: []string{}}
	var err error
	if c.input, err = parse(b.Input, jq.Parse); err != nil {
		f.Field("input_transform", "%s", err)
	}
	if c.output, err = parse(b.Output, jq.Parse); err != nil {
		f.Field("output_transform", "%s", err)
	}
	if c.describe, err = parse(b.Description, vtl.ParseText); err != nil {
		f.Field("description_template", "%s", err)
	}
	if c.Tool, err = make(raw); err != nil {
		f.Gather(err)
		return nil
	}
	var refs []reference.Reference
	c.overrides, refs = parseOverrides(b.Override, c.Schema, opt.Deref(b.Input, "") == "", f)
	for _, r := range refs {
		c.needs = r.Tools(c.needs)
	}
	c.fix(refs)
	if !k.Apart {
		known(c, all, f)
	}
	c.limits(&b, f)
	hidden := [][]reference.Step{}
	for _, o := range c.overrides {
		hidden = append(hidden, o.path)
		c.pinned = append(c.pinned, o.leafPaths()...)
	}
	c.shown = c.Schema.Without(hidden)
	return c
}

// fixedPlace is where Tool.Eager has a reference of argument_override, behind which its text stands.
const fixedPlace = "argument_override "

// fix adds the references of argument_override to the eager ones, if the tool's are.
func (c *configured) fix(refs []reference.Reference) {
	if !c.Fixed {
		return
	}
	eager := maps.Clone(c.Eager)
	if eager == nil {
		eager = map[string]Eager{}
	}
	for _, r := range refs {
		if len(r.Tools(nil)) == 0 {
			eager[fixedPlace+r.String()] = Eager{Reference: r, Any: true}
		}
	}
	c.Eager = eager
}

// limits reads what a configuration says of the time and the output of calls.
func (c *configured) limits(b *base, f *fault.Fault) {
	if b.Seconds != nil {
		if *b.Seconds < 1 || *b.Seconds > MaxSeconds {
			f.Field("max_execution_time_seconds", "must be 1 to %d", MaxSeconds)
		}
		c.limit = time.Duration(*b.Seconds) * time.Second
	}
	if c.limit == 0 {
		c.limit = cmp.Or(c.Timeout, DefaultTimeout)
	}
	c.offloading = b.Offloading
}

// parse compiles a text if it is given.
func parse[T any](text *string, compile func(string) (*T, error)) (*T, error) {
	if opt.Deref(text, "") == "" {
		return nil, nil
	}
	return compile(*text)
}

// known adds to f where c reads the output of a tool that the agent doesn't have.
func known(c *configured, all map[string]json.RawMessage, f *fault.Fault) {
	for _, needed := range c.needs {
		if _, ok := all[needed]; !ok {
			f.Field("argument_override", "refers to the output of %q, which is no tool of this agent", needed)
		}
	}
	for place, r := range c.Eager {
		for _, needed := range r.Tools(nil) {
			if _, ok := all[needed]; !ok {
				f.Field(place, "refers to the output of %q, which is no tool of this agent", needed)
			}
		}
	}
}

// Needs returns what some of the configurations name, each once and in order.
func (s *Set) Needs(names []string) (out []permit.Need) {
	for _, name := range names {
		if t := s.tools[name]; t != nil {
			out = append(out, t.Needs...)
		}
	}
	return permit.Sorted(out)
}
