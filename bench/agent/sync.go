package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/bench/service"
	"quarry/internal/agent/tool/server"
)

// toolbox listens on this machine with n tools, each with about a kilobyte of schema. Descriptions have the path in them, so at another
// path all tools are others.
func toolbox(n int) (at string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	made := func(r *http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
		input := json.RawMessage(`{"type":"object","properties":{"q":{"type":"string","description":"` + strings.Repeat("what is asked ", 60) + `"},
			"n":{"type":"integer","minimum":1},"of":{"type":"array","items":{"enum":["a","b"]}}},"required":["q"]}`)
		for i := range n {
			s.AddTool(&mcp.Tool{Name: fmt.Sprint("tool.", i), Description: fmt.Sprintf("Tool %d of %s.", i, r.URL.Path), InputSchema: input},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{}, nil
				})
		}
		return s
	}
	web := &http.Server{Handler: mcp.NewStreamableHTTPHandler(made, nil)}
	go func() { _ = web.Serve(listener) }() // until it is closed
	return "http://" + listener.Addr().String(), func() { _ = web.Close() }, nil
}

// sync measures how long it takes until the catalogue has the tools of a server: all of them new, none changed, all changed.
func (b *bench) sync() error {
	const n = server.MaxTools
	at, stop, err := toolbox(n)
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
	raw, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/tool_servers", map[string]any{
		"type": "mcp", "name": "toolbox", "uri": at + "/a", "transport": server.Streamable, "enabled": false,
	})
	if err != nil {
		return err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		return err
	}
	var took []time.Duration
	for _, path := range []string{"/a", "/a", "/b"} {
		if _, err := p.Must(http.StatusOK, http.MethodPatch, "/v2/tool_servers/"+made.ID, map[string]any{"uri": at + path}); err != nil {
			return err
		}
		began := time.Now()
		if _, err := p.Must(http.StatusNoContent, http.MethodPost, "/v2/tool_servers/"+made.ID+"/sync", nil); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	fmt.Printf("a sync of %d tools: all of them new %v, none changed %v, all changed %v (bar 3 s)\n",
		n, took[0].Round(time.Millisecond), took[1].Round(time.Millisecond), took[2].Round(time.Millisecond))
	return nil
}
