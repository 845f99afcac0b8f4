package server

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"time"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Config is what a Service needs.
type Config struct {
	Store  Store
	Client Client
	// Reserved reports whether a name belongs to a tool that comes with the program.
	Reserved func(name string) bool
	Log      *slog.Logger
	// Alone reports that no other process uses the database, so syncs under way at the start belong to one that died.
	Alone bool
}

// Service keeps tool servers and their tools. Run does what happens in the background. Safe for concurrent use.
type Service struct {
	cfg   Config
	woken chan struct{} // a sync may be due
	made  time.Time
}

// New returns a service.
func New(c Config) *Service {
	return &Service{cfg: c, woken: make(chan struct{}, 1), made: clock.Now()}
}

// Create registers a server, whose first sync begins in the background.
func (s *Service) Create(ctx context.Context, c Change) (Server, error) {
	d, sealed, err := c.apply(Definition{Transport: SSE, Enabled: true}, Secrets{})
	if err != nil {
		return Server{}, err
	}
	now := clock.Now()
	made := Server{ID: id.NewToolServer(), Revision: 1, Definition: d, Sync: Sync{Status: Never}, Created: now, Updated: now}
	made, err = s.cfg.Store.Create(ctx, made, sealed, d.Enabled)
	if errors.Is(err, ErrTaken) {
		return Server{}, taken(d.Name)
	}
	s.wake()
	return made, err
}

// Get returns a server.
func (s *Service) Get(ctx context.Context, which id.ToolServer) (Server, error) {
	return s.cfg.Store.Get(ctx, which)
}

// List selects servers, newest first.
type List struct {
	Type    string         // "" for any
	Enabled *bool          // nil: enabled or not
	After   *page.Position // the last one shown, nil for the first page
	Limit   int
	Match   func(*Server) bool // nil: every one
}

// List returns a page of servers and where the next page begins, nil on the last one.
func (s *Service) List(ctx context.Context, l List) (found []Server, next *page.Position, err error) {
	if l.Type != "" && l.Type != Type {
		return nil, nil, fault.InvalidField("type", "must be %s, not %q", Type, l.Type)
	}
	match := func(v *Server) bool {
		return (l.Enabled == nil || *l.Enabled == v.Enabled) && (l.Match == nil || l.Match(v))
	}
	found, more, err := s.cfg.Store.List(ctx, l.After, l.Limit, match)
	if more && len(found) > 0 {
		next = found[len(found)-1].Position()
	}
	return found, next, err
}

// Update changes a server and returns it. Changes at once follow one another, each on what the one before it has left. A
// server that is enabled for the first time is synced in the background.
func (s *Service) Update(ctx context.Context, v Server, c Change) (Server, error) {
	for no := v.No; ; {
		next, err := s.update(ctx, v, &c)
		switch {
		case errors.Is(err, ErrTaken):
			return Server{}, taken(c.Name.Or(v.Name))
		case !errors.Is(err, ErrChanged):
			return next, err
		}
		if v, err = s.cfg.Store.Get(ctx, v.ID); err != nil {
			return Server{}, err
		}
		if v.No != no {
			return Server{}, Missing(v.ID)
		}
	}
}

func (s *Service) update(ctx context.Context, v Server, c *Change) (Server, error) {
	var sealed Secrets
	var write *Secrets
	var err error
	if c.reseals() {
		if sealed, err = s.cfg.Store.Secrets(ctx, v.ID); err != nil {
			return Server{}, err
		}
		write = &sealed
	}
	if v.Definition, sealed, err = c.apply(v.Definition, sealed); err != nil {
		return Server{}, err
	}
	v.Updated = clock.Now()
	next, err := s.cfg.Store.Replace(ctx, v, write, v.Enabled && v.Sync.Status == Never)
	if err != nil {
		return Server{}, err
	}
	s.wake()
	if !next.Enabled {
		s.cfg.Client.Close(v.ID)
	}
	return next, nil
}

// Delete removes a server with its tools, unless an agent has one of them.
func (s *Service) Delete(ctx context.Context, v Server) error {
	err := s.cfg.Store.Delete(ctx, v)
	if used, ok := errors.AsType[*catalog.InUseError](err); ok {
		return fault.Conflict("tool_server_in_use", "tools of the server are being used in different configurations: %s name tools of %s (%s); remove them there first", used, v.ID, v.Name)
	}
	if err == nil {
		s.cfg.Client.Close(v.ID)
	}
	return err
}

// Target returns a server as it is called. See Servers.
func (s *Service) Target(ctx context.Context, which id.ToolServer) (Target, error) {
	v, err := s.cfg.Store.Get(ctx, which)
	if err != nil {
		return Target{}, err
	}
	if !v.Enabled {
		return Target{}, fault.Conflict("tool_server_disabled", "the tool server %s (%s) is disabled", v.ID, v.Name)
	}
	t, _, err := s.target(ctx, &v)
	return t, err
}

// target returns where a server is, and the secrets that it is called with. The row was read before them: with secrets of a
// later revision the next call connects anew.
func (s *Service) target(ctx context.Context, v *Server) (Target, Secrets, error) {
	sealed, err := s.cfg.Store.Secrets(ctx, v.ID)
	if err != nil {
		return Target{}, sealed, err
	}
	t := Target{ID: v.ID, Revision: v.Revision, URI: v.URI, Transport: v.Transport, Headers: maps.Clone(v.Headers), Auth: sealed.Auth}
	for name := range t.Headers {
		if value, ok := sealed.Headers[name]; ok {
			t.Headers[name] = value
		}
		if a := t.Auth; a != nil && strings.EqualFold(name, opt.Deref(opt.NonZero(a.Header), "Authorization")) {
			delete(t.Headers, name) // auth counts
		}
	}
	return t, sealed, nil
}
