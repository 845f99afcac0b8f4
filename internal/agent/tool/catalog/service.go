package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/agent/skill"
	"quarry/internal/agent/tool"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Store keeps tools that were created. One that does not exist is Missing.
type Store interface {
	// Create writes a tool and returns it with No set; a name that another one has is ErrTaken.
	Create(ctx context.Context, t Tool) (Tool, error)
	Get(ctx context.Context, which id.Tool) (Tool, error)
	// Find returns those of the tools that there are.
	Find(ctx context.Context, which []id.Tool) ([]Tool, error)
	// List returns up to limit tools that match, newest first, behind a place, and whether more follow.
	List(ctx context.Context, after *page.Position, limit int, match func(*Tool) bool) (found []Tool, more bool, err error)
	// Replace writes t as the next version of itself and returns it so. ErrChanged if t.Version is not the present one any more.
	Replace(ctx context.Context, t Tool) (Tool, error)
	// Delete removes a tool. An *InUseError if agents have it.
	Delete(ctx context.Context, t Tool) error
}

// The errors of a Store: a name that is taken, a change of what has changed meanwhile.
var (
	ErrTaken   = errors.New("the name is taken")
	ErrChanged = errors.New("the tool was changed meanwhile")
)

// Service keeps the catalogue. Safe for concurrent use.
type Service struct {
	store   Store
	builtIn []Tool
	caller  Caller
}

// New returns a service that lists the types of a kit as the built-in tools.
func New(s Store, kit tool.Kit) (*Service, error) {
	found, err := builtTools(kit)
	return &Service{store: s, builtIn: found}, err
}

// Through has the tools of tool servers called through c. It is called before the service is used.
func (s *Service) Through(c Caller) { s.caller = c }

// Change is what a client writes to a tool; what is absent stays, or has its default in a new one.
type Change struct {
	Type, Name, Title, Description opt.Field[string]
	Enabled                        opt.Field[bool]
	Input, Output, Offloading      opt.Field[json.RawMessage]
	Seconds                        opt.Field[int64]
}

// apply returns d with the change, checked.
func (c *Change) apply(d Definition) (Definition, error) {
	d.Name, d.Title, d.Description, d.Enabled = c.Name.Or(d.Name), c.Title.Or(d.Title), c.Description.Or(d.Description), c.Enabled.Or(d.Enabled)
	d.Input = given(c.Input, d.Input, json.RawMessage(`{}`))
	if d.Output = given(c.Output, d.Output, nil); string(d.Output) == "{}" {
		d.Output = nil
	}
	d.Offloading = given(c.Offloading, d.Offloading, nil)
	if d.Seconds = c.Seconds.Or(d.Seconds); c.Seconds.IsNull() {
		d.Seconds = 0
	}
	bad := fault.Invalid()
	d.check(bad)
	if seconds, ok := c.Seconds.Get(); ok && seconds == 0 {
		bad.Field("max_execution_time_seconds", "must be 1 to %d, not 0", maxSeconds)
	}
	return d, bad.Err()
}

// given returns what a field of JSON says, without its blanks: was if it is absent, none if it is null.
func given(f opt.Field[json.RawMessage], was, none json.RawMessage) json.RawMessage {
	if f.IsNull() {
		return none
	}
	return compact(f.Or(was))
}

// Create writes a new tool.
func (s *Service) Create(ctx context.Context, c Change) (Tool, error) {
	switch kind := c.Type.Or(Client); {
	case kind == Client:
	case slices.Contains(types, kind):
		return Tool{}, fault.InvalidField("type", "is %q, which is part of the contract and not built yet; client is", kind)
	default:
		return Tool{}, fault.InvalidField("type", "must be client, not %q", kind)
	}
	d, err := c.apply(Definition{Type: Client, Enabled: true, Input: json.RawMessage(`{}`)})
	if err != nil {
		return Tool{}, err
	}
	if s.Reserved(d.Name) {
		return Tool{}, taken(d.Name)
	}
	now := clock.Now()
	made, err := s.store.Create(ctx, Tool{ID: id.NewTool(), Version: 1, Definition: d, Created: now, Updated: now})
	if errors.Is(err, ErrTaken) {
		return Tool{}, taken(d.Name)
	}
	return made, err
}

// Reserved reports whether a name belongs to a tool that comes with the program.
func (s *Service) Reserved(name string) bool {
	return name == skill.Tool || slices.ContainsFunc(s.builtIn, func(t Tool) bool { return t.Name == name })
}

// Get returns a tool.
func (s *Service) Get(ctx context.Context, which id.Tool) (Tool, error) {
	if t := s.built(which); t != nil {
		return *t, nil
	}
	return s.store.Get(ctx, which)
}

