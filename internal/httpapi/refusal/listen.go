package refusal

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"quarry/internal/id"
)

// Listen returns the listener for s to serve on. Its connections carry the contract's error bodies and headers also
// where net/http refuses a request before any handler sees it: a path such as /%zz, a header without a name, headers
// that are too long. With s.TLSConfig set, it encrypts them; a client that speaks HTTP in clear is told so. It sets
// s.ConnContext, s.ConnState and s.Protocols, and wraps s.Handler.
func Listen(s *http.Server, l net.Listener) net.Listener {
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.answering.Store(true)
		}
		next.ServeHTTP(w, r)
	})
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	s.ConnState = func(c net.Conn, to http.ConnState) {
		if ours, ok := c.(*conn); ok && to == http.StateIdle {
			ours.answering.Store(false)
		}
	}
	s.DisableGeneralOptionsHandler = true // its answer to OPTIONS * lacks our headers
	if s.MaxHeaderBytes == 0 {
		s.MaxHeaderBytes = maxHeaders
	}
	if s.TLSConfig == nil {
		return listener{Listener: l}
	}
	// To net/http these connections are what they look like above the encryption, so that what it writes by itself passes
	// through conn. It tells HTTP/2 by its first bytes then, which clients send that agreed on it in the handshake.
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return listener{l, s.TLSConfig}
}

// maxHeaders is how many bytes the head of a request may have, with its path and query; net/http adds a few.
const maxHeaders = 256 << 10

// connKey is where the context of a request has its connection.
type connKey struct{}

type listener struct {
	net.Listener
	encrypt *tls.Config // nil for HTTP in clear
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if l.encrypt != nil {
		c = tls.Server(c, l.encrypt) // the first read shakes hands, within the time for the head of a request
	}
	return &conn{Conn: c}, nil
}

// conn rewrites the answers that net/http makes by itself, which are single writes.
type conn struct {
	net.Conn
	answering atomic.Bool // whether a handler has the request: what it writes is left alone, whatever it looks like
	inClear   atomic.Bool // the client speaks HTTP where it should encrypt
}

// methods are what the first five bytes of HTTP in clear may be.
var methods = []string{"GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO"}

// Read notices a client that begins with HTTP in clear on an encrypted connection.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	var begun tls.RecordHeaderError
	if errors.As(err, &begun) && begun.Conn != nil && slices.Contains(methods, string(begun.RecordHeader[:])) {
		c.inClear.Store(true) // net/http refuses now what it could not read
	}
	return n, err
}

// unmet begins the answer of net/http to an Expect header that it doesn't know.
var unmet = []byte("HTTP/1.1 417 ")

// canned follows the status line of an answer of net/http.
const canned = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

func (c *conn) Write(b []byte) (int, error) {
	if c.answering.Load() {
		return c.Conn.Write(b)
	}
	encrypted, isTLS := c.Conn.(*tls.Conn)
	if isTLS && c.inClear.Load() {
		if _, err := encrypted.NetConn().Write(answer(clearLine)); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	if isTLS && encrypted.ConnectionState().NegotiatedProtocol == "h2" {
		return c.Conn.Write(b)
	}
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	if !bytes.HasPrefix(rest, []byte(canned)) && !bytes.HasPrefix(b, unmet) {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(answer(string(line))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite lets net/http end its side first, so that a client reads the answer before the connection breaks.
func (c *conn) CloseWrite() error {
	on := c.Conn
	if encrypted, ok := on.(*tls.Conn); ok && c.inClear.Load() {
		on = encrypted.NetConn()
	}
	if half, ok := on.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// clearLine is the status line for a client that speaks HTTP in clear where it should encrypt.
const clearLine = "HTTP/1.1 400 Bad Request: came in clear, and the service speaks HTTPS here; begin the address with https://"

// answer returns the whole answer for a status line such as "HTTP/1.1 400 Bad Request: malformed Host header".
func answer(line string) []byte {
	status, reason, said := strings.Cut(line, ": ")
	b := Body{RequestID: id.NewRequest(), Code: "invalid_request"}
	switch {
	case strings.Contains(status, " 431 "):
		b.Code, reason = "headers_too_large", "the headers of the request are too large"
	case strings.Contains(status, " 501 "):
		b.Code, reason = "unsupported_transfer_encoding", "the transfer encoding is not supported; send the body as it is, or chunked"
	case strings.Contains(status, " 417 "):
		b.Code, reason = "expectation_failed", "the only expectation that can be met is 100-continue"
	case !said:
		reason = "is not HTTP that can be read; the usual cause is a % in the path that two hexadecimal digits do not follow"
	}
	if b.Code == "invalid_request" {
		b.FieldErrors = map[string]string{"request": reason}
		reason = "request " + reason
	}
	b.Messages = []string{"INVALID_ARGUMENT: " + reason}
	body, _ := json.Marshal(b) // strings always encode
	head := fmt.Sprintf("%s\r\nCDN-Cache-Control: no-store\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\n\r\n", status, len(body)+1, b.RequestID)
	return append(append([]byte(head), body...), '\n')
}
