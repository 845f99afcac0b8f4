package catalog

import (
	"context"
	"encoding/json"
	"sync"

	"quarry/internal/agent/tool"
	"quarry/internal/fault"
)

// Finder finds the tools that configurations refer to; a Service is one.
type Finder interface {
	Known(ctx context.Context, configurations map[string]json.RawMessage) (Known, error)
}

// Sets are the tools of agents, kept as long as neither agent nor tools change. Safe for concurrent use.
type Sets struct {
	finder Finder
	kit    tool.Kit

	mu   sync.Mutex
	sets map[state]*tool.Set // guarded by mu
}

// state names a configuration of an agent with the tools that it refers to, as they were.
type state struct {
	agent, revision int64
	known           string
}

// maxSets bounds the configurations whose tools are kept; beyond it all are made anew at their next use.
const maxSets = 1_000

// NewSets returns sets made with a kit.
func NewSets(f Finder, kit tool.Kit) *Sets {
	return &Sets{finder: f, kit: kit, sets: map[state]*tool.Set{}}
}

// Of returns the tools of an agent in one of its revisions, as they are now. A tool that it refers to and that is gone is disabled.
func (s *Sets) Of(ctx context.Context, agent, revision int64, configurations map[string]json.RawMessage) (*tool.Set, error) {
	known, err := s.finder.Known(ctx, configurations)
	if err != nil {
		return nil, err
	}
	known.Lenient = true
	key := state{agent, revision, known.Stamp()}
	s.mu.Lock()
	set := s.sets[key]
	s.mu.Unlock()
	if set != nil {
		return set, nil
	}
	set, err = tool.Compile(configurations, known.Kit(s.kit))
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
