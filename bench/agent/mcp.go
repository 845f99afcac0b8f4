package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/bench/service"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/agent/tool/server"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/mcpclient"
	"quarry/internal/oauth"
	"quarry/internal/outbound"
)

// toolServer listens on this machine with a tool that answers with a kilobyte, at every path.
func toolServer() (at string, stop func(), err error) {
	own := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	own.AddTool(&mcp.Tool{Name: "echo", Description: "answers", InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("a kilobyte ", 93)}}}, nil
		})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	web := &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return own }, nil)}
	go func() { _ = web.Serve(listener) }() // until it is closed
	return "http://" + listener.Addr().String(), func() { _ = web.Close() }, nil
}

// one is a tool server whose settings never change.
type one server.Target

func (o one) Target(context.Context, id.ToolServer) (server.Target, error) {
	return server.Target(o), nil
}

// mcp compares calls of a tool of a server through the whole way of a call with calls by the library alone, in turns.
func (b *bench) mcp() error {
	at, stop, err := toolServer()
	if err != nil {
		return err
	}
	defer stop()
	ctx := context.Background()
	bare, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: at}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return err
	}
	defer func() { _ = bare.Close() }()
	way, stop, err := wholeWay(at)
	if err != nil {
		return err
	}
	defer stop()
	arguments := json.RawMessage(`{"q":"what is the weather"}`)
	var alone, whole []time.Duration
	for i := range 50 + b.rounds*5 {
		began := time.Now()
		if r, err := bare.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: arguments}); err != nil || r.IsError {
			return errors.Join(errors.New("the library's call failed"), err)
		}
		between := time.Now()
		if err := way(ctx, arguments); err != nil {
			return err
		}
		if i >= 50 { // the first ones warm up
			alone, whole = append(alone, between.Sub(began)), append(whole, time.Since(between))
		}
	}
	slices.Sort(alone)
	slices.Sort(whole)
	at50, at95 := len(alone)/2, len(alone)*95/100
	fmt.Printf("a call of a tool server, %d each: by the library alone p50 %v p95 %v, through the whole way p50 %v p95 %v: %.2f times (bar 1.5)\n",
		len(alone), alone[at50], alone[at95], whole[at50], whole[at95], float64(whole[at50])/float64(alone[at50]))
	return nil
}

// wholeWay returns what makes a call as a turn does: planned, resolved, checked, called and masked.
func wholeWay(at string) (call func(context.Context, json.RawMessage) error, stop func(), err error) {
	out := outbound.New(outbound.Config{AllowPrivate: true})
	client := mcpclient.New(mcpclient.Config{HTTP: out, Tokens: oauth.NewClient(out, nil)})
	caller := server.NewCaller(one{ID: "tsr_bench", Revision: 1, URI: at, Transport: server.Streamable}, client)
	listed := &catalog.Tool{ID: "tol_bench", Definition: catalog.Definition{Name: "echo", Remote: &catalog.Remote{Server: "tsr_bench", Name: "echo"}}}
	input, err := schema.New(json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`))
	if err != nil {
		return nil, nil, err
	}
	kit := tool.Kit{Log: slog.New(slog.DiscardHandler), Types: map[string]tool.Type{"mcp": func(json.RawMessage) (*tool.Tool, error) {
		return &tool.Tool{Name: "echo", Schema: input, Run: func(ctx context.Context, c tool.Call, tell tool.Activity) (json.RawMessage, error) {
			return caller.Call(ctx, listed, nil, c, tell)
		}}, nil
	}}}
	set, err := tool.Compile(map[string]json.RawMessage{"echo": json.RawMessage(`{"type":"mcp"}`)}, kit)
	if err != nil {
		return nil, nil, err
	}
	scene := tool.Scene{Scene: reference.Scene{Secrets: map[string]string{"key": "a-secret-value"}}}
	bound, _, err := set.Bind(scene, "")
	if err != nil {
		return nil, nil, err
	}
	call = func(ctx context.Context, arguments json.RawMessage) error {
		planned := bound.Plan([]llm.ToolCall{{ID: "c", Name: "echo", Arguments: arguments}}, nil, scene)
		if o := bound.Run(ctx, planned[0], scene); o.Failed {
			return fmt.Errorf("the call failed: %s", o.Output)
		}
		return nil
	}
	return call, func() { client.Stop(); out.CloseIdleConnections() }, nil
}

// servers measures what the program takes for tool servers that are registered and idle, each with an open session.
func (b *bench) servers() error {
	at, stop, err := toolServer()
	if err != nil {
		return err
	}
	defer stop()
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.StartWith(b.binary, dir, nil, "QUARRY_OUTBOUND_ALLOW=127.0.0.1")
	if err != nil {
		return err
	}
	defer p.Stop()
	before := p.Resident()
	for i := range b.registered {
		raw, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/tool_servers", map[string]any{
			"type": "mcp", "name": fmt.Sprint("s", i), "uri": fmt.Sprintf("%s/%d", at, i), "transport": server.Streamable,
		})
		if err != nil {
			return err
		}
		if err := synced(p, raw); err != nil {
			return err
		}
	}
	fmt.Printf("%d tool servers, each synced and its session open: %d MB resident more than the %d MB without (bar 50)\n",
		b.registered, (p.Resident()-before)>>20, before>>20)
	return nil
}

// synced waits until the first sync of a server has ended.
func synced(p *service.Process, made []byte) error {
	var s struct {
		ID      string `json:"id"`
		Status  string `json:"sync_status"`
		Message string `json:"sync_message"`
	}
	for range 1_000 {
		if err := json.Unmarshal(made, &s); err != nil {
			return err
		}
		switch s.Status {
		case "ok":
			return nil
		case "failed":
			return fmt.Errorf("the sync of a tool server: %s", s.Message)
		}
		time.Sleep(10 * time.Millisecond)
		var err error
		if made, err = p.Must(http.StatusOK, http.MethodGet, "/v2/tool_servers/"+s.ID, nil); err != nil {
			return err
		}
	}
	return errors.New("a tool server was never synced")
}
