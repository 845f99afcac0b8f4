package mcpclient

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"quarry/internal/agent/tool/server"
	"quarry/internal/sse"
)

// ear is the stream of what a server tells beside the answers to calls, over streamable HTTP. Some servers send the progress of
// calls there.
type ear struct {
	mu   sync.Mutex
	open bool // or about to be; guarded by mu
	none bool // the server has no such stream, or none that lasts; guarded by mu
}

const (
	// listenTime is how long a call waits for the stream before it is made without.
	listenTime = 250 * time.Millisecond
	// lasting is how long a stream is open at least for another one to be worth it.
	lasting = 5 * time.Second
)

// listen opens the stream of a session unless it is open, or the server has none. The session ends it.
func (c *Client) listen(ctx context.Context, s *session) {
	if s.target.Transport != server.Streamable || !s.ear.begin() {
		return
	}
	opened := make(chan struct{})
	c.ends.Go(func() {
		since := time.Now()
		lasted := s.hear(sync.OnceFunc(func() { close(opened) }))
		s.ear.end(lasted && time.Since(since) >= lasting)
	})
	late := time.NewTimer(listenTime)
	defer late.Stop()
	select {
	case <-opened:
	case <-late.C:
	case <-ctx.Done():
	}
}

func (e *ear) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open || e.none {
		return false
	}
	e.open = true
	return true
}

func (e *ear) end(again bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open, e.none = false, !again
}

// hear reads the stream until it ends, and reports whether there was one. It calls opened when it is known.
func (s *session) hear(opened func()) bool {
	defer opened()
	r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, s.target.URI, nil)
	if err != nil {
		return false
	}
	r.Header.Set("Accept", "text/event-stream")
	if which := s.wire.SessionID(); which != "" {
		r.Header.Set("Mcp-Session-Id", which)
	}
	resp, err := s.outer.Do(r)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	opened()
	in := sse.NewReader(resp.Body, sse.Limits{Line: maxAnswer, Event: maxAnswer})
	for {
		e, err := in.Next()
		if err != nil {
			return true
		}
		m, err := jsonrpc.DecodeMessage(e.Data)
		if r, ok := m.(*jsonrpc.Request); err == nil && ok && (e.Name == "" || e.Name == "message") {
			s.wire.heard(s.ctx, r)
		}
	}
}

// heard takes what a server says beside the answers to calls: the progress of a call, or a request, which is refused.
func (w *wire) heard(ctx context.Context, r *jsonrpc.Request) {
	switch {
	case r.Method == "notifications/progress":
		w.told(r.Params)
	case r.IsCall():
		reply := &jsonrpc.Response{ID: r.ID, Result: []byte("{}")}
		if r.Method != "ping" {
			reply = &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client does not offer " + line(r.Method)}}
		}
		_ = w.Write(ctx, reply) // if it doesn't arrive, the server asks again or gives up
	}
}
