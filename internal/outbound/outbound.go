// Package outbound is the one guard of outgoing calls: an http.Client that judges every address after its name was looked up, at
// the moment of the connection, and again at every redirect, so that no address which a user or a provider names leads to
// what only this machine may reach. Package app makes the clients and gives them to every adapter that calls out:
// models, encoders, connectors, tools. It knows nothing of what is called.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Config says what a client may do.
type Config struct {
	// AllowPrivate allows private, loopback and carrier-shared addresses. What is never called stays refused.
	AllowPrivate bool
	// MaxBody bounds every answer, in bytes; 0 leaves that to the caller. Beyond it reading is an error.
	MaxBody int64

	// Resolver looks names up; nil is that of the system. Tests have their own.
	Resolver *net.Resolver
	// Transport changes the transport before its first use, for certificates that tests trust.
	Transport func(*http.Transport)
}

// Refused is a call that the guard did not let out.
type Refused struct {
	Reason  string // for people
	address bool
}

// Error tells the reason.
func (r *Refused) Error() string { return r.Reason }

// Blocked reports whether the address was the reason, rather than the way a redirect leads there.
func (r *Refused) Blocked() bool { return r.address }

func refuse(format string, args ...any) *Refused {
	return &Refused{Reason: fmt.Sprintf(format, args...), address: true}
}

// Times and sizes of connections. How long an answer may take is the caller's to bound.
const (
	dialTime   = 10 * time.Second
	tlsTime    = 10 * time.Second
	idleTime   = 90 * time.Second
	maxHeaders = 256 << 10
	perHost    = 64 // idle connections kept
)

// New gives a client under guard. It is safe for concurrent use; make few and share them, since connections are kept per
// client. Proxies of the environment are not used: a proxy looks names up itself, out of the guard's sight.
func New(c Config) *http.Client {
	dialer := &net.Dialer{Timeout: dialTime, Resolver: c.Resolver, ControlContext: c.control}
	t := &http.Transport{
		Proxy: nil, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: tlsTime,
		IdleConnTimeout: idleTime, MaxIdleConnsPerHost: perHost, MaxResponseHeaderBytes: maxHeaders, ExpectContinueTimeout: time.Second,
	}
	if c.Transport != nil {
		c.Transport(t)
	}
	return &http.Client{Transport: &guard{c, t}, CheckRedirect: redirect}
}

// control judges the address of a connection about to be made: the last moment before it, so that no second answer to the
// same name can differ from what was judged.
func (c Config) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return refuse("calls over %s are not made", network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse("%s is no address", address)
	}
	return c.Judge(to.Addr())
}

// Judge says whether an address may be called; the error is a *Refused.
func (c Config) Judge(a netip.Addr) error {
	if reason := never(a); reason != "" {
		return refuse("%s is %s, which is never called", a, reason)
	}
	if !c.AllowPrivate && private(a) {
		return refuse("%s is a private address; this installation calls none (see its settings outbound_private and llm_private)", a)
	}
	return nil
}

type guard struct {
	config Config
	next   *http.Transport
}

// RoundTrip refuses what can be told from the request alone and bounds the answer.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.config.request(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	resp, err := g.next.RoundTrip(r)
	if err == nil && g.config.MaxBody > 0 {
		resp.Body = &bounded{resp.Body, g.config.MaxBody}
	}
	return resp, err
}

// CloseIdleConnections lets go of connections that wait for the next call.
func (g *guard) CloseIdleConnections() { g.next.CloseIdleConnections() }

func (c Config) request(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return refuse("addresses of %s:// are not called", u.Scheme)
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if metadataNames[host] {
		return refuse("%s is the metadata service of a cloud, which is never called", host)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return c.Judge(a)
	}
	return nil
}

// ErrTooLarge says that an answer had more than MaxBody bytes.
var ErrTooLarge = errors.New("the answer is too large")

type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if int64(n) > b.left {
		n, err = int(b.left), ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}
