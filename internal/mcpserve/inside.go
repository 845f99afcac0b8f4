package mcpserve

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// inside answers by a handler of this process, as if the request had come the way that the request of the protocol came, with the
// same credential.
type inside struct{ handler func() http.Handler }

// carrier is what carries messages: calls of tools end with until.
type carrier struct {
	until   context.Context
	request *http.Request // of HTTP; nil for others
}

// carried is the key under which the context of a call holds its carrier.
type carried struct{}

// carrierOf returns the carrier of a call, nil if it has none.
func carrierOf(ctx context.Context) *carrier {
	c, _ := ctx.Value(carried{}).(*carrier)
	return c
}

// from are the headers that say who calls.
var from = []string{"X-Api-Key", "Authorization", "X-Forwarded-For", "User-Agent"}

// Do is that of Service.
func (s inside) Do(r *http.Request) (*http.Response, error) {
	by := carrierOf(r.Context()).request
	for _, name := range from {
		if values := by.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	r.Host, r.RemoteAddr, r.TLS, r.RequestURI = by.Host, by.RemoteAddr, by.TLS, r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	read, write := io.Pipe()
	w := &writer{header: http.Header{}, body: write, begun: make(chan struct{})}
	go func() {
		defer func() {
			if recover() != nil { // http.ErrAbortHandler: half an answer, or none; the chain has logged whatever else there was
				w.end(io.ErrUnexpectedEOF)
			}
		}()
		s.handler().ServeHTTP(w, r)
		w.end(nil)
	}()
	<-w.begun
	if w.status == 0 {
		if err := context.Cause(r.Context()); err != nil {
			return nil, err
		}
		return nil, errors.New("the service gave no answer; call again")
	}
	return &http.Response{StatusCode: w.status, Header: w.sent, Body: read, Request: r}, nil
}

// writer is the http.ResponseWriter of a request inside the process: what is written is read from a pipe. One goroutine writes.
type writer struct {
	header, sent http.Header
	status       int // 0 if the handler ended without an answer
	begun        chan struct{}
	body         *io.PipeWriter
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	}
}

func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush does nothing: what is written was read.
func (w *writer) Flush() {}

// end ends the body, with an error if it is not whole.
func (w *writer) end(err error) {
	if err == nil {
		w.WriteHeader(http.StatusOK)
	} else if w.status == 0 {
		close(w.begun)
	}
	_ = w.body.CloseWithError(err) // nil is io.EOF
}
