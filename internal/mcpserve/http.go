package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/origin"
)

// Area is the operation that takes messages of the protocol over streamable HTTP. It keeps no sessions: every request stands by
// itself, so any node answers it.
type Area struct {
	whole, stream http.Handler // answers as JSON, and as events
	origins       origin.Set
	calls         calls
}

// Config is what an Area needs.
type Config struct {
	Handler func() http.Handler // the whole HTTP interface, which holds the area itself
	Origins origin.Set          // whose pages may call
	Log     *slog.Logger
}

// New returns the area.
func New(cfg Config) (*Area, error) {
	server, err := NewServer(inside{cfg.Handler}, cfg.Log)
	if err != nil {
		return nil, err
	}
	made := func(asJSON bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: asJSON, Logger: quiet(cfg.Log), PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, // a proxy on the same machine passes the name of the host on; see callMcp
			MaxRequestBodyBytes:        -1,   // the chain has read the body, up to max_json
		})
	}
	return &Area{whole: made(true), stream: made(false), origins: cfg.Origins, calls: calls{running: map[call]context.CancelCauseFunc{}}}, nil
}

// Handlers is that of httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"callMcp": a.callMcp}
}

// sessionHeader names what a client calls its conversation: requests of clients that began with initialize have it. It is the mark
// by which a cancellation finds its call, and nothing more.
const sessionHeader = "Mcp-Session-Id"

// message is the part of a message that decides how it is answered.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// callMcp answers one message. Pages of foreign origins are refused, whatever the name of the host says: a name that its owner lets
// point here (DNS rebinding) makes a page look like our own, and browsers send the origin of every page that posts.
func (a *Area) callMcp(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	if o := r.Header.Get("Origin"); o != "" && !a.origins.Allows(o) {
		return fault.Forbidden("pages of this origin may not call the service; the setting allowed_origins lists those that may")
	}
	var m message
	if err := httpapi.Decode(c.Body, &m); err != nil {
		return err
	}
	by := c.Principal.Credential + " " + string(c.Principal.Kind) + " " + c.Principal.ID
	at := call{by, r.Header.Get(sessionHeader), string(m.ID)}
	switch m.Method {
	case "initialize":
		w.Header().Set(sessionHeader, id.Text(32))
	case "notifications/cancelled":
		var gone struct {
			Request json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &gone) // what names no call ends none
		a.calls.cancel(call{by, at.session, string(gone.Request)})
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer a.calls.add(at, cancel)()
	read, gone := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer gone(nil)
	defer context.AfterFunc(r.Context(), func() {
		if cause := context.Cause(r.Context()); !stopping(cause) { // a service that stops still writes its answers
			gone(cause)
		}
	})()
	answers, asEvents := a.whole, m.Method == "tools/call" && takesEvents(r)
	if asEvents {
		answers = a.stream
	}
	req := r.Clone(context.WithValue(read, carried{}, &carrier{ctx, r}))
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(c.Body)), int64(len(c.Body))
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	out := newAnswer(w, asEvents)
	answers.ServeHTTP(out, req)
	return out.end()
}

// stopping reports whether a request ends because the service stops, and not because its client has gone.
func stopping(cause error) bool {
	_, expected := fault.As(cause)
	return expected
}

// takesEvents reports whether a client reads streams of events. One that doesn't gets its answer whole, without progress.
func takesEvents(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return accept == "" || strings.Contains(accept, "text/event-stream") || strings.Contains(accept, "text/*") || strings.Contains(accept, "*/*")
}

// tied ends a call of a tool with what carries it, or when the client cancels it over HTTP by a request of its own, as it does in
// versions of the protocol before 2026-07-28.
func tied(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if c := carrierOf(ctx); c != nil {
			tied, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(c.until, func() { cancel(context.Cause(c.until)) })()
			ctx = tied
		}
		return next(ctx, method, req)
	}
}

// call is a request of a client that runs: who calls, in which conversation, and the id that the client gave it.
type call struct{ by, session, id string }

// calls are those that clients may cancel. Their number is that of the requests in flight.
type calls struct {
	mu      sync.Mutex
	running map[call]context.CancelCauseFunc
}

// add notes a call until the returned function is called. One without a mark or an id can't be named, so it isn't noted, and the
// first of two alike counts.
func (c *calls) add(at call, cancel context.CancelCauseFunc) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.running[at]; taken || at.session == "" || at.id == "" {
		return func() {}
	}
	c.running[at] = cancel
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, at)
	}
}

// cancel ends a call, if it runs here.
func (c *calls) cancel(at call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[at]; cancel != nil {
		cancel(context.Canceled)
	}
}
