package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Config is what a Service needs.
type Config struct {
	Store Store
	Tools catalog.Finder // that entries refer to
	Kit   tool.Kit       // that entries are checked with
	// Shape checks an entry by the schema of the contract, and returns it as it is kept. Faults name its members.
	Shape func(entry json.RawMessage) (json.RawMessage, error)
	// Agent returns an error, fault.KindNotFound if there is no agent with a key.
	Agent func(ctx context.Context, key string) error
}

// Service keeps configurations. Safe for concurrent use.
type Service struct {
	store Store
	sets  *Sets
	shape func(json.RawMessage) (json.RawMessage, error)
	agent func(context.Context, string) error
}

// New returns a service.
func New(c Config) *Service {
	return &Service{c.Store, NewSets(c.Store, c.Tools, c.Kit), c.Shape, c.Agent}
}

// Create writes a new configuration. An empty key is made from the name.
func (s *Service) Create(ctx context.Context, by permit.Rights, key string, c Change) (Configuration, error) {
	bad := fault.Invalid()
	if key != "" && !keyPattern.MatchString(key) {
		bad.Field("key", "must be 1 to %d letters, digits, _ and -", id.MaxKey)
	}
	d, err := c.apply(Definition{Enabled: true}, bad)
	if err != nil {
		return Configuration{}, err
	}
	if err := s.check(ctx, by, &d, bad); err != nil {
		return Configuration{}, err
	}
	now := clock.Now()
	made := Configuration{Key: key, Version: 1, Definition: d, Created: now, Updated: now}
	if key != "" {
		return s.store.Create(ctx, made)
	}
	for tries := 0; ; tries++ {
		made.Key = id.Key("tcf_", d.Name, "tool")
		written, err := s.store.Create(ctx, made)
		if f, ok := fault.As(err); tries == 20 || !ok || f.Code != taken {
			return written, err
		}
	}
}

// check adds what is wrong with an entry, and returns all that is wrong or that the writer may not name.
func (s *Service) check(ctx context.Context, by permit.Rights, d *Definition, bad *fault.Fault) error {
	var needs []permit.Need
	entry, err := s.shape(d.Entry)
	if kind := d.Type(); err == nil && !slices.Contains(Types, kind) {
		err = fault.InvalidField("type", "must be one of %s, not %q", strings.Join(Types, ", "), kind)
	}
	if err == nil {
		d.Entry = entry
		needs, err = s.sets.alone(ctx, d.Entry)
	}
	for _, n := range needs {
		if n.Agent == "" || err != nil {
			continue
		}
		if err = s.agent(ctx, n.Agent); fault.Is(err, fault.KindNotFound) {
			err = fault.InvalidField("sub_agent_configuration.agent_key", "there is no agent with the key %q", n.Agent)
		}
	}
	if _, expected := fault.As(err); err != nil && !expected {
		return err
	}
	if bad.Gather(err); bad.Err() != nil {
		return bad
	}
	return permit.Written(by, needs)
}

// Get returns a configuration.
func (s *Service) Get(ctx context.Context, key string) (Configuration, error) {
	return s.store.Get(ctx, key)
}

// List selects configurations, newest first.
type List struct {
	Type    string         // "" for any
	Enabled *bool          // nil: enabled or not
	After   *page.Position // the last one shown, nil for the first page
	Limit   int
	Match   func(*Configuration) bool // nil: every one
}

// List returns a page of configurations and where the next page begins, nil on the last one.
func (s *Service) List(ctx context.Context, l List) (found []Configuration, next *page.Position, err error) {
	if l.Type != "" && !slices.Contains(Types, l.Type) {
		return nil, nil, fault.InvalidField("type", "must be one of %s, not %q", strings.Join(Types, ", "), l.Type)
	}
	found, more, err := s.store.List(ctx, l.After, l.Limit, func(c *Configuration) bool {
		return (l.Type == "" || c.Type() == l.Type) && (l.Enabled == nil || c.Enabled == *l.Enabled) && (l.Match == nil || l.Match(c))
	})
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = found[len(found)-1].Position()
	}
	return found, next, nil
}

// Update changes a configuration and returns it. Changes at once follow one another, each on what the one before it has left. An
// entry that stays as it is is not checked again: whoever enables it need not be able to read what it names.
func (s *Service) Update(ctx context.Context, by permit.Rights, c Configuration, change Change) (Configuration, error) {
	for no := c.No; ; {
		d, err := s.changed(ctx, by, &c, change)
		if err != nil || same(&d, &c.Definition) {
			return c, err
		}
		next := c
		next.Definition, next.Updated = d, clock.Now()
		next, err = s.store.Replace(ctx, next)
		if !errors.Is(err, ErrChanged) {
			return next, err
		}
		if c, err = s.store.Get(ctx, c.Key); err != nil {
			return Configuration{}, err
		}
		if c.No != no {
			return Configuration{}, Missing(c.Key)
		}
	}
}

// changed returns the definition of a configuration with a change, checked.
func (s *Service) changed(ctx context.Context, by permit.Rights, c *Configuration, change Change) (Definition, error) {
	bad := fault.Invalid()
	d, err := change.apply(c.Definition, bad)
	if err != nil {
		return d, err
	}
	if was, is := c.Type(), d.Type(); was != is {
		return d, fault.InvalidField("type", "is %q, but tool configuration %s is of type %s, which can't be changed; create another one", is, c.Key, was)
	}
	if string(d.Entry) == string(c.Entry) {
		return d, bad.Err()
	}
	return d, s.check(ctx, by, &d, bad)
}

// Delete removes a configuration that no agent refers to.
func (s *Service) Delete(ctx context.Context, c Configuration) error {
	err := s.store.Delete(ctx, c)
	if used, ok := errors.AsType[*InUseError](err); ok {
		return fault.Conflict("tool_configuration_in_use", "tool configuration %s (%s) is being used: tool_configurations of the agents [%s] refer to it; remove it there first",
			c.Key, c.Name, strings.Join(used.Agents, ", "))
	}
	return err
}

// Referred returns the keys that entries of an agent refer to, each once and in order.
func Referred(entries map[string]json.RawMessage) []string {
	var out []string
	for _, raw := range entries {
		if key, ok := referred(raw); ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Reference is the type of entries that refer to a configuration.
const Reference = "reference"

// referred returns the key that an entry refers to, if it does.
func referred(entry json.RawMessage) (string, bool) {
	var r struct {
		Type string `json:"type"`
		Key  string `json:"tool_configuration_key"`
	}
	return r.Key, json.Unmarshal(entry, &r) == nil && r.Type == Reference
}
