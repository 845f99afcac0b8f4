package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Explain returns, for people, why a call got no answer, without its address, whose parameters may hold a key.
func Explain(err error) string {
	var refused *Refused
	var dns *net.DNSError
	var op *net.OpError
	var tooOld tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &refused):
		return refused.Reason
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("the host name %q is not known", dns.Name)
	case errors.As(err, &dns):
		return fmt.Sprintf("the host name %q could not be looked up", dns.Name)
	case errors.As(err, &tooOld), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS: is the address one of http:// rather than https://?"
	case errors.As(err, &verify):
		return "its certificate is not trusted: " + verify.Err.Error()
	case errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.HostnameError)), errors.As(err, new(x509.CertificateInvalidError)):
		return "its certificate is not trusted"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no connection came about in time"
	case errors.As(err, &op) && op.Op == "dial":
		var call *os.SyscallError
		if errors.As(op.Err, &call) {
			return "no connection: " + call.Err.Error()
		}
		return "no connection: " + op.Err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op):
		return "the connection broke before an answer came"
	}
	for u := new(url.Error); errors.As(err, &u); {
		err = u.Err
	}
	return strings.TrimPrefix(err.Error(), "net/http: ")
}
