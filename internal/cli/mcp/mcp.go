// Package mcp holds the command that serves clients of the Model Context Protocol on the same machine.
package mcp

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"quarry/internal/cli/command"
	"quarry/internal/mcpserve"
)

// Cmd holds the commands about the Model Context Protocol.
type Cmd struct {
	Serve serveCmd `cmd:"" help:"Offer corpora and agents as tools to the program that started this one."`
}

type serveCmd struct{ command.Connection }

func (serveCmd) Help() string {
	return "Programs such as Claude Desktop and Cursor start it and speak the Model Context Protocol with it on standard input and output; nothing else is " +
		"written there. It is a client of a running service: it may do what its key may do, and a service that starts later, or anew, is found at " +
		"the next call. Clients that reach the service over HTTP need no such program: they call its address /mcp.\n\n" +
		"Example: quarry mcp serve --data /var/lib/quarry\n\n" +
		"Example: QUARRY_API_KEY=zqt_4b1e quarry mcp serve --url https://quarry.example.com"
}

// Run serves until the input ends.
func (c *serveCmd) Run(e *command.Env) error {
	s := &service{from: c.Connection}
	if _, err := s.client(); err != nil && !command.Unreachable(err) {
		return err // wrong flags; a service that does not run yet is waited for
	}
	server, err := mcpserve.NewServer(s, slog.New(slog.DiscardHandler)) // its client is told all that it would note
	if err != nil {
		return err
	}
	if err := mcpserve.Stdio(e.Ctx, server, e.In, e.Out); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// service calls a service, whose address and key are looked up until it is found, and again when it is no longer reached.
type service struct {
	from command.Connection

	mu    sync.Mutex
	known *command.Client // nil until then
}

func (s *service) client() (*command.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		found, err := s.from.Connect()
		if err != nil {
			return nil, err
		}
		s.known = found
	}
	return s.known, nil
}

// Do is that of mcpserve.Service.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	cl, err := s.client()
	if err != nil {
		return nil, err
	}
	answer, err := cl.Relay(r)
	if command.Unreachable(err) {
		s.mu.Lock()
		s.known = nil
		s.mu.Unlock()
	}
	return answer, err
}
