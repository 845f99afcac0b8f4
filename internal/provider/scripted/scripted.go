// Package scripted is a provider of language models that does what a script says: it speaks the wire formats of the
// real ones and fails in the ways they fail. Tests start it in process (Start) and say what each call gets, or let the
// name of the model say it (Named), which works from outside, too: test/provider serves it as a program, for
// benchmarks and scenarios. It is no part of the product, knows nothing of package llm and never imports an adapter,
// so that an adapter cannot be right by sharing its mistakes.
package scripted

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
)

// Server is a provider. Its methods are safe for concurrent use.
type Server struct {
	URL string // without a slash at the end; "" when it is only a handler

	mux  *http.ServeMux
	quit chan struct{}
	met  chan *Request

	mu       sync.Mutex // guards what follows
	script   []Reply
	requests []*Request
	models   []Listed
	named    map[string]Reply
}

// Request is one call as it arrived.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte
	Model  string // of a call of a model
	Stream bool
	Form   url.Values    // of a token request
	Gone   chan struct{} // closed when the caller left before the answer was complete
	Done   chan struct{} // closed when the call is over
}

// Start serves a provider until the test ends. The first calls get the replies of the script, in order; later ones
// what the name of their model says.
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

// New gives a provider as a handler, for a server of the caller's.
func New(script ...Reply) *Server {
	s := &Server{mux: http.NewServeMux(), quit: make(chan struct{}), met: make(chan *Request, 1024), script: script}
	for pattern, of := range dialects {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.call(w, r, of(r)) })
	}
	s.lists()
	s.tokens()
	return s
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Then adds replies to the script.
func (s *Server) Then(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Model says what every call of a model gets that the script has no reply for, instead of what its name says.
func (s *Server) Model(name string, r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil {
		s.named = map[string]Reply{}
	}
	s.named[name] = r
}

// Requests are the calls until now, oldest first: those of models, lists and tokens.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Last is the latest call; nil before the first.
func (s *Server) Last() *Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		return nil
	}
	return s.requests[len(s.requests)-1]
}

// Arrived yields every call once, as it arrives.
func (s *Server) Arrived() <-chan *Request { return s.met }

func (s *Server) record(r *http.Request, body []byte) *Request {
	met := &Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
		Gone: make(chan struct{}), Done: make(chan struct{}),
	}
	return met
}

// keep adds a call to those recorded, once all that is known of it is in it.
func (s *Server) keep(r *Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	select {
	case s.met <- r:
	default: // nobody counts thousands of calls
	}
}

// next takes the reply of a call off the script.
func (s *Server) next(c *call) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		if reply, ok := s.named[c.model]; ok {
			return reply
		}
		return Named(c.model, c.body)
	}
	first := s.script[0]
	s.script = s.script[1:]
	return first
}

// maxBody bounds what a test can send, in bytes.
const maxBody = 64 << 20

// call answers a call of a model.
func (s *Server) call(w http.ResponseWriter, r *http.Request, d dialect) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	met := s.record(r, body)
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
