package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"quarry/internal/agent/enrich"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/offload"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/page"
)

// Config is what a Service needs.
type Config struct {
	Store  Store
	Models llm.Models
	Kit    tool.Kit // that configurations of tools are checked with
	// Stop ends the turns of an agent that was deleted, where they run in this process, without waiting; nil for nobody. It only
	// saves work: a turn of a deleted agent can't write.
	Stop         func(agent int64)
	Instructions Instructions         // that steps refer to
	Glossaries   Glossaries           // that reminders name
	Tools        catalog.Finder       // that configurations of tools refer to
	Stored       configuration.Finder // that agents refer to
}

// Service keeps agents. Safe for concurrent use.
type Service struct {
	store        Store
	models       llm.Models
	stop         func(int64)
	instructions Instructions
	glossaries   Glossaries
	tools        *configuration.Sets
}

// New returns a service.
func New(c Config) *Service {
	return &Service{c.Store, c.Models, c.Stop, c.Instructions, c.Glossaries, configuration.NewSets(c.Stored, c.Tools, c.Kit)}
}

// Writer is who writes an agent. Nobody does through an agent what they may not do themselves.
type Writer struct {
	permit.Rights
}

// Create writes a new agent. An empty key is generated from the name; one that is taken is fault.KindConflict.
func (s *Service) Create(ctx context.Context, by Writer, key string, c Change) (Agent, error) {
	bad := fault.Invalid()
	if key != "" && !keyPattern.MatchString(key) {
		bad.Field("key", "must be 1 to %d letters, digits, _ and -", id.MaxKey)
	}
	if err := s.refer(ctx, &c, &Definition{}, bad); err != nil {
		return Agent{}, err
	}
	d, err := s.fresh(ctx, by, &c, bad)
	if err != nil {
		return Agent{}, err
	}
	now := clock.Now()
	made, err := s.insert(ctx, Agent{Key: key, Definition: d, Created: now, Updated: now})
	return made, s.gone(ctx, &c, &Definition{}, err)
}

// insert stores a new agent, under a key made from its name if it has none.
func (s *Service) insert(ctx context.Context, a Agent) (Agent, error) {
	if a.Key != "" {
		return s.store.Create(ctx, a)
	}
	for tries := 0; ; tries++ {
		a.Key = id.Key("agt_", a.Name, "agent")
		made, err := s.store.Create(ctx, a)
		if f, ok := fault.As(err); tries == 20 || !ok || f.Code != taken {
			return made, err
		}
	}
}

var keyPattern = regexp.MustCompile(fmt.Sprintf(`^[0-9a-zA-Z_-]{1,%d}$`, id.MaxKey))

// Get returns an agent.
func (s *Service) Get(ctx context.Context, key string) (Agent, error) { return s.store.Get(ctx, key) }

// List returns a page of agents, newest first, and where the next page begins, nil on the last one.
func (s *Service) List(ctx context.Context, l List) (found []Agent, next *page.Position, err error) {
	found, more, err := s.store.List(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = found[len(found)-1].Position()
	}
	return found, next, nil
}

// Update changes an agent and returns it. Changes at once follow one another, each on what the one before it has left.
func (s *Service) Update(ctx context.Context, by Writer, a Agent, c Change) (Agent, error) {
	refs := fault.Invalid()
	if err := s.refer(ctx, &c, &a.Definition, refs); err != nil {
		return Agent{}, err
	}
	changed, err := s.write(ctx, a, func(was Definition) (Definition, error) {
		bad := fault.Invalid()
		bad.Gather(refs.Err())
		d := c.apply(was, bad)
		return d, s.check(ctx, by, was, &d, &c, bad)
	})
	return changed, s.gone(ctx, &c, &a.Definition, err)
}

// Replace replaces the configuration of an agent and returns it. Key and age stay.
func (s *Service) Replace(ctx context.Context, by Writer, a Agent, c Change) (Agent, error) {
	bad := fault.Invalid()
	if err := s.refer(ctx, &c, &a.Definition, bad); err != nil {
		return Agent{}, err
	}
	d, err := s.fresh(ctx, by, &c, bad)
	if err != nil {
		return Agent{}, err
	}
	changed, err := s.write(ctx, a, func(Definition) (Definition, error) { return d, nil })
	return changed, s.gone(ctx, &c, &a.Definition, err)
}

