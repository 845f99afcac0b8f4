// Package server keeps the tool servers of other people: where they are, what they are called with, and the tools that they
// have, which are rows of the catalogue. A sync asks a server for its tools and brings the rows in step.
package server

import (
	"context"
	"encoding/json"
	"errors"

	"quarry/internal/id"
)

// Client speaks with tool servers. It keeps connections and sessions per server and opens new ones when Target.Revision has
// grown; Close is called when one is disabled or deleted. Errors are sentences for people, about "the tool server", and hold no credentials. Safe for
// concurrent use.
type Client interface {
	// List returns the tools of a server in its order. It may stop as soon as there are more than MaxTools, and return what it has,
	// or as a definition is larger than MaxDefinition, with an error. An error that is ErrUnavailable means that the server was not
	// reached or did not speak; any other, that what it said is no list of tools.
	List(ctx context.Context, t Target) ([]Listed, error)
	// Call runs a tool under the name that the server has for it. progress hears what the server tells meanwhile; it may be nil.
	// A call that the server has answered with an error is a Result that has Failed; an error is one of the connection or the
	// protocol. When ctx ends, the server is told that the call is cancelled.
	Call(ctx context.Context, t Target, name string, arguments json.RawMessage, progress func(string)) (Result, error)
	// Close ends the connections to a server.
	Close(which id.ToolServer)
}

// ErrUnavailable is the error of a server that can't be reached: no connection, no answer in time, credentials refused, or
// an answer of HTTP that says that it is out of order.
var ErrUnavailable = errors.New("the tool server is not available")

// Servers finds where a server is and what it is called with.
type Servers interface {
	// Target returns a server as it is now, with its credentials. One that is gone or disabled is a fault that the model can read.
	Target(ctx context.Context, which id.ToolServer) (Target, error)
}

// Bounds of what a server may have.
const (
	MaxTools      = 1_000
	MaxDefinition = 64 << 10 // bytes of one tool as JSON: names, description, schemas
)

// The transports.
const (
	SSE        = "sse" // HTTP with server-sent events, as of the protocol's version of 2024-11-05
	Streamable = "streamable-http"
)

// Target is a server as it is called.
type Target struct {
	ID        id.ToolServer
	Revision  int64 // grows with every change of what is below
	URI       string
	Transport string // SSE or Streamable
	Headers   map[string]string
	Auth      *Auth // nil for none
}

// The kinds of credentials.
const (
	Bearer            = "bearer"
	Header            = "header"
	ClientCredentials = "oauth_client_credentials"
)

// Auth is the credentials of a server: Type says which members count. It is sealed at rest and never logged. The JSON names
// are those of RemoteAuth in the contract.
type Auth struct {
	Type string `json:"type"`

	Token string `json:"token,omitempty"` // bearer; secret

	Header string `json:"header,omitempty"` // header
	Value  string `json:"value,omitempty"`  // header; secret

	ClientID         string   `json:"client_id,omitempty"`     // oauth_client_credentials
	ClientSecret     string   `json:"client_secret,omitempty"` // secret
	TokenEndpoint    string   `json:"token_endpoint,omitempty"`
	Scopes           []string `json:"scopes,omitempty"`
	ClientAuthMethod string   `json:"client_auth_method,omitempty"` // "client_secret_basic" (also "") or "client_secret_post"
	Audience         string   `json:"audience,omitempty"`
}

// Listed is a tool as its server lists it. A hint that the server doesn't give is nil.
type Listed struct {
	Name        string // the server's own
	Title       string
	Description string
	Input       json.RawMessage // JSON Schemas; nil where the server gives none
	Output      json.RawMessage

	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// Result is the answer to a call.
type Result struct {
	Content    []Block
	Structured json.RawMessage // an object; nil for none
	Failed     bool            // the server calls it an error
}

// Block is a part of an answer.
type Block struct {
	Type string // text, image, audio, resource or resource_link
	Text string // of a text and of a resource that is one
	MIME string
	URI  string // of a resource and of a link
	Name string
	Data []byte // of images, audio and binary resources
}
