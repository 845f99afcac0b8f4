// Package mcpclient speaks with tool servers by the Model Context Protocol, over streamable HTTP or over HTTP with server-sent
// events. The library modelcontextprotocol/go-sdk has the protocol; this package has what surrounds it: sessions kept per server, credentials,
// bounds, and failures in words for people. Results and lists are read here, with their numbers as the server wrote them.
package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/agent/tool/server"
	"quarry/internal/id"
	"quarry/internal/oauth"
	"quarry/internal/outbound"
)

// Config is what a client is made of.
type Config struct {
	HTTP    *http.Client // makes every call; one of package outbound
	Tokens  *oauth.Client
	Version string        // of this program, which servers are told
	Idle    time.Duration // how long a session without a call is kept; 0 = 5 minutes
	Connect time.Duration // how long a session takes to open at most; 0 = 30 seconds
}

const (
	idleTime    = 5 * time.Minute
	connectTime = 30 * time.Second
	// protocol is the version of the protocol that servers are asked for; older ones are taken.
	protocol = "2025-11-25"
)

// Client is the server.Client over HTTP. It is safe for concurrent use.
type Client struct {
	cfg Config
	mcp *mcp.Client

	mu       sync.Mutex
	sessions map[id.ToolServer]*session // guarded by mu
	stopped  bool                       // guarded by mu
	ends     sync.WaitGroup             // sessions that open or close

	calls    atomic.Int64
	progress sync.Map // func(string) of calls, by their tokens
}

var _ server.Client = (*Client)(nil)

// New returns a client without sessions.
func New(cfg Config) *Client {
	if cfg.Idle == 0 {
		cfg.Idle = idleTime
	}
	if cfg.Connect == 0 {
		cfg.Connect = connectTime
	}
	cfg.HTTP = outbound.Home(cfg.HTTP)
	c := &Client{cfg: cfg, sessions: map[id.ToolServer]*session{}}
	c.mcp = mcp.NewClient(&mcp.Implementation{Name: "quarry", Version: cmp.Or(cfg.Version, "dev")}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	c.mcp.AddReceivingMiddleware(refuse)
	return c
}

// refuse answers what servers may not ask of us: to use a model, to ask a person, to name folders.
func refuse(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch method {
		case "sampling/createMessage", "elicitation/create", "roots/list":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client does not offer " + method}
		}
		return next(ctx, method, r)
	}
}

// maxMessage bounds what is shown of a server's message, in characters.
const maxMessage = 1_000

// Call runs a tool. See server.Client.
func (c *Client) Call(ctx context.Context, t server.Target, name string, arguments json.RawMessage, progress func(string)) (out server.Result, err error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	if progress != nil {
		token := fmt.Sprint("call-", c.calls.Add(1))
		params.SetProgressToken(token)
		c.progress.Store(token, progress)
		defer c.progress.Delete(token)
	}
	err = c.with(ctx, t, func(s *session) error {
		if progress != nil {
			c.listen(ctx, s)
		}
		raw, err := s.exchange(ctx, func(ctx context.Context) error {
			_, err := s.live.CallTool(ctx, params)
			return err
		})
		if err == nil {
			out, err = readResult(raw)
		}
		return err
	})
	return out, err
}

// maxPages bounds the pages of a list.
const maxPages = 1_000

// List returns the tools of a server. See server.Client.
func (c *Client) List(ctx context.Context, t server.Target) (all []server.Listed, err error) {
	err = c.with(ctx, t, func(s *session) error {
		all = nil
		params := &mcp.ListToolsParams{}
		for range maxPages {
			raw, err := s.exchange(ctx, func(ctx context.Context) error {
				_, err := s.live.ListTools(ctx, params)
				return err
			})
			if err != nil {
				return err
			}
			next, err := readList(raw, &all)
			if err != nil || next == "" || len(all) > server.MaxTools {
				return err
			}
			if next == params.Cursor {
				break
			}
			params.Cursor = next
		}
		return broken("the list of its tools has no end")
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// with calls f with the session of a server, and once more with another one if the server doesn't know the first any more.
func (c *Client) with(ctx context.Context, t server.Target, f func(*session) error) error {
	for again := false; ; again = true {
		s, fresh, err := c.take(ctx, t)
		if err != nil {
			return err
		}
		err = f(s)
		var failed *failure
		told := errors.As(err, &failed)
		c.give(s, told && (failed.gone || failed.over))
		if !told || !failed.gone || fresh || again {
			return err
		}
	}
}
