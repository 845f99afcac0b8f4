package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/agent/tool/server"
	"quarry/internal/id"
)

// session is a session with a server. It is in Client.sessions until it is over, and closes when its last call has ended.
type session struct {
	target server.Target
	door   *door
	wire   *wire
	ctx    context.Context // of its connections
	cancel context.CancelCauseFunc
	halted context.Context // of its calls
	halt   context.CancelCauseFunc
	opened chan struct{} // closed when live or failed is set
	live   *mcp.ClientSession
	failed error
	outer  *http.Client // whose calls go through the door
	ear    ear

	// guarded by mu of the client
	calls   int
	over    bool // it takes no further calls
	closing bool
	idle    *time.Timer
}

// The errors of sessions that end while a call runs.
var (
	errStopped = errors.New("the service is stopping")
	errLate    = errors.New("the tool server has not answered in time")
	errClosed  = errors.New("the session was closed")
)

// take returns the open session of a server, and whether it was opened for this call. give takes it back.
func (c *Client) take(ctx context.Context, t server.Target) (s *session, fresh bool, err error) {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return nil, false, errStopped
	}
	s = c.sessions[t.ID]
	if s != nil && s.target.Revision < t.Revision {
		c.end(s)
		s = nil
	}
	if s == nil {
		s, fresh = c.open(t), true
	}
	s.calls++
	c.ends.Add(1)
	if s.idle != nil {
		s.idle.Stop()
	}
	c.mu.Unlock()
	select {
	case <-s.opened:
		err = s.failed
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.halted.Done():
		err = context.Cause(s.halted)
	}
	if err != nil {
		c.give(s, false)
		return nil, false, err
	}
	return s, fresh, nil
}

// give ends a call of a session, which is over if over says so.
func (c *Client) give(s *session, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.ends.Done()
	s.calls--
	switch {
	case over || s.over:
		c.end(s)
	case s.calls > 0:
	case s.idle == nil:
		s.idle = time.AfterFunc(c.cfg.Idle, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if s.calls == 0 {
				c.end(s)
			}
		})
	default:
		s.idle.Reset(c.cfg.Idle)
	}
}

// end lets a session take no further calls, and closes it if none is left. The caller holds c.mu.
func (c *Client) end(s *session) {
	s.over = true
	if c.sessions[s.target.ID] == s {
		delete(c.sessions, s.target.ID)
	}
	if s.calls > 0 || s.closing {
		return
	}
	s.closing = true
	if s.idle != nil {
		s.idle.Stop()
	}
	c.ends.Go(s.close)
}

// Close ends the session with a server, when the calls that run on it have ended.
func (c *Client) Close(which id.ToolServer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[which]; s != nil {
		c.end(s)
	}
}

// Stop ends all calls and sessions, and returns when nothing runs any more. The client can't be used any more.
func (c *Client) Stop() {
	c.mu.Lock()
	c.stopped = true
	for _, s := range c.sessions {
		s.halt(errStopped)
		c.end(s)
	}
	c.mu.Unlock()
	c.ends.Wait()
}

// open begins to open a session. The caller holds c.mu.
func (c *Client) open(t server.Target) *session {
	s := &session{target: t, opened: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.halted, s.halt = context.WithCancelCause(context.Background())
	c.sessions[t.ID] = s
	c.ends.Go(func() {
		over := func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.end(s)
		}
		if s.failed = c.connect(s); s.failed != nil {
			over() // before anybody hears of it, and calls again
			close(s.opened)
			return
		}
		close(s.opened)
		_ = s.live.Wait()
		over()
	})
	return s
}

// connect opens a session.
func (c *Client) connect(s *session) (err error) {
	if s.door, err = newDoor(c.cfg, s.target); err != nil {
		return err
	}
	s.outer = &http.Client{Transport: s.door, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var over mcp.Transport = &mcp.SSEClientTransport{Endpoint: s.target.URI, HTTPClient: s.outer, MaxEventSize: maxEvent}
	if s.target.Transport == server.Streamable {
		over = &mcp.StreamableClientTransport{Endpoint: s.target.URI, HTTPClient: s.outer, MaxEventSize: maxEvent, MaxRetries: 3, DisableStandaloneSSE: true}
	}
	s.wire = &wire{door: s.door, progress: &c.progress, waiting: map[jsonrpc.ID]*exchange{}}
	late := time.AfterFunc(c.cfg.Connect, func() { s.cancel(errLate) })
	defer late.Stop()
	x := &exchange{end: s.cancel}
	s.live, err = c.mcp.Connect(x.within(s.ctx), tapped{over, s.wire}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		s.cancel(errClosed)
		return s.outcome(x, err)
	}
	return nil
}

// closeTime is how long the end of a session may take.
const closeTime = 5 * time.Second

// close ends a session that has no calls.
func (s *session) close() {
	defer s.cancel(errClosed)
	defer s.halt(errClosed)
	select {
	case <-s.opened:
	default:
		s.cancel(errClosed)
		<-s.opened
	}
	if s.live == nil {
		return
	}
	late := time.AfterFunc(closeTime, func() { s.cancel(errClosed) })
	defer late.Stop()
	s.wire.settle()
	_ = s.live.Close() // it is over, whatever the server says
}

// exchange sends a request and returns the result as the server wrote it.
func (s *session) exchange(parent context.Context, send func(context.Context) error) (json.RawMessage, error) {
	// The request goes on for a moment when the result is there: cut off, it would take its connection with it.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	for _, over := range []context.Context{parent, s.halted} {
		defer context.AfterFunc(over, func() { cancel(context.Cause(over)) })()
	}
	x := &exchange{end: cancel}
	err := send(x.within(ctx))
	s.wire.forget(x, err != nil && ctx.Err() != nil)
	if err == nil {
		x.drain()
		return s.door.clean(x.result()), nil
	}
	defer cancel(nil)
	if x.failure() == nil && parent.Err() != nil {
		return nil, context.Cause(parent)
	}
	return nil, s.outcome(x, err)
}

// outcome returns what is said of a request that has failed.
func (s *session) outcome(x *exchange, err error) error {
	var refused *jsonrpc.Error
	switch failed := x.failure(); {
	case failed != nil:
		return failed
	case errors.As(err, &refused):
		return s.door.refusal(refused)
	case errors.Is(context.Cause(s.halted), errStopped):
		return errStopped
	case errors.Is(context.Cause(s.ctx), errLate):
		return unavailable("it has not answered within %s", s.door.cfg.Connect)
	}
	if s.door.large.Load() {
		return &failure{text: errTooLarge.text, over: true}
	}
	return errBroke
}
