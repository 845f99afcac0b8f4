package httpapi_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/httpapi/certificate"
	"quarry/internal/httpapi/refusal"
	"quarry/internal/testkit"
)

// encrypted serves a handler with a certificate for host and returns its address and what clients trust.
func encrypted(t *testing.T, h http.Handler, host string) (address string, trusted *x509.CertPool) {
	t.Helper()
	cert, key := testkit.Certificate(t, host)
	dir := t.TempDir()
	for name, raw := range map[string][]byte{"cert": cert, "key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keeper, err := certificate.Open(certificate.Config{Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, TLSConfig: keeper.TLS(), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	wrapped := refusal.Listen(s, l)
	done := make(chan error, 1)
	go func() { done <- s.Serve(wrapped) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	trusted = x509.NewCertPool()
	trusted.AppendCertsFromPEM(cert)
	return l.Addr().String(), trusted
}

// TestEncrypted proves which versions of TLS and of HTTP are spoken on an encrypted address, and that requests and
// answers pass whole.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	address, trusted := encrypted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing shows in the answer
		_, _ = io.WriteString(w, r.Proto+" "+string(body))
	}), "127.0.0.1")
	body := strings.Repeat("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n", 3000)
	for _, tc := range []struct {
		name    string
		version uint16
		http2   bool
		want    string // "": refused
	}{
		{"TLS 1.1", tls.VersionTLS11, false, ""},
		{"TLS 1.2", tls.VersionTLS12, false, "HTTP/1.1"},
		{"TLS 1.2 and HTTP/2", tls.VersionTLS12, true, "HTTP/2.0"},
		{"TLS 1.3", tls.VersionTLS13, false, "HTTP/1.1"},
		{"TLS 1.3 and HTTP/2", tls.VersionTLS13, true, "HTTP/2.0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			carry := &http.Transport{
				TLSClientConfig:   &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS10, MaxVersion: tc.version},
				ForceAttemptHTTP2: tc.http2,
			}
			defer carry.CloseIdleConnections()
			for range 2 { // the second on the connection of the first
				res, err := (&http.Client{Transport: carry}).Post("https://"+address, "text/plain", strings.NewReader(body))
				if tc.want == "" {
					if err == nil || !strings.Contains(err.Error(), "protocol version") {
						t.Errorf("it answers %v, want a refusal for the version", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil || res.Proto != tc.want || string(got) != tc.want+" "+body {
					t.Errorf("it speaks %s and answers %d bytes (%v), want %s and all", res.Proto, len(got), err, tc.want)
				}
			}
		})
	}
}

// TestWeakCiphers proves that TLS 1.2 goes on with ciphers alone that HTTP/2 allows.
func TestWeakCiphers(t *testing.T) {
	t.Parallel()
	address, _ := encrypted(t, http.NotFoundHandler(), "127.0.0.1")
	for _, cipher := range []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256} {
		c, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{cipher}}}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
			t.Errorf("it takes %s", tls.CipherSuiteName(cipher))
		}
	}
}

// TestRefusedOnEncrypted proves that what net/http refuses by itself is answered with the contract's body on encrypted
// connections as well, and that a client that does not encrypt is told so.
func TestRefusedOnEncrypted(t *testing.T) {
	t.Parallel()
	address, trusted := encrypted(t, start(t, area{"getCorpus": seen}).Config.Handler, "127.0.0.1")
	encrypt := &tls.Dialer{Config: &tls.Config{RootCAs: trusted}}
	for _, tc := range []struct {
		name, text, word string
		encrypt          bool
	}{
		{"half an escape", "GET /v2/users/%zz HTTP/1.1\r\nHost: q\r\n\r\n", "%", true},
		{"in clear", "GET /v2/corpora HTTP/1.1\r\nHost: q\r\n\r\n", "https://", false},
		{"in clear with a body", "POST /v2/corpora HTTP/1.1\r\nHost: q\r\nContent-Length: 2\r\n\r\n{}", "https://", false},
	} {
		dial := (&net.Dialer{}).DialContext
		if tc.encrypt {
			dial = encrypt.DialContext
		}
		c, err := dial(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, tc.text)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var e struct {
			Messages []string `json:"messages"`
			Code     string   `json:"code"`
		}
		err = json.NewDecoder(res.Body).Decode(&e)
		_ = c.Close()
		if err != nil || res.StatusCode != 400 || e.Code != "invalid_request" || len(e.Messages) != 1 || !strings.Contains(e.Messages[0], tc.word) {
			t.Errorf("%s: %d %+v (%v), want 400 and %q", tc.name, res.StatusCode, e, err, tc.word)
		}
	}
}
