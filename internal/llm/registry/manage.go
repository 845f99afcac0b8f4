package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
	"quarry/internal/usage"
)

// Create describes the model to register.
type Create struct {
	Name, Description string
	Default           bool
	Type              Type
	Model, URI        string
	Auth              *Auth
	Headers           map[string]string
	Idle              time.Duration // 0 is DefaultIdle
	TestParameters    map[string]json.RawMessage
	Capabilities      Capabilities
	Budget            usage.Budget
}

// Patch changes a model. Absent members stay; null removes a bound, the idle timeout or a stated capability.
type Patch struct {
	Description    opt.Field[string]
	Enabled        opt.Field[bool]
	Default        opt.Field[bool]
	Type           opt.Field[Type]
	Model, URI     opt.Field[string]
	Auth           *Auth // replaces all credentials; nil keeps them
	Headers        opt.Field[map[string]string]
	Idle           opt.Field[time.Duration]
	TestParameters opt.Field[map[string]json.RawMessage]

	Images, Tools, Structured, Alternation opt.Field[bool]
	Context                                opt.Field[int]

	Budget map[string]opt.Field[int64] // by the contract's names of the seven limits
}

// Create registers a model after a successful test call.
func (s *Service) Create(ctx context.Context, cmd Create) (LLM, error) {
	now := clock.Now()
	l := LLM{
		ID: id.NewLLM(), Name: cmd.Name, Description: cmd.Description, Enabled: true, Default: cmd.Default,
		Type: cmd.Type, Model: cmd.Model, URI: cmd.URI, Headers: cmd.Headers, Idle: cmd.Idle, TestParameters: cmd.TestParameters,
		Capabilities: cmd.Capabilities, Budget: cmd.Budget, Revision: 1, Created: now, Updated: now,
	}
	auth := cmd.Auth.only()
	l.address(auth)
	bad := fault.Invalid()
	checkName(l.Name, bad)
	l.check(auth, bad)
	if len(bad.Fields) > 0 {
		return LLM{}, bad
	}
	l.Shown = auth.masked()
	rows, err := s.store.Named(ctx, l.Name)
	if err != nil {
		return LLM{}, fmt.Errorf("look up language model: %w", err)
	}
	if _, ok := byName(rows, l.Name); ok {
		return LLM{}, nameTaken(l.Name)
	}
	if err := s.test(ctx, &l, auth); err != nil {
		return LLM{}, err
	}
	if err := s.store.Create(ctx, l, auth); err != nil {
		if errors.Is(err, ErrTaken) {
			return LLM{}, nameTaken(l.Name)
		}
		return LLM{}, err
	}
	return s.describe(ctx, l)
}

func nameTaken(name string) error {
	return fault.InvalidField("name", "is taken: there is a language model %q already", name)
}

// Get returns the model of an id or, where no model has it, of a name.
func (s *Service) Get(ctx context.Context, ref string) (LLM, error) {
	l, err := s.find(ctx, ref)
	if err != nil {
		return LLM{}, err
	}
	if l.Broken != "" {
		return LLM{}, fmt.Errorf("read language model %s: %s", l.ID, l.Broken)
	}
	return s.describe(ctx, l)
}

// find returns the model of an id or a name as it is stored, the customer's before the platform's.
func (s *Service) find(ctx context.Context, ref string) (LLM, error) {
	l, err := s.store.Get(ctx, id.LLM(ref))
	if err == nil || !errors.Is(err, ErrNone) {
		return l, err
	}
	if i := slices.IndexFunc(s.platform, func(l LLM) bool { return string(l.ID) == ref }); i >= 0 {
		return s.platform[i], nil
	}
	rows, err := s.store.Named(ctx, ref)
	if err != nil {
		return LLM{}, err
	}
	if l, ok := byName(slices.Concat(rows, s.platform), ref); ok {
		return l, nil
	}
	return LLM{}, unknown(ref)
}

// describe returns a model as clients see it: the default is the one that answers if none is named, and an alias names the model
// that answers for it.
func (s *Service) describe(ctx context.Context, l LLM) (LLM, error) {
	rows, err := s.store.Named(ctx, Embedded)
	if err != nil {
		return LLM{}, fmt.Errorf("look up the default language model: %w", err)
	}
	return s.complete(l, s.preferred(rows)), nil
}

func (s *Service) complete(l, preferred LLM) LLM {
	l.Default = l.ID == preferred.ID
	if l.Platform {
		return s.describeAlias(l, preferred)
	}
	return l
}

// List returns a page of models, newest first, those of the platform last, and where the next page begins, nil on the
// last one. A platform's model whose name the customer took is left out, and so is what can't be read any more.
func (s *Service) List(ctx context.Context, q List) (page []LLM, next *page.Position, err error) {
	names := make([]string, len(s.platform))
	for i, l := range s.platform {
		names[i] = l.Name
	}
	rows, err := s.store.Named(ctx, names...)
	if err != nil {
		return nil, nil, fmt.Errorf("look up the default language model: %w", err)
	}
	preferred := s.preferred(rows)
	asked := List{Limit: q.Limit + 1, After: q.After, Match: q.Match}
	for more := true; more && len(page) <= q.Limit; {
		var found []LLM
		if found, more, err = s.store.List(ctx, asked); err != nil {
			return nil, nil, err
		}
		for _, l := range found {
			asked.After = l.Position()
			if l.Broken == "" {
				page = append(page, s.complete(l, preferred))
			}
		}
	}
	for _, l := range s.platform {
		l = s.complete(l, preferred)
		_, overridden := byName(rows, l.Name)
		if !overridden && q.Matches(&l) && q.After.Precedes(l.Position()) {
			page = append(page, l)
		}
	}
	if len(page) > q.Limit {
		page = page[:q.Limit]
		next = page[q.Limit-1].Position()
	}
	return page, next, nil
}

