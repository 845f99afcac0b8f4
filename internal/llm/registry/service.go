package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// Config is what a Service needs.
type Config struct {
	Store   Store
	Dialer  Dialer
	Prober  Prober       // nil: Discover finds nothing
	Builtin llm.Provider // the embedded generator
	Meter   *usage.Meter // holds calls to the budgets of models
	Aliases []string     // names that stand for the default model
}

// Service is the registry of language models. Every use of a model begins with Model, which reads the row: what one node
// deletes, disables or changes holds for the next call on every node. Safe for concurrent use.
type Service struct {
	store    Store
	dialer   Dialer
	prober   Prober
	builtin  llm.Provider
	meter    *usage.Meter
	platform []LLM // what is there without being registered: the embedded model first, then the aliases

	mu   sync.Mutex
	open map[id.LLM]*client // guarded by mu
}

// client calls a model as its row was at one revision.
type client struct {
	revision int64
	provider llm.Provider
}

// maxClients bounds the clients that are kept; beyond it all are dropped and made again at their next use.
const maxClients = 1_000

// New returns a service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, dialer: c.Dialer, prober: c.Prober, builtin: c.Builtin, meter: c.Meter,
		platform: platform(c.Aliases), open: map[id.LLM]*client{},
	}
}

// Model implements Models.
func (s *Service) Model(ctx context.Context, name string) (*llm.Model, error) {
	found, err := s.resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	if found.Platform {
		return (&metered{llm: found, provider: s.builtin, meter: s.meter}).model(), nil
	}
	if found.Broken != "" {
		return nil, fmt.Errorf("use language model %s: %s", found.ID, found.Broken)
	}
	if !found.Enabled {
		return nil, refuse("the language model %q is disabled", found.Name)
	}
	l, err := s.client(ctx, found)
	if err != nil {
		return nil, err
	}
	return (&metered{llm: found, provider: l.provider, meter: s.meter}).model(), nil
}

func refuse(format string, args ...any) error {
	f := fault.Invalid()
	f.Text = fmt.Sprintf(format, args...)
	return f
}

// resolve finds what answers to a name: a model of the customer before one of the platform, and for an alias the default
// model.
func (s *Service) resolve(ctx context.Context, name string) (LLM, error) {
	names := []string{Embedded}
	if name != "" && name != Embedded {
		names = append(names, name)
	}
	rows, err := s.store.Named(ctx, names...)
	if err != nil {
		return LLM{}, fmt.Errorf("look up language model: %w", err)
	}
	if name != "" {
		if l, ok := byName(rows, name); ok {
			return l, nil
		}
		if _, ok := byName(s.platform, name); !ok {
			return LLM{}, refuse("there is no language model %q; GET /v2/llms lists those there are", name)
		}
	}
	if name == Embedded {
		return s.platform[0], nil
	}
	return s.preferred(rows), nil
}

// preferred returns the model that answers where none is named, of rows that hold the default one and the customer's one
// of the name of the embedded model. A default model that is disabled, or can't be read, does not count while it is.
func (s *Service) preferred(rows []LLM) LLM {
	for _, l := range rows {
		if l.Default && l.Enabled && l.Broken == "" {
			return l
		}
	}
	l, _ := byName(slices.Concat(rows, s.platform), Embedded)
	return l
}

func byName(all []LLM, name string) (LLM, bool) {
	i := slices.IndexFunc(all, func(l LLM) bool { return l.Name == name })
	if i < 0 {
		return LLM{}, false
	}
	return all[i], true
}

// client returns the client of a model as its row is now.
func (s *Service) client(ctx context.Context, l LLM) (*client, error) {
	s.mu.Lock()
	kept := s.open[l.ID]
	s.mu.Unlock()
	if kept != nil && kept.revision == l.Revision {
		return kept, nil
	}
	l, p, err := s.dial(ctx, l)
	if err != nil {
		return nil, err
	}
	fresh := &client{l.Revision, p}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.open[l.ID]; now != nil && now.revision >= l.Revision { // another call was faster
		if now.revision == l.Revision {
			return now, nil
		}
		return fresh, nil
	}
	if len(s.open) >= maxClients {
		clear(s.open)
	}
	s.open[l.ID] = fresh
	return fresh, nil
}

// dial opens the provider of a model as its row is now.
func (s *Service) dial(ctx context.Context, l LLM) (LLM, llm.Provider, error) {
	auth, err := s.store.Auth(ctx, l.ID)
	var now LLM
	if err == nil {
		now, err = s.store.Get(ctx, l.ID)
	}
	switch {
	case errors.Is(err, ErrNone): // deleted since its row was read
		return l, nil, refuse("there is no language model %q any more", l.Name)
	case err != nil:
		return l, nil, fmt.Errorf("read credentials of language model %s: %w", l.ID, err)
	case now.Revision != l.Revision: // a change between the two reads would send its credentials to the old address
		return s.dial(ctx, now)
	}
	p, err := s.dialer.Open(l.connection(auth))
	if err != nil {
		// What is stored was dialed before it was stored, so this is not what the caller has sent.
		return l, nil, fmt.Errorf("open language model %s: %w", l.ID, hidden{err})
	}
	return l, p, nil
}

// forget drops the client of a model that is gone.
func (s *Service) forget(llm id.LLM) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, llm)
}

// hidden keeps the text of a fault and hides the fault from errors.As: it is not about the request at hand.
type hidden struct{ err error }

func (h hidden) Error() string { return h.err.Error() }

// connection returns what an adapter needs to call the model.
func (l *LLM) connection(auth *Auth) Connection {
	return Connection{
		Name: l.Name, Type: l.Type, Model: l.Model, URI: l.URI, Auth: auth, Headers: l.Headers, Idle: cmp.Or(l.Idle, DefaultIdle),
	}
}
