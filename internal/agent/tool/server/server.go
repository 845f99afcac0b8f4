package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Type is the only type of tool servers.
const Type = "mcp"

// Mask takes the place of a secret in what is shown.
const Mask = "****"

// Server is a tool server as people have registered it.
type Server struct {
	No       int64 // the store's row number
	ID       id.ToolServer
	Revision int64 // raised by every change, from 1
	Definition
	Sync    Sync
	Created time.Time // microseconds, UTC, like Updated
	Updated time.Time
}

// Position returns the place of s in a list by age.
func (s *Server) Position() *page.Position { return page.At(s.Created, string(s.ID)) }

// Definition is what people write. The JSON names are those of the store.
type Definition struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	URI         string            `json:"uri"`
	Transport   string            `json:"transport"`
	Headers     map[string]string `json:"headers,omitempty"` // those that carry credentials have Mask as their value
	Enabled     bool              `json:"enabled"`
	Metadata    json.RawMessage   `json:"metadata,omitempty"` // an object; nil for none
}

// Secrets are what of a server is sealed.
type Secrets struct {
	Auth    *Auth             `json:"auth,omitempty"`    // nil for none
	Headers map[string]string `json:"headers,omitempty"` // those that carry credentials
}

// values returns the secrets themselves.
func (s *Secrets) values() (out []string) {
	for _, v := range s.Headers {
		out = append(out, v)
	}
	if a := s.Auth; a != nil {
		out = append(out, a.Token, a.Value, a.ClientSecret)
	}
	return out
}

// Status is how the last sync of a server has gone.
type Status string

// The states of a sync.
const (
	Never   Status = "never"
	Running Status = "running"
	OK      Status = "ok"
	Failed  Status = "failed"
)

// Sync is the last sync of a server.
type Sync struct {
	Status  Status
	Message string    // for people
	At      time.Time // of the last one that was OK; zero for none
}

// Lease is the right of one node to sync a server until an instant. Holder is another text for each claim.
type Lease struct {
	Server id.ToolServer
	Holder string
	Until  time.Time
}

// Claim is a sync that has begun.
type Claim struct {
	Server   Server
	Attempts int // how often it has begun without an end, this time included
}

// Added is a tool that a server has and the catalogue hasn't.
type Added struct {
	Tool  catalog.Tool
	Names []string // of which it takes the first that no tool has
}

// Changes bring the catalogue in step with a server.
type Changes struct {
	Added   []Added
	Changed []catalog.Tool
	Message string // how the sync went, for people
}

// The errors of a Store.
var (
	ErrTaken   = errors.New("the name is taken")
	ErrChanged = errors.New("the tool server was changed meanwhile")
	ErrSyncing = errors.New("a sync is in progress")
	ErrNames   = errors.New("every name is taken")
	ErrLost    = errors.New("the sync was taken over") // by a node that found the lease run out, or by a deletion
)

// Store keeps tool servers. One that does not exist is Missing. Instants are those of the caller's clock, as in job.Store.
type Store interface {
	// Create writes a server and its secrets and returns it with No set. due is whether it waits for a sync.
	Create(ctx context.Context, s Server, sealed Secrets, due bool) (Server, error)
	Get(ctx context.Context, which id.ToolServer) (Server, error)
	// Secrets returns the secrets of a server, none if it has none.
	Secrets(ctx context.Context, which id.ToolServer) (Secrets, error)
	// List returns up to limit servers that match, newest first, behind a place, and whether more follow.
	List(ctx context.Context, after *page.Position, limit int, match func(*Server) bool) (found []Server, more bool, err error)
	// Replace writes s as the next revision of itself, with its secrets unless sealed is nil, and returns it so. ErrChanged if
	// s.Revision is not the present one any more. With due it waits for a sync.
	Replace(ctx context.Context, s Server, sealed *Secrets, due bool) (Server, error)
	// Delete removes a server with its tools. A *catalog.InUseError if agents have one of them.
	Delete(ctx context.Context, s Server) error

	// Claim begins a sync; ErrSyncing if one is in progress or, with due, none is waited for. Until it ends, the server waits for
	// one: if its lease runs out, it is due again.
	Claim(ctx context.Context, now time.Time, l Lease, due bool) (Claim, error)
	// Due returns some of the servers that wait for a sync.
	Due(ctx context.Context, now time.Time) ([]id.ToolServer, error)
	// Finish ends a sync of the revision: in one transaction it hands the tools of the server to plan and writes what that returns.
	// ErrChanged if the server has another revision by now, ErrNames if a tool can't be named; the sync goes on then.
	Finish(ctx context.Context, l Lease, revision int64, now time.Time, plan func([]catalog.Tool) Changes) error
	// Fail ends a sync that has failed.
	Fail(ctx context.Context, l Lease, message string) error
	// Release ends a lease; the sync is due.
	Release(ctx context.Context, l Lease) error
	// Free ends the leases that would end before an instant. A process that is alone with its database frees those that one before
	// it has left: they end before any that it could take itself.
	Free(ctx context.Context, before time.Time) error
}

// Missing returns the fault of a server that does not exist.
func Missing(which id.ToolServer) error {
	return fault.NotFound("tool_server_not_found", string(which), "tool server %s does not exist", which)
}

// taken returns the fault of a name that another server has.
func taken(name string) error {
	return fault.Conflict("tool_server_exists", "there is a tool server named %q; choose another name", name)
}

// Change is what a client writes to a server; what is absent stays, or has its default in a new one.
type Change struct {
	Name, Description, URI, Transport opt.Field[string]
	Headers                           opt.Field[map[string]string] // replaces all; null removes them
	Auth                              opt.Field[Auth]              // null removes it
	Enabled                           opt.Field[bool]
	Metadata                          opt.Field[json.RawMessage] // null removes it
}

// reseals reports whether the change touches secrets.
func (c *Change) reseals() bool { return !c.Headers.IsAbsent() || !c.Auth.IsAbsent() }

// apply returns a server and its secrets with the change, checked.
func (c *Change) apply(d Definition, s Secrets) (Definition, Secrets, error) {
	bad := fault.Invalid()
	d.Name, d.Description, d.URI, d.Transport = c.Name.Or(d.Name), c.Description.Or(d.Description), c.URI.Or(d.URI), c.Transport.Or(d.Transport)
	d.Enabled = c.Enabled.Or(d.Enabled)
	if d.Metadata = c.Metadata.Or(d.Metadata); c.Metadata.IsNull() {
		d.Metadata = nil
	}
	if !c.Headers.IsAbsent() {
		given := c.Headers.Or(nil)
		checkHeaders(given, bad)
		d.Headers, s.Headers = divide(given)
	}
	if !c.Auth.IsAbsent() {
		s.Auth = nil
	}
	if a, ok := c.Auth.Get(); ok {
		s.Auth = a.checked(bad)
	}
	d.check(bad)
	return d, s, bad.Err()
}
