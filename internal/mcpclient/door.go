package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/server"
	"quarry/internal/endpoint"
	"quarry/internal/oauth"
	"quarry/internal/outbound"
)

// door is the way of the HTTP calls of a session: with the headers and credentials of its server, to its origin alone, with bounded
// answers. What a server answers outside the protocol becomes the failure of the exchange that it belongs to, and the library gets
// an answer that leaves its session usable.
type door struct {
	cfg    Config
	target server.Target
	origin *url.URL
	by     *oauth.Credentials // nil without OAuth

	large atomic.Bool // a stream of the session has ended by an event that is too large

	mu      sync.Mutex
	version string   // of the protocol, once it is agreed upon; guarded by mu
	secrets []string // that must not come out, in all their forms; guarded by mu
	known   map[string]bool
}

func newDoor(cfg Config, t server.Target) (*door, error) {
	u, err := url.Parse(t.URI)
	if err != nil {
		return nil, unavailable("its uri is no address")
	}
	d := &door{cfg: cfg, target: t, origin: u, known: map[string]bool{}}
	for name, value := range t.Headers {
		if endpoint.Carries(name) {
			d.secret(value)
		}
	}
	if a := t.Auth; a != nil {
		d.secret(a.Token, a.Value, a.ClientSecret)
		if a.Type == server.ClientCredentials {
			d.by = &oauth.Credentials{
				Endpoint: a.TokenEndpoint, ClientID: a.ClientID, ClientSecret: a.ClientSecret, Method: a.ClientAuthMethod, Scopes: a.Scopes, Audience: a.Audience,
			}
			d.secret(d.by.BasicValue())
		}
	}
	return d, nil
}

// shortest is how many bytes a secret needs to be taken out of longer texts.
const shortest = 4

// secret adds secrets that must not come out of answers.
func (d *door) secret(all ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range all {
		for _, form := range []string{s, mask.Escaped(s), strings.TrimPrefix(s, "Bearer ")} {
			if len(form) >= shortest && !d.known[form] {
				d.known[form] = true
				d.secrets = append(d.secrets, form)
			}
		}
	}
}

// clean returns what a server has written without the credentials that it was sent.
func (d *door) clean(raw []byte) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.secrets {
		if bytes.Contains(raw, []byte(s)) {
			raw = bytes.ReplaceAll(raw, []byte(s), []byte(mask.Masked))
		}
	}
	return raw
}

// negotiate reads which version of the protocol the server speaks.
func (d *door) negotiate(initialized json.RawMessage) {
	var v struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(initialized, &v) == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.version = v.Version
	}
}

// RoundTrip sends a call. It follows redirects within the origin of the server.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r.Context())
	if err := x.failure(); err != nil { // as when the library would try again
		return nil, d.drop(r, err)
	}
	if !outbound.SameOrigin(d.origin, r.URL) {
		err := broken("it wants its messages at another origin, %s://%s", r.URL.Scheme, r.URL.Host)
		d.failed(x, err)
		return nil, d.drop(r, err)
	}
	resp, err := d.send(r)
	if err != nil {
		err = explained(err)
		if r.Context().Err() == nil {
			d.failed(x, err)
		}
		return nil, err
	}
	if r.Method == http.MethodPost {
		return d.posted(r, x, resp)
	}
	return d.got(r, x, resp)
}

// failed ends an exchange whose call was not made. Where the answer would come by the stream, the library takes every failure for
// the end of the session, unless the exchange has ended before.
func (d *door) failed(x *exchange, err error) {
	x.fail(err)
	if d.target.Transport != server.Streamable {
		x.abort()
	}
}

// drop closes the body of a call that isn't made.
func (d *door) drop(r *http.Request, err error) error {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return err
}

