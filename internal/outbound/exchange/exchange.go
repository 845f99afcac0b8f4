// Package exchange makes one HTTP call of a service that answers with JSON, within bounds, and describes why a call has failed
// without addresses of this machine and without what the URL holds.
package exchange

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"quarry/internal/outbound"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 8 << 20

// Call is a request.
type Call struct {
	Method, URL string
	Header      map[string]string
	Body        any        // sent as JSON; nil for none
	Form        url.Values // sent in the place of Body
}

// ErrNoJSON is the error of an answer that is no JSON.
var ErrNoJSON = errors.New("its answer is no JSON")

// Do sends a call through a guarded client, and reads an answer of any status into into. The status is 0 if there was none. The
// text of an error is fit for whoever uses the service, but for secrets that the service itself repeats.
func Do(ctx context.Context, client *http.Client, c Call, into any) (status int, err error) {
	var body io.Reader
	kind := ""
	switch {
	case c.Form != nil:
		body, kind = strings.NewReader(c.Form.Encode()), "application/x-www-form-urlencoded"
	case c.Body != nil:
		raw, err := json.Marshal(c.Body)
		if err != nil {
			return 0, fmt.Errorf("write a request: %w", err)
		}
		body, kind = bytes.NewReader(raw), "application/json"
	}
	r, err := http.NewRequestWithContext(ctx, c.Method, c.URL, body)
	if err != nil {
		return 0, errors.New("its address can't be read")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Quarry")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for name, value := range c.Header {
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, &Failed{Reason(err), err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return resp.StatusCode, &Failed{Reason(err), err}
	case len(raw) > maxAnswer:
		return resp.StatusCode, fmt.Errorf("its answer has more than %d bytes", maxAnswer)
	case json.Unmarshal(raw, into) != nil:
		return resp.StatusCode, ErrNoJSON
	}
	return resp.StatusCode, nil
}

// Failed is the error of a call that nobody has answered.
type Failed struct {
	Text string // for people
	Err  error
}

// Error returns the text.
func (f *Failed) Error() string { return f.Text }

// Unwrap returns the cause.
func (f *Failed) Unwrap() error { return f.Err }

// Reason returns why a call has failed, for people.
func Reason(err error) string {
	var refused *outbound.Refused
	var name *net.DNSError
	var op *net.OpError
	var at *url.Error
	switch {
	case errors.As(err, &refused):
		return refused.Reason
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.Is(err, context.Canceled):
		return "the call was interrupted"
	case untrusted(err):
		return "there is no safe connection: " + cause(err)
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Sprintf("there is no host %s", name.Name)
	case errors.As(err, &name):
		return fmt.Sprintf("the name %s can't be resolved", name.Name)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer did"
	case errors.As(err, &op):
		return "there is no connection: " + op.Err.Error() // without the addresses of both ends
	case errors.As(err, &at):
		return strings.TrimPrefix(at.Err.Error(), "net/http: ") // without the URL
	}
	return err.Error()
}

// untrusted reports whether TLS is why a call has failed.
func untrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &alert) || errors.Is(err, http.ErrSchemeMismatch)
}

// cause returns what TLS says.
func cause(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return "nobody that this machine trusts has signed the certificate"
	case errors.As(err, &host):
		return "the certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or isn't valid yet"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "what answers there doesn't speak TLS"
	}
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
