package command

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// certificateFile is where a running service that encrypts leaves its certificate, beside its URL.
const certificateFile = "address.pem"

// transport returns what carries requests to the service. Certificates are verified as usual: by the CAs of --ca alone
// where that is given, else by those of the system. On the address that the data folder names, the certificate that
// lies beside it is trusted too, whatever names it is for: only who can write the folder has put both there.
func (r Connection) transport(base *url.URL) (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	roots, err := r.authorities()
	if err != nil {
		return nil, err
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	if own := r.own(); own != nil {
		t.TLSClientConfig.InsecureSkipVerify = true // VerifyConnection verifies
		t.TLSClientConfig.VerifyConnection = func(s tls.ConnectionState) error {
			if bytes.Equal(s.PeerCertificates[0].Raw, own) {
				return nil
			}
			return verify(s.PeerCertificates, base.Hostname(), roots)
		}
	}
	return t, nil
}

// verify does what crypto/tls does by itself. host is not that of the handshake, which leaves addresses out.
func verify(shown []*x509.Certificate, host string, roots *x509.CertPool) error {
	o := x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range shown[1:] {
		o.Intermediates.AddCert(c)
	}
	if _, err := shown[0].Verify(o); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: shown, Err: err}
	}
	return nil
}

// authorities returns the CAs of --ca, nil for those of the system.
func (r Connection) authorities() (*x509.CertPool, error) {
	if r.CA == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(r.CA)
	if err != nil {
		return nil, Failed(ExitUsage, "--ca: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, Failed(ExitUsage, "--ca: %s holds no certificate in PEM", r.CA)
	}
	return pool, nil
}

// own returns the certificate that the service of the data folder left there, nil if the address is not from there.
func (r Connection) own() []byte {
	if r.URL != "" {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(r.Data, certificateFile))
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil
	}
	return block.Bytes
}

// certificateTrouble returns what is wrong with the certificate of base and what to do, "" if err is about another thing.
func certificateTrouble(base string, err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var failed *tls.CertificateVerificationError
	begin := "the certificate of " + base
	switch {
	case errors.As(err, &unknown):
		return begin + " is of no CA that is trusted here; name the file with its CA, or with the certificate itself if it has none, with --ca or QUARRY_CA"
	case errors.As(err, &name):
		names := append([]string{}, name.Certificate.DNSNames...)
		for _, ip := range name.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		return fmt.Sprintf("%s is for %s, not for %s; call it by one of its names with --url (--ca does not help here)", begin, orNone(names), name.Host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("%s is valid from %s to %s, and now it is %s; renew it, or set the clock (--ca does not help here)", begin,
			day(invalid.Cert.NotBefore), day(invalid.Cert.NotAfter), day(time.Now()))
	case errors.As(err, &failed):
		return fmt.Sprintf("%s is not trusted: %v; name the file with its CA with --ca or QUARRY_CA", begin, failed.Err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the service at " + base + " speaks HTTP, not HTTPS; begin its address with http://"
	}
	return ""
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "no name"
	}
	return strings.Join(names, ", ")
}

func day(t time.Time) string { return t.UTC().Format(time.DateTime) }