// List selects tools, newest first.
type List struct {
	Type       string // "" for any
	Enabled    *bool  // nil: enabled or not
	Categories []string
	Server     string         // id of the tool server that they are of; "" for any
	After      *page.Position // the last one shown, nil for the first page
	Limit      int
	Match      func(*Tool) bool // nil: every one
}

// matches reports whether the list shows a tool.
func (l *List) matches(t *Tool) bool {
	category := ""
	if t.Built != nil {
		category = t.Built.Category
	}
	switch {
	case l.Server != "" && (t.Remote == nil || string(t.Remote.Server) != l.Server):
		return false
	case l.Type == Vectara && t.Built == nil, l.Type != "" && l.Type != Vectara && l.Type != t.Type:
		return false
	case l.Enabled != nil && *l.Enabled != t.Available():
		return false
	case len(l.Categories) > 0 && !slices.Contains(l.Categories, category), len(l.Categories) == 0 && category == experimental:
		return false
	}
	return l.Match == nil || l.Match(t)
}

// List returns a page of tools and where the next page begins, nil on the last one.
func (s *Service) List(ctx context.Context, l List) (found []Tool, next *page.Position, err error) {
	if l.Type != "" && l.Type != Vectara && !slices.Contains(types, l.Type) {
		return nil, nil, fault.InvalidField("type", "must be %s or one of %s, not %q", Vectara, strings.Join(types, ", "), l.Type)
	}
	found, more, err := s.store.List(ctx, l.After, l.Limit, l.matches)
	if err != nil {
		return nil, nil, err
	}
	for i := range s.builtIn {
		if t := &s.builtIn[i]; l.matches(t) && (l.After == nil || t.before(l.After)) {
			found = append(found, *t)
		}
	}
	slices.SortFunc(found, func(a, b Tool) int {
		if a.before(b.Position()) {
			return 1
		}
		return -1
	})
	if len(found) > l.Limit {
		found, more = found[:l.Limit], true
	}
	if more && len(found) > 0 {
		next = found[len(found)-1].Position()
	}
	return found, next, nil
}

// before reports whether t is older than a place, by its id if it is of the same instant.
func (t *Tool) before(p *page.Position) bool {
	at, key := p.Bound()
	if mine := t.Created.UnixMicro(); mine != at {
		return mine < at
	}
	return string(t.ID) < key
}

// Update changes a tool and returns it. Changes at once follow one another, each on what the one before it has left.
func (s *Service) Update(ctx context.Context, t Tool, c Change) (Tool, error) {
	if t.Built != nil {
		return Tool{}, builtin(&t, "changed")
	}
	if kind := c.Type.Or(t.Type); kind != t.Type {
		return Tool{}, fault.InvalidField("type", "is %q, but tool %s is of type %s, which can't be changed", kind, t.ID, t.Type)
	}
	if name := c.Name.Or(t.Name); name != t.Name && t.Remote == nil {
		return Tool{}, fault.InvalidField("name", "of tool %s is %s and can't be changed; create another tool", t.ID, t.Name)
	}
	change := c.apply
	if t.Remote != nil {
		change = c.enable
	}
	for no := t.No; ; {
		d, err := change(t.Definition)
		if err != nil {
			return Tool{}, err
		}
		next := t
		next.Definition, next.Updated = d, clock.Now()
		next, err = s.store.Replace(ctx, next)
		if !errors.Is(err, ErrChanged) {
			return next, err
		}
		if t, err = s.store.Get(ctx, t.ID); err != nil {
			return Tool{}, err
		}
		if t.No != no {
			return Tool{}, Missing(t.ID)
		}
	}
}

// Delete removes a tool that no agent has.
func (s *Service) Delete(ctx context.Context, t Tool) error {
	if t.Built != nil {
		return builtin(&t, "deleted")
	}
	if t.Remote != nil {
		f := fault.Invalid()
		f.Text = fmt.Sprintf("tool %s (%s) belongs to the tool server %s and can't be deleted alone; disable it, or delete the server", t.ID, t.Name, t.Remote.Server)
		return f
	}
	err := s.store.Delete(ctx, t)
	if used, ok := errors.AsType[*InUseError](err); ok {
		return fault.Conflict("tool_in_use", "tool is being used in different configurations: %s name %s (%s); remove it there first", used, t.ID, t.Name)
	}
	return err
}

// builtin returns the fault of a change of a built-in tool.
func builtin(t *Tool, done string) error {
	f := fault.Invalid()
	f.Text = fmt.Sprintf("tool %s (%s) comes with the program and can't be %s", t.ID, t.Name, done)
	return f
}