// Usable returns all models that calls may name, in the order of List.
func (s *Service) Usable(ctx context.Context) ([]LLM, error) {
	const some = 100
	var out []LLM
	for q := (List{Limit: some}); ; {
		page, next, err := s.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			if l.Enabled {
				out = append(out, l)
			}
		}
		if q.After = next; next == nil {
			return out, nil
		}
	}
}

// updates is how often a change is tried while others change the same model.
const updates = 4

// Update changes a model after a successful test call of its new version. A change that leaves the model disabled and its
// connection unchanged needs no call: a model that fails can be disabled, and limited before it is enabled.
func (s *Service) Update(ctx context.Context, ref string, p Patch) (LLM, error) {
	for range updates {
		was, err := s.find(ctx, ref)
		if err != nil {
			return LLM{}, err
		}
		if was.Platform {
			return LLM{}, readOnly(was)
		}
		l, err := s.update(ctx, was, p)
		if !errors.Is(err, ErrChanged) {
			return l, err
		}
	}
	return LLM{}, fault.Conflict("llm_changed", "language model %s was changed by others again and again meanwhile; try again", ref)
}

// readOnly returns the fault of changing a model of the platform.
func readOnly(l LLM) error {
	return fault.Forbidden("language model %s belongs to the platform and can't be changed; register one of the same name to take its place", l.Name)
}

func (s *Service) update(ctx context.Context, was LLM, p Patch) (LLM, error) {
	bad := fault.Invalid()
	now := was.patch(p, bad)
	auth, replaced := p.Auth.only(), p.Auth != nil
	if !replaced {
		var err error
		if auth, err = s.store.Auth(ctx, was.ID); err != nil {
			return LLM{}, unlessGone(err, was.ID)
		}
	}
	now.address(auth)
	now.check(auth, bad)
	if len(bad.Fields) > 0 {
		return LLM{}, bad
	}
	now.Shown = auth.masked()
	if now.Enabled || replaced || now.reconnects(&was) {
		if err := s.test(ctx, &now, auth); err != nil {
			return LLM{}, err
		}
	}
	now.Updated = clock.Now()
	now, err := s.store.Update(ctx, now, !replaced, auth)
	if err != nil {
		return LLM{}, unlessGone(err, was.ID)
	}
	return s.describe(ctx, now)
}

// address fills in the address where the format has one of its own for these credentials.
func (l *LLM) address(auth *Auth) {
	if f, ok := l.Type.find(); ok && auth != nil {
		l.URI = cmp.Or(l.URI, f.home[auth.Type])
	}
}

// unlessGone returns err, or the fault of a model that does not exist any more.
func unlessGone(err error, llm id.LLM) error {
	if errors.Is(err, ErrNone) {
		return unknown(string(llm))
	}
	return err
}

// reconnects reports whether the connection differs from before in anything but its credentials.
func (l *LLM) reconnects(was *LLM) bool {
	return l.Type != was.Type || l.Model != was.Model || l.URI != was.URI || l.Idle != was.Idle || !maps.Equal(l.Headers, was.Headers)
}

// patch returns the model after a change. A new type requires the members that a new model of that type requires.
func (l LLM) patch(p Patch, bad *fault.Fault) LLM {
	if t, ok := p.Type.Get(); ok && (t != l.Type || l.Broken != "") {
		l.Type, l.Broken = t, ""
		f, _ := t.find()
		for _, need := range []struct {
			field  string
			absent bool
		}{{"model", p.Model.IsAbsent()}, {"uri", f.needsURI && p.URI.IsAbsent()}, {"auth", f.needsAuth && p.Auth == nil}} {
			if need.absent {
				bad.Field(need.field, "is required when the type becomes %s", t)
			}
		}
		if p.URI.IsAbsent() {
			l.URI = ""
		}
	}
	l.Description, l.Enabled, l.Default = p.Description.Or(l.Description), p.Enabled.Or(l.Enabled), p.Default.Or(l.Default)
	l.Model, l.URI = p.Model.Or(l.Model), p.URI.Or(l.URI)
	l.Headers, l.TestParameters = p.Headers.Or(l.Headers), p.TestParameters.Or(l.TestParameters)
	set(&l.Idle, p.Idle)
	for name, at := range l.Budget.Limits() {
		set(at, p.Budget[name])
	}
	point(&l.Capabilities.ImageSupport, p.Images)
	point(&l.Capabilities.ToolCalling, p.Tools)
	point(&l.Capabilities.StructuredOutputs, p.Structured)
	point(&l.Capabilities.RequiresRoleAlternation, p.Alternation)
	point(&l.Capabilities.ContextLimit, p.Context)
	return l
}

// set assigns a field unless it is absent; null is the zero value.
func set[T any](at *T, f opt.Field[T]) {
	if !f.IsAbsent() {
		var none T
		*at = f.Or(none)
	}
}

func point[T any](at **T, f opt.Field[T]) {
	if v, ok := f.Get(); ok {
		*at = &v
	} else if f.IsNull() {
		*at = nil
	}
}

// Delete removes a model of the customer. If it was the default one, the embedded one is the default again.
func (s *Service) Delete(ctx context.Context, ref string) error {
	l, err := s.find(ctx, ref)
	if err != nil {
		return err
	}
	if l.Platform {
		return readOnly(l)
	}
	if err := s.store.Delete(ctx, l.ID); err != nil {
		return unlessGone(err, l.ID)
	}
	s.forget(l.ID)
	return nil
}