// send sends a call with its headers, and once more with a new access token if the first was refused.
func (d *door) send(r *http.Request) (*http.Response, error) {
	for again := false; ; again = true {
		out := r.Clone(r.Context())
		token, err := d.address(out)
		if err != nil {
			return nil, d.drop(r, err)
		}
		if again && r.GetBody != nil {
			if out.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		resp, err := d.cfg.HTTP.Do(out)
		if err != nil || resp.StatusCode != http.StatusUnauthorized || token == "" || again || r.Body != nil && r.GetBody == nil {
			return resp, err
		}
		_ = resp.Body.Close()
		d.cfg.Tokens.Refuse(r.Context(), *d.by, token)
	}
}

// address sets the headers of a call, and returns the access token that it carries, "" for none.
func (d *door) address(r *http.Request) (token string, err error) {
	for name, value := range d.target.Headers {
		if r.Header.Get(name) == "" && !strings.HasPrefix(strings.ToLower(name), "mcp-") { // those of the protocol win
			r.Header.Set(name, value)
		}
	}
	r.Header.Set("User-Agent", "quarry")
	r.Header.Set("Accept-Encoding", "identity") // a small body could become a huge one
	d.mu.Lock()
	if d.version != "" {
		r.Header.Set("Mcp-Protocol-Version", d.version)
	}
	d.mu.Unlock()
	a := d.target.Auth
	switch {
	case a == nil:
	case a.Type == server.Bearer:
		r.Header.Set("Authorization", "Bearer "+a.Token)
	case a.Type == server.Header:
		r.Header.Set(a.Header, a.Value)
	case d.by != nil:
		if token, err = d.cfg.Tokens.Token(r.Context(), *d.by); err != nil {
			return "", err
		}
		d.secret(token)
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return token, nil
}

// Bounds of answers.
const (
	maxAnswer  = 16 << 20      // bytes of a message
	maxEvent   = 2 * maxAnswer // of the library, which only knows that an event is malformed
	maxRefusal = 64 << 10      // bytes of the body of an error
	maxRemark  = 300           // bytes of an error that is a text, to be shown
)

// posted returns the answer to a message of ours.
func (d *door) posted(r *http.Request, x *exchange, resp *http.Response) (*http.Response, error) {
	kind := mediaType(resp)
	good := resp.StatusCode >= 200 && resp.StatusCode <= 299
	switch {
	case x == nil: // a notification, or an answer of ours: what becomes of it is the server's matter
		_ = resp.Body.Close()
		return accepted(r), nil
	case good && d.target.Transport != server.Streamable && kind != "text/html": // the answer comes by the stream
		_ = resp.Body.Close()
		return accepted(r), nil
	case good && kind == "text/event-stream":
		resp.Body = d.bounded(x, resp.Body)
		return resp, nil
	case good && kind == "application/json":
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		_ = resp.Body.Close()
		switch {
		case err != nil:
			x.fail(broken("the connection broke within its answer"))
		case len(body) > maxAnswer:
			x.fail(errTooLarge)
		case !json.Valid(body):
			x.fail(broken("its answer is no JSON"))
		default:
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return resp, nil
		}
	default:
		x.fail(d.odd(resp))
	}
	return d.refused(r, x, resp), nil
}

// got returns the answer to a call for a stream.
func (d *door) got(r *http.Request, x *exchange, resp *http.Response) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return resp, nil
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 || mediaType(resp) != "text/event-stream" {
		err := d.odd(resp)
		_ = resp.Body.Close()
		x.fail(err)
		x.abort()
		return nil, err
	}
	resp.Body = d.bounded(x, resp.Body)
	return resp, nil
}

// odd returns what is said of an answer outside the protocol, and reads the beginning of it.
func (d *door) odd(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what can't be read says nothing
	status, page := resp.StatusCode, isPage(resp, body)
	said := fmt.Sprintf("it has answered with status %d", status)
	var reply struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return unavailable("it refuses the credentials, with status %d", status)
	case page:
		said += " and a web page; is the address right?"
	case status >= 200 && status <= 299:
		return broken("its answer is of the type %q, not of the protocol; is the transport right?", line(mediaType(resp)))
	case json.Unmarshal(body, &reply) == nil && reply.Error.Message != "":
		said += ": " + line(string(d.clean([]byte(reply.Error.Message))))
	case mediaType(resp) == "text/plain" && len(body) > 0 && len(body) <= maxRemark:
		said += ": " + line(string(d.clean(body)))
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		said += "; are address and transport right?"
	}
	switch {
	case status == http.StatusNotFound:
		return &failure{text: said, unavailable: true, gone: true}
	case status == http.StatusBadRequest && bytes.Contains(bytes.ToLower(body), []byte("session")): // as older servers in Python say it
		return &failure{text: said, gone: true}
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status == http.StatusMethodNotAllowed:
		return &failure{text: said, unavailable: true}
	}
	return broken("%s", said)
}

// refused returns an answer by which the library takes the exchange as failed, and its session as usable.
func (d *door) refused(r *http.Request, x *exchange, resp *http.Response) *http.Response {
	if resp != nil {
		_ = resp.Body.Close()
	}
	if d.target.Transport != server.Streamable {
		x.abort()
		return accepted(r)
	}
	which, _ := x.request()
	body, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: which, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "failed"}})
	if err != nil {
		x.abort()
	}
	return answer(r, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body)
}

func accepted(r *http.Request) *http.Response { return answer(r, http.StatusAccepted, nil, nil) }

func answer(r *http.Request, status int, h http.Header, body []byte) *http.Response {
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// bounded returns the body of a stream whose events are bounded.
func (d *door) bounded(x *exchange, body io.ReadCloser) io.ReadCloser {
	x.opened()
	mark := &d.large
	if x == nil { // beside the calls
		mark = new(atomic.Bool)
	}
	return &stream{ReadCloser: body, x: x, large: mark}
}

// stream is the body of a stream. An event that is too large ends the exchange that it belongs to.
type stream struct {
	io.ReadCloser
	x     *exchange
	large *atomic.Bool
	size  int  // bytes of the present event
	last  byte // that was read, but for carriage returns
}

// Close closes the stream.
func (s *stream) Close() error {
	defer s.x.closed()
	return s.ReadCloser.Close()
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	for _, b := range p[:n] {
		s.size++
		if b == '\r' {
			continue
		}
		if b == '\n' && s.last == '\n' {
			s.size = 0
		}
		s.last = b
	}
	if s.size > maxAnswer {
		s.large.Store(true)
		s.x.fail(errTooLarge)
		s.x.abort()
		return 0, errTooLarge
	}
	return n, err
}

// explained returns the failure of a call that got no answer.
func explained(err error) error {
	var known *failure
	var token *oauth.Error
	var refused *outbound.Refused
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &token):
		return unavailable("%s", token)
	case errors.As(err, &refused) && !refused.Blocked():
		return broken("%s", refused.Reason)
	case errors.Is(err, context.Canceled):
		return err
	}
	return unavailable("%s", outbound.Explain(err))
}