// write stores what change returns for the present definition of an agent.
func (s *Service) write(ctx context.Context, a Agent, change func(Definition) (Definition, error)) (Agent, error) {
	for no := a.No; ; {
		d, err := change(a.Definition)
		if err != nil || reflect.DeepEqual(d, a.Definition) {
			return a, err
		}
		next := a
		next.Definition, next.Updated = d, clock.Now()
		next, err = s.store.Replace(ctx, next)
		if !errors.Is(err, ErrChanged) {
			return next, err
		}
		if a, err = s.store.Get(ctx, a.Key); err != nil {
			return Agent{}, err
		}
		if a.No != no { // deleted, and another one was made under the key
			return Agent{}, Missing(a.Key)
		}
	}
}

// Delete removes an agent with its sessions. Its key is free when Delete returns.
func (s *Service) Delete(ctx context.Context, a Agent) error {
	err := s.store.Delete(ctx, a.No, clock.Now())
	if fault.Is(err, fault.KindNotFound) {
		return Missing(a.Key)
	}
	if err == nil && s.stop != nil {
		s.stop(a.No)
	}
	return err
}

// fresh returns the definition that a change describes on its own.
func (s *Service) fresh(ctx context.Context, by Writer, c *Change, bad *fault.Fault) (Definition, error) {
	d := c.define(bad)
	return d, s.check(ctx, by, Definition{}, &d, c, bad)
}

// check checks what a change of was has led to. What it leaves as it was, a model or a tool, is not asked for again: whoever may change
// an agent can do so after its model was disabled, and need not be able to read all that the agent searches.
func (s *Service) check(ctx context.Context, by Writer, was Definition, d *Definition, c *Change, bad *fault.Fault) error {
	k := checker{Definition: d, bad: bad, first: c.First != nil, gone: c.removals(&was)}
	k.check()
	if err := s.checkModel(ctx, c, bad); err != nil {
		return err
	}
	if !c.Offloading.IsAbsent() {
		bad.Gather(fault.Under(offload.Check(d.Offloading), offload.Field))
	}
	if err := s.checkRules(ctx, &k); err != nil {
		return err
	}
	var needs []permit.Need
	if !c.Tools.IsAbsent() {
		set, err := s.tools.Check(ctx, d.Tools)
		if _, expected := fault.As(err); err != nil && !expected {
			return err
		}
		if bad.Gather(err); err == nil {
			changed := slices.Sorted(maps.Keys(c.Tools.Or(nil)))
			gone := fault.Invalid()
			if err := s.called(ctx, set, changed, gone); err != nil {
				return err
			}
			bad.Gather(configuration.Blame(gone.Err(), d.Tools))
			needs = set.Needs(changed)
		}
	}
	if err := bad.Err(); err != nil {
		return err
	}
	return permit.Written(by.Rights, needs)
}

// checkRules checks the rules by which the agent enriches sessions, also where the change leaves them as they were: without them being right
// there are no sessions.
func (s *Service) checkRules(ctx context.Context, k *checker) error {
	if !k.Enriches() {
		return nil
	}
	entries, tools := map[string]json.RawMessage{}, map[string]bool{}
	for name := range k.Tools {
		tools[name] = false
	}
	for _, name := range enrich.Tools(k.Enrichment) {
		if entry, there := k.Tools[name]; there {
			entries[name] = entry
		}
	}
	clients, err := s.tools.Clients(ctx, entries)
	if err != nil {
		return err
	}
	for _, name := range clients {
		tools[name] = true
	}
	enrich.Check(k.Enrichment, tools, func(name string) string { return k.removed(tool.Field, name) }, k.bad)
	return nil
}

// called checks that there are the agents that configurations call.
func (s *Service) called(ctx context.Context, set *tool.Set, names []string, bad *fault.Fault) error {
	for _, name := range names {
		for _, n := range set.Needs([]string{name}) {
			if n.Agent == "" {
				continue
			}
			_, err := s.store.Get(ctx, n.Agent)
			if fault.Is(err, fault.KindNotFound) {
				bad.Field(fault.Join(tool.Field, name)+".sub_agent_configuration.agent_key", "there is no agent with the key %q", n.Agent)
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkModel checks that there is the model that a change names.
func (s *Service) checkModel(ctx context.Context, c *Change, bad *fault.Fault) error {
	model, given := c.Model.Get()
	if !given || model.Name == "" {
		return nil
	}
	_, err := s.models.Model(ctx, model.Name)
	if err = llm.Named(err, "model.name"); fault.Is(err, fault.KindInvalid) {
		bad.Gather(err)
		return nil
	}
	return err
}
