// Package httpapi is the HTTP transport: the chain that every request passes, limits, JSON bodies, event streams and the
// one error writer. The handlers of each area live in its sub-packages and plug in as an Area. It holds no use case and
// knows no storage. Package app builds the Server.
package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"quarry/internal/agent/permit"
	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi/check"
	"quarry/internal/httpapi/route"
	"quarry/internal/httpapi/stream"
	"quarry/internal/identity/authz"
	"quarry/internal/origin"
	"quarry/internal/usage"
)

// Call is one request that the chain has let through.
type Call struct {
	Op        *api.Operation
	Principal authz.Principal
	RequestID string
	Address   string            // of the client: the other end of the connection, or what trusted proxies report
	Path      map[string]string // path parameters, decoded once
	Query     url.Values        // checked against the contract; booleans are spelled true and false
	Body      json.RawMessage   // the JSON body, checked against its schema; nil if there is none

	// Named is what a request names beside its path, for the audit, by the parameter that names it in paths. Handlers that
	// create something set it, and those that read their body themselves.
	Named map[string]string

	Found any // what the resolver of the last path parameter read, so that handlers need not read it again

	answer  http.Header     // of the answer
	unknown []check.Unknown // members of the body that the answer names, see unknown.go

	turns *usage.Gate                                    // see Turn; nil for no bound
	leave []func()                                       // releases what the request holds, see limit.go
	place func(context.Context) error                    // what Enter does, nil for nothing
	await func(context.Context) (back func(), err error) // exchanges the place for another, which back releases; nil without one
	again func(context.Context) error                    // takes the place again

	explain func(error) *fault.Fault // what clients see of an error, for streams
	slowest time.Duration            // how long a stream waits for its reader
}

// Stream is an answer of server-sent events.
type Stream = stream.Stream

// Stream returns the stream that answers a call. w is the ResponseWriter of its handler.
func (c *Call) Stream(w http.ResponseWriter) *Stream { return stream.New(w, c.explain, c.slowest) }

// Enter waits for the place of an expensive call whose body is a form. The handler calls it after it has read the form,
// so that a slow upload holds no place that queries need. For all other calls the chain has done so.
func (c *Call) Enter(ctx context.Context) error {
	if c.place == nil {
		return nil
	}
	return c.place(ctx)
}

// Await exchanges the place of an expensive call for one among the calls that wait for another service, such as a
// language model: they take no processor, so many more are allowed. It waits for that place.
func (c *Call) Await(ctx context.Context) error {
	if c.await == nil {
		return nil
	}
	_, err := c.await(ctx)
	if err == nil {
		c.await = nil
	}
	return err
}

// Outside runs f, which waits for another service, in a place as Await takes it, and returns once the call has the place of
// an expensive one again, before new calls of its credential. An error of f is returned at once; it has to end the request,
// which then holds no place. On its way back the call holds nothing while it waits, so calls can't wait for each other in a
// circle, however full both kinds of places are.
func (c *Call) Outside(ctx context.Context, f func(context.Context) error) error {
	if c.await == nil {
		return f(ctx)
	}
	back, err := c.await(ctx)
	if err != nil {
		return err
	}
	err = f(ctx)
	back()
	if err != nil {
		return err
	}
	return c.again(ctx)
}

// Handler answers one call. An error goes to the error writer, so a handler that has begun to write returns nil.
type Handler func(w http.ResponseWriter, r *http.Request, c *Call) error

// Area is the handlers of one part of the contract.
type Area interface {
	// Handlers maps operation ids to handlers.
	Handlers() map[string]Handler
}

// Resolver checks that what a path parameter names exists; it returns fault.KindNotFound if not.
type Resolver func(ctx context.Context, c *Call) error

// Pages are files for browsers, beside the operations of the contract: GET and HEAD of every path at Root and below it.
type Pages struct {
	Root  string
	Serve func(w http.ResponseWriter, r *http.Request) error
}

// Config is what a Server needs.
type Config struct {
	Authenticate func(ctx context.Context, c Credential) (authz.Principal, error)
	Areas        []Area
	Resolvers    map[string]Resolver // by path parameter name; run in path order, for built operations
	Log          *slog.Logger
	MaxJSON      int64       // bytes of a JSON body; setting max_json
	MaxUpload    int64       // bytes of an uploaded file; the upload handler enforces it
	MaxArtifact  int64       // bytes of a file of a session; who keeps files enforces it
	Ready        func() bool // whether queries are served
	Warm         func() bool // whether first queries need not wait for their indexes; nil for always
	// Audit records changes; nil records nothing. AuditContent: also those of documents and conversations.
	Audit        Auditor
	AuditContent bool
	// TrustedProxies are the addresses and networks whose X-Forwarded-For is believed.
	TrustedProxies origin.Proxies
	// Origins are the origins whose pages may call from a browser; the zero value allows none.
	Origins origin.Set
	// Limits bound what one caller takes.
	Limits Limits
	// Console serves the pages of the console; the zero value has none.
	Console Pages
	// SlowestReader is how long a client may take to read one event of a stream before it is cut off; 0 is half a minute.
	SlowestReader time.Duration
}

