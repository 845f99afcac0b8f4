// Package outbound protects outgoing HTTP calls against server-side request forgery: its http.Client checks every
// address after name resolution, when the connection is made, and again at every redirect, so that no URL from a user or
// a provider leads to what only this machine may reach. Package app creates the clients and passes them to every adapter
// that calls out: models, encoders, connectors, tools.
package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Config is what a client may do.
type Config struct {
	// AllowPrivate allows private, loopback and carrier-shared addresses, all of them; Allowed those that it names.
	// Forbidden ranges stay refused.
	AllowPrivate bool
	Allowed      Allowed
	// Setting is the setting that allows private addresses, which refusals name.
	Setting string
	// Insecure calls servers without a look at their certificates.
	Insecure bool
	// MaxBody bounds the body of every response, in bytes; reading beyond it fails with ErrTooLarge. 0 means no bound.
	MaxBody int64

	// Resolver looks names up; nil is the system's. Tests set their own.
	Resolver *net.Resolver
	// Transport changes the transport before its first use. Tests use it to trust their certificates.
	Transport func(*http.Transport)
}

// Refused is the error of a call that the guard did not allow.
type Refused struct {
	Reason  string // for people
	address bool
}

// Error returns the reason.
func (r *Refused) Error() string { return r.Reason }

// Blocked reports whether the address itself is the reason, rather than the form of a redirect.
func (r *Refused) Blocked() bool { return r.address }

func refuse(format string, args ...any) *Refused {
	return &Refused{Reason: fmt.Sprintf(format, args...), address: true}
}

// Limits of connections. Callers bound the duration of a whole call themselves.
const (
	dialTime   = 10 * time.Second
	tlsTime    = 10 * time.Second
	idleTime   = 90 * time.Second
	maxHeaders = 256 << 10
	perHost    = 64 // idle connections kept
)

// New returns a guarded client. Share clients, since each keeps its own idle connections. Proxies of the environment are
// ignored: a proxy resolves names itself, where the guard cannot check the address.
func New(c Config) *http.Client {
	dialer := &net.Dialer{Timeout: dialTime, Resolver: c.Resolver, ControlContext: c.control}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialer.DialContext(context.WithValue(ctx, calledKey{}, address), network, address)
	}
	t := &http.Transport{
		Proxy: nil, DialContext: dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: tlsTime,
		IdleConnTimeout: idleTime, MaxIdleConnsPerHost: perHost, MaxResponseHeaderBytes: maxHeaders, ExpectContinueTimeout: time.Second,
	}
	if c.Insecure {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	if c.Transport != nil {
		c.Transport(t)
	}
	return &http.Client{Transport: &guard{c, t}, CheckRedirect: redirect}
}

// calledKey is the key under which the context of a connection has the host and port that its URL names.
type calledKey struct{}

// control checks the resolved address that a socket is about to connect to. Since nothing is resolved after this point,
// DNS rebinding (a second lookup of a name with another answer) cannot get around it.
func (c Config) control(ctx context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return refuse("calls over %s are not made", network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse("%s is not an address", address)
	}
	host := ""
	if called, ok := ctx.Value(calledKey{}).(string); ok {
		if name, _, err := net.SplitHostPort(called); err == nil {
			host = hostName(name)
		}
	}
	return c.judge(host, to)
}

// Judge returns a *Refused if the address may not be called, else nil.
func (c Config) Judge(a netip.Addr) error { return c.judge("", netip.AddrPortFrom(a, 0)) }

// judge judges the call of a host at an address.
func (c Config) judge(host string, to netip.AddrPort) error {
	a := to.Addr()
	if !a.IsValid() {
		return refuse("%s is no address, which is never called", a)
	}
	if what := within(forbidden, a); what != "" {
		return refuse("%s is %s, which is never called", a, what)
	}
	if c.AllowPrivate {
		return nil
	}
	for _, d := range destinations(a) {
		if within(privateNetworks, d) != "" && !c.Allowed.allows(host, netip.AddrPortFrom(d, to.Port())) {
			return refuse("%s is a private address, which is called only where the setting %s allows it", a, c.Setting)
		}
	}
	return nil
}

// guard is the http.RoundTripper of a guarded client.
type guard struct {
	config Config
	next   *http.Transport
}

// RoundTrip refuses what it can from the URL alone and bounds the body of the response.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.config.checkURL(r.URL); err != nil {
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

// CloseIdleConnections closes idle connections; http.Client.CloseIdleConnections calls it.
func (g *guard) CloseIdleConnections() { g.next.CloseIdleConnections() }

// checkURL refuses schemes other than http and https, the names of metadata services, and literal addresses. Addresses
// of names are checked by control.
func (c Config) checkURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return refuse("addresses of %s:// are not called", u.Scheme)
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if metadataNames[host] {
		return refuse("%s is the metadata service of a cloud, which is never called", host)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		n, _ := strconv.ParseUint(port(u), 10, 16) // the transport refuses what is no port
		return c.judge("", netip.AddrPortFrom(a, uint16(n)))
	}
	return nil
}

// ErrTooLarge is returned when the body of a response has more than Config.MaxBody bytes.
var ErrTooLarge = errors.New("the answer is too large")

// bounded is a body that fails once more than left bytes come. Unlike io.LimitReader it tells a body that was cut off
// from one that fits.
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
