package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// exchange is a request under way and what came of it.
type exchange struct {
	end context.CancelCauseFunc // of the request

	mu     sync.Mutex
	id     jsonrpc.ID      // guarded by mu, like all below
	method string          // "" while it has not been sent
	raw    json.RawMessage // its result
	failed error           // why there is none
	stream bool            // the answer is a stream that has not been closed
	late   *time.Timer     // ends the stream when whoever asked has the result; nil before
}

type exchangeKey struct{}

// within returns a context that belongs to the exchange; a nil one belongs to none.
func (x *exchange) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf returns the exchange of a context, nil for none.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// fail notes why there will be no result. The first reason counts.
func (x *exchange) fail(err error) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed == nil && x.raw == nil {
		x.failed = err
	}
}

// abort ends the exchange with what it has failed by.
func (x *exchange) abort() {
	if x != nil {
		x.end(x.failure())
	}
}

// opened notes that the answer is a stream, closed that it has come to its end.
func (x *exchange) opened() {
	if x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.stream = true
	}
}

func (x *exchange) closed() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stream = false
	if x.late != nil && x.late.Stop() {
		x.end(nil)
	}
}

// drainTime is how long a server may take to end a stream whose result has come.
const drainTime = time.Second

// drain ends an exchange that has its result, once its stream has come to its end.
func (x *exchange) drain() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.stream {
		x.end(nil)
		return
	}
	x.late = time.AfterFunc(drainTime, func() { x.end(nil) })
}

func (x *exchange) failure() error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failed
}

func (x *exchange) result() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw
}

func (x *exchange) sent(r *jsonrpc.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.id, x.method = r.ID, r.Method
}

// request returns the id of what was sent and its method.
func (x *exchange) request() (jsonrpc.ID, string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.id, x.method
}

// tapped is a transport whose messages go through a wire.
type tapped struct {
	mcp.Transport
	wire *wire
}

// Connect connects the wire.
func (t tapped) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.wire.Connection = inner
	return t.wire, nil
}

// wire is a connection that keeps results as the server wrote them: the library would decode numbers as floats, and everything
// twice. It gets results without content in their place.
type wire struct {
	mcp.Connection
	door     *door
	progress *sync.Map // func(string) of calls, by their tokens

	mu      sync.Mutex
	waiting map[jsonrpc.ID]*exchange // guarded by mu
	owed    int                      // requests that were stopped, of which the server has not heard; guarded by mu
}

// empty are the results that the library gets, by their methods.
var empty = map[string]json.RawMessage{"tools/list": json.RawMessage(`{"tools":[]}`), "tools/call": json.RawMessage(`{"content":[]}`)}

// Write sends a message. What is no request belongs to no exchange: its failure is nobody's.
func (w *wire) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Request)
	x := exchangeOf(ctx)
	if !ok || !r.IsCall() || x == nil {
		err := w.Connection.Write((*exchange)(nil).within(ctx), m)
		if ok && r.Method == "notifications/cancelled" {
			w.mu.Lock()
			w.owed--
			w.mu.Unlock()
		}
		return err
	}
	x.sent(r)
	w.mu.Lock()
	w.waiting[r.ID] = x
	w.mu.Unlock()
	return w.Connection.Write(ctx, m)
}

// Read returns the next message. Notifications end here, in the order in which they come: the library would keep any number of
// them, and pass them on when their call has ended.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := w.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			return w.answered(m), nil
		case *jsonrpc.Request:
			if m.IsCall() || m.Method == "notifications/cancelled" {
				return m, nil
			}
			if m.Method == "notifications/progress" {
				w.told(m.Params)
			}
		}
	}
}

// told passes on what a server tells of a call that is running.
func (w *wire) told(params json.RawMessage) {
	var p struct {
		Token    any      `json:"progressToken"`
		Progress float64  `json:"progress"`
		Total    *float64 `json:"total"`
		Message  string   `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	token, _ := p.Token.(string) // ours are texts
	to, ok := w.progress.Load(token)
	if !ok {
		return
	}
	text := line(string(w.door.clean([]byte(p.Message))))
	switch {
	case text != "":
	case p.Total != nil:
		text = fmt.Sprintf("%v of %v", p.Progress, *p.Total)
	default:
		text = fmt.Sprint(p.Progress)
	}
	to.(func(string))(text)
}

// answered takes the result out of an answer.
func (w *wire) answered(r *jsonrpc.Response) *jsonrpc.Response {
	w.mu.Lock()
	x := w.waiting[r.ID]
	delete(w.waiting, r.ID)
	w.mu.Unlock()
	if x == nil || r.Error != nil {
		return r
	}
	_, method := x.request()
	if method == "initialize" {
		w.door.negotiate(r.Result)
	}
	stub, ok := empty[method]
	if !ok {
		return r
	}
	x.mu.Lock()
	x.raw = r.Result
	x.mu.Unlock()
	return &jsonrpc.Response{ID: r.ID, Result: stub, Extra: r.Extra}
}

// settle waits a moment until the server has heard of the requests that were stopped.
func (w *wire) settle() {
	for range 100 {
		w.mu.Lock()
		owed := w.owed
		w.mu.Unlock()
		if owed <= 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// forget ends the wait for the result of an exchange, which was stopped or has its result. The library tells the server when it
// was stopped.
func (w *wire) forget(x *exchange, stopped bool) {
	which, method := x.request()
	if method == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[which] == x {
		delete(w.waiting, which)
	}
	if stopped {
		w.owed++
	}
}
