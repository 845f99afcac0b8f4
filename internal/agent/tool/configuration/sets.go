package configuration

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/offload"
	"quarry/internal/fault"
)

// Sets returns the tools of agents, and keeps those of turns as long as neither the agent nor what it refers to changes. Safe for
// concurrent use.
type Sets struct {
	stored Finder
	tools  catalog.Finder
	kit    tool.Kit

	mu   sync.Mutex
	sets map[state]*tool.Set // guarded by mu
}

// state names a configuration of an agent with what it refers to, as that was.
type state struct {
	agent, revision int64
	stored, tools   string
}

// maxSets bounds the configurations whose tools are kept; beyond it all are made anew at their next use.
const maxSets = 1_000

// NewSets returns sets made with a kit.
func NewSets(stored Finder, tools catalog.Finder, kit tool.Kit) *Sets {
	return &Sets{stored: stored, tools: tools, kit: kit, sets: map[state]*tool.Set{}}
}

// Check returns the tools of an agent that is written, or everything that is wrong with its entries, under tool.Field.
func (s *Sets) Check(ctx context.Context, entries map[string]json.RawMessage) (*tool.Set, error) {
	found, err := s.find(ctx, entries)
	if err != nil {
		return nil, err
	}
	if err := found.missing(entries); err != nil {
		return nil, err
	}
	expanded, err := found.expand(entries, true)
	if err != nil {
		return nil, err
	}
	known, err := s.tools.Known(ctx, expanded)
	if err != nil {
		return nil, err
	}
	set, err := tool.Compile(expanded, known.Kit(s.kit))
	if err == nil {
		err = fault.Under(offload.CheckEntries(expanded), tool.Field)
	}
	return set, Blame(err, entries)
}

// alone returns what an entry names that belongs to no agent, or everything that is wrong with it. Which other tools there are is known
// only where an agent refers to it.
func (s *Sets) alone(ctx context.Context, entry json.RawMessage) ([]permit.Need, error) {
	const name = "entry"
	all := map[string]json.RawMessage{name: entry}
	known, err := s.tools.Known(ctx, all)
	if err != nil {
		return nil, err
	}
	kit := known.Kit(s.kit)
	kit.Apart = true
	set, err := tool.Compile(all, kit)
	if err == nil {
		err = fault.Under(offload.CheckEntries(all), tool.Field)
	}
	if err != nil {
		return nil, within(err, fault.Join(tool.Field, name))
	}
	return set.Needs([]string{name}), nil
}

// Agent is an agent in one of its revisions.
type Agent struct {
	No, Revision int64
	Entries      map[string]json.RawMessage
}

// Bind returns the tools of a turn, and what to keep with it, as tool.Set.Bind does. before is the text of that, "" for a turn that begins
// now: one that goes on has the configurations that it began with, whatever they have become. A tool or a configuration that is gone is
// disabled.
func (s *Sets) Bind(ctx context.Context, a Agent, scene tool.Scene, before string) (*tool.Bound, tool.Kept, error) {
	found, resolved, err := kept(before)
	had := found != nil
	if err == nil && found == nil {
		found, err = s.find(ctx, a.Entries)
	}
	if err != nil {
		return nil, tool.Kept{}, err
	}
	set, err := s.of(ctx, a, found)
	if err != nil {
		return nil, tool.Kept{}, err
	}
	bound, keep, err := set.Bind(scene, resolved)
	if err != nil {
		return nil, tool.Kept{}, err
	}
	if had {
		return bound, tool.Kept{Text: before}, nil
	}
	if keep, err = found.with(keep); err == nil {
		err = keep.Check()
	}
	return bound, keep, err
}

// BindOne returns a tool of an agent for one call beside a turn; nil if the agent has no such tool.
func (s *Sets) BindOne(ctx context.Context, a Agent, name string, scene tool.Scene) (*tool.Bound, error) {
	if _, there := a.Entries[name]; !there {
		return nil, nil
	}
	found, err := s.find(ctx, a.Entries)
	if err != nil {
		return nil, err
	}
	set, err := s.of(ctx, a, found)
	if err != nil {
		return nil, err
	}
	bound, _, err := set.Only(name).Bind(scene, "")
	return bound, err
}

// Clients returns the names of the entries whose tools are the client's, also by a configuration that they refer to.
func (s *Sets) Clients(ctx context.Context, entries map[string]json.RawMessage) (names []string, err error) {
	found, err := s.find(ctx, entries)
	if err != nil {
		return nil, err
	}
	expanded, err := found.expand(entries, true)
	if err != nil {
		return nil, err
	}
	for name, entry := range expanded {
		var of struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(entry, &of) == nil && of.Type == catalog.Client {
			names = append(names, name)
		}
	}
	return names, nil
}

// of returns the tools of an agent with these configurations.
func (s *Sets) of(ctx context.Context, a Agent, found Found) (*tool.Set, error) {
	expanded, err := found.expand(a.Entries, false)
	if err != nil {
		return nil, err
	}
	known, err := s.tools.Known(ctx, expanded)
	if err != nil {
		return nil, err
	}
	known.Lenient = true
	key := state{a.No, a.Revision, found.stamp(), known.Stamp()}
	s.mu.Lock()
	set := s.sets[key]
	s.mu.Unlock()
	if set != nil {
		return set, nil
	}
	kit := known.Kit(s.kit)
	kit.Apart, kit.Types[Reference] = true, found.disabled
	set, err = tool.Compile(expanded, kit)
	if f, ok := fault.As(err); ok && f.Kind == fault.KindInvalid {
		return nil, fault.Unprocessable("invalid_tool_configuration", "the agent's tools can't be used: %s", f).Because(err)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sets) >= maxSets {
		clear(s.sets)
	}
	s.sets[key] = set
	return set, nil
}

// find reads the configurations that entries refer to; nil if they refer to none.
func (s *Sets) find(ctx context.Context, entries map[string]json.RawMessage) (Found, error) {
	keys := Referred(entries)
	if len(keys) == 0 {
		return nil, nil
	}
	all, err := s.stored.Find(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := Found{}
	for _, c := range all {
		found[c.Key] = c
	}
	return found, nil
}

// Blame returns a fault with what is wrong with a configuration put to the entry that refers to it, unless that has the member itself.
func Blame(err error, entries map[string]json.RawMessage) error {
	f, ok := fault.As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	out := fault.Invalid()
	for _, path := range f.Paths() {
		place, reason := path, f.Fields[path]
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			at := fault.Join(tool.Field, name)
			inner, under := strings.CutPrefix(path, at+".")
			key, refers := referred(entries[name])
			if !under || !refers || own(entries[name], inner) {
				continue
			}
			place, reason = fault.Join(at, keyField), "names the tool configuration "+key+", of which "+inner+" "+reason
		}
		out.Field(place, "%s", reason)
	}
	return out
}

// within returns a fault with the fields that stand under a place, relative to it.
func within(err error, place string) error {
	f, ok := fault.As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	out := fault.Invalid()
	for _, path := range f.Paths() {
		out.Field(strings.TrimPrefix(strings.TrimPrefix(path, place), "."), "%s", f.Fields[path])
	}
	return out
}