// Server answers HTTP requests. It is safe for concurrent use.
type Server struct {
	cfg      Config
	routes   route.Table
	handlers map[string]Handler
	schemas  *check.Schemas
}

// New builds the route table. An operation that lacks a fact which the chain needs, a handler for an unknown operation
// and two handlers for one operation are programming errors: they refuse the start.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, handlers: map[string]Handler{}}
	var err error
	if s.schemas, err = check.Contract(); err != nil {
		return nil, err
	}
	if err := checkFacts(api.Operations); err != nil {
		return nil, err
	}
	for i := range api.Operations {
		if err := s.routes.Add(&api.Operations[i]); err != nil {
			return nil, err
		}
	}
	for _, a := range append([]Area{ownArea{s}}, cfg.Areas...) {
		if err := s.plugIn(a); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Server) plugIn(a Area) error {
	for id, h := range a.Handlers() {
		switch {
		case api.OperationByID(id) == nil:
			return fmt.Errorf("handler for unknown operation %s", id)
		case s.handlers[id] != nil:
			return fmt.Errorf("two handlers for operation %s", id)
		}
		s.handlers[id] = h
	}
	return nil
}

// Built lists the ids of the operations that do not answer 501, in contract order.
func (s *Server) Built() []string {
	var out []string
	for _, op := range api.Operations {
		if s.handlers[op.ID] != nil {
			out = append(out, op.ID)
		}
	}
	return out
}

// ownArea is the operations that the server answers by itself.
type ownArea struct{ s *Server }

func (a ownArea) Handlers() map[string]Handler {
	return map[string]Handler{"health": a.health, "healthz": a.health, "readyz": a.readyz}
}

func (a ownArea) readyz(w http.ResponseWriter, r *http.Request, c *Call) error {
	if a.s.cfg.Warm != nil && !a.s.cfg.Warm() {
		return fault.Unavailable("not_ready", "indexes are being brought up; queries are served, and the first ones may wait; try again in a moment")
	}
	return a.health(w, r, c)
}

func (a ownArea) health(w http.ResponseWriter, _ *http.Request, _ *Call) error {
	if a.s.cfg.Ready != nil && !a.s.cfg.Ready() {
		return fault.Unavailable("not_ready", "queries are not served yet; try again in a moment")
	}
	return WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// WriteJSON answers with v as JSON. On an error v can't be encoded and nothing was written.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode response: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // an error means that the client is gone
	return nil
}

// NoContent answers 204, or returns err if there is one.
func NoContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// roles returns the rule of an operation as package authz reads it.
func roles(op *api.Operation) authz.Rule {
	return authz.Rule{
		APIRoles: op.APIRoles, CorpusRoles: op.CorpusRoles, AgentRoles: op.AgentRoles, PersonalKeys: op.PersonalKeys,
		Open: op.OpenTo != "", People: op.OpenTo == api.OpenToPeople,
	}
}

// Corpora returns on which corpora the caller holds a role that the operation lists; see authz.Corpora.
func (c *Call) Corpora() (all bool, keys []string) { return authz.Corpora(c.Principal, roles(c.Op)) }

// Rights returns what tools of agents may touch for the caller; see Rights.
func (c *Call) Rights() permit.Rights { return Rights(c.Principal) }

// Rights returns what tools of agents may touch for somebody: what they could do by operations of their own.
func Rights(p authz.Principal) (r permit.Rights) {
	r.All, r.Corpora = authz.Corpora(p, roles(api.OperationByID("queryCorpus")))
	r.EditAll, r.Edit = authz.Corpora(p, roles(api.OperationByID("createCorpusDocument")))
	r.UseAll, r.Use = authz.Agents(p, roles(api.OperationByID("createAgentInput")))
	return r
}

// Agents returns on which agents the caller holds a role that an operation lists; see authz.Agents.
func (c *Call) Agents(operation string) (all bool, keys []string) {
	return authz.Agents(c.Principal, roles(api.OperationByID(operation)))
}

// mayTry reports whether the caller may use the operation on what the path names. Where the body names the corpora
// instead, a listed role on any corpus lets the request in, and the handler decides on the corpora.
func mayTry(c *Call) bool {
	var t authz.Target
	key, named := c.Path["corpus_key"]
	if named {
		t.Corpora = []string{key}
	}
	t.Agent = c.Path["agent_key"]
	if named || t.Agent != "" {
		return authz.Allow(c.Principal, roles(c.Op), t)
	}
	return authz.AllowSome(c.Principal, roles(c.Op))
}
