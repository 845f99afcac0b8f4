// Package scripted is a fake provider of language models. It implements the wire formats of real providers and the ways in
// which they fail. Tests start it in process with Start and script the reply to each call, or let the name of the model
// determine it (Named). The latter also works across processes: test/provider runs it as a program for benchmarks and
// scenarios. It is not part of the product, and imports neither package llm nor an adapter, so that it does not share
// their mistakes.
package scripted

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"

	"quarry/internal/provider/scripted/transcript"
)

// Server is a provider. Its methods are safe for concurrent use.
type Server struct {
	URL string // without a slash at the end; "" if New made it

	mux  *http.ServeMux
	quit chan struct{} // closed when the test ends
	met  chan *Request // see Arrived

	mu       sync.Mutex // guards the fields below
	script   []Reply
	requests []*Request
	models   []Listed
	named    map[string]Reply
	on       map[string]Reply
	replies  map[string]func(*transcript.Transcript) Reply
}

// Request is a call that has arrived.
type Request struct {
	From   string // the address of the caller's end of the connection
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte
	Model  string        // of a call of a model
	Stream bool          // of a call of a model
	Form   url.Values    // of a token request
	Gone   chan struct{} // closed if the caller disconnects before the response is complete
	Done   chan struct{} // closed when the call has ended
}

// Transcript returns the conversation in the call of a model.
func (r *Request) Transcript() *transcript.Transcript { return transcript.Read(r.Body) }

// Start starts a provider that runs until the test ends. The first calls get the replies of the script, in order; later
// ones are answered according to Model and Named.
func Start(t testing.TB, script ...Reply) *Server {
	t.Helper()
	s := New(script...)
	web := httptest.NewServer(s)
	s.URL = web.URL
	t.Cleanup(func() {
		close(s.quit)
		web.Close()
	})
	return s
}

// New returns a provider as an http.Handler that is not being served.
func New(script ...Reply) *Server {
	s := &Server{mux: http.NewServeMux(), quit: make(chan struct{}), met: make(chan *Request, 1024), script: script}
	for pattern, of := range dialects {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.call(w, r, of(r)) })
	}
	s.lists()
	s.tokens()
	return s
}

// ServeHTTP answers a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Then appends replies to the script.
func (s *Server) Then(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Model sets the reply to every call of a model for which the script has none, in place of that of Named.
func (s *Server) Model(name string, r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil {
		s.named = map[string]Reply{}
	}
	s.named[name] = r
}

// On sets the reply to every call of a model whose request contains word, if the script has none. It goes before that of
// Model.
func (s *Server) On(word string, r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on == nil {
		s.on = map[string]Reply{}
	}
	s.on[word] = r
}

// Respond sets what replies to every call of a model for which the script has nothing, by the conversation in the request:
// Rounds, or a function of the test, which must be safe for concurrent use. It goes before Model.
func (s *Server) Respond(name string, reply func(*transcript.Transcript) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replies == nil {
		s.replies = map[string]func(*transcript.Transcript) Reply{}
	}
	s.replies[name] = reply
}

// Requests returns all calls so far, oldest first: of models, of the list of models and of the token endpoint.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Last returns the latest call, or nil if there has been none.
func (s *Server) Last() *Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		return nil
	}
	return s.requests[len(s.requests)-1]
}

// Arrived returns a channel that receives every call as it arrives, unless a thousand are waiting in it.
func (s *Server) Arrived() <-chan *Request { return s.met }

func newRequest(r *http.Request, body []byte) *Request {
	return &Request{
		From: r.RemoteAddr, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
		Gone: make(chan struct{}), Done: make(chan struct{}),
	}
}

// keep adds a call, whose fields must be complete, to those that Requests, Last and Arrived return.
func (s *Server) keep(r *Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	select {
	case s.met <- r:
	default: // benchmarks make many calls and do not read the channel
	}
}

// next returns the reply to a call, from the script if it has one left.
func (s *Server) next(c *call) Reply {
	if reply, ok := s.fixed(c); ok {
		return reply
	}
	s.mu.Lock()
	respond := s.replies[c.model]
	reply, ok := s.named[c.model]
	s.mu.Unlock()
	switch {
	case respond != nil:
		return respond(transcript.Read(c.body))
	case ok:
		return reply
	}
	return Named(c.model, c.body)
}

// fixed returns the reply to a call from the script or from On.
func (s *Server) fixed(c *call) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) > 0 {
		first := s.script[0]
		s.script = s.script[1:]
		return first, true
	}
	for word, reply := range s.on {
		if bytes.Contains(c.body, []byte(word)) {
			return reply, true
		}
	}
	return Reply{}, false
}

// maxBody is the size in bytes to which the body of a call is read.
const maxBody = 64 << 20

// call answers a call of a model.
func (s *Server) call(w http.ResponseWriter, r *http.Request, d dialect) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	met := newRequest(r, body)
	defer close(met.Done)
	c := &call{body: body}
	if err := d.read(r, c); err != nil {
		s.keep(met)
		answer(w, http.StatusBadRequest, d.failure(http.StatusBadRequest, err.Error()))
		return
	}
	met.Model, met.Stream = c.model, c.stream
	s.keep(met)
	p := &player{w: w, r: r, d: d, c: c, reply: s.next(c), quit: s.quit}
	if err := p.play(); errors.Is(err, errGone) {
		close(met.Gone)
	}
}
