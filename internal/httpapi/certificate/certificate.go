// Package certificate keeps the certificate that the service shows: read from two files at the start and anew when
// they change, so that a renewal needs no restart. Package app opens it and hands its TLS settings to the server.
package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config is where the certificate is.
type Config struct {
	Cert, Key string // files in PEM; links are followed each time
	Log       *slog.Logger
	// Changed is called with the certificate that connections are shown from now on, also with the first one.
	Changed func(leaf *x509.Certificate)
	// Every is how long the files are not looked at again; 0 is a second.
	Every time.Duration
}

// Keeper holds the present certificate. It is safe for concurrent use.
type Keeper struct {
	cfg Config
	now atomic.Pointer[tls.Certificate]

	looking sync.Mutex // held by the one handshake that looks at the files
	looked  time.Time  // guarded by looking
	seen    pair       // what was read last, good or bad; guarded by looking
	said    string     // the last complaint in the log; guarded by looking
}

// pair is the contents of the two files.
type pair struct{ cert, key []byte }

func (p pair) equal(o pair) bool { return bytes.Equal(p.cert, o.cert) && bytes.Equal(p.key, o.key) }

// Open reads the files. Its error names the setting, tls_cert or tls_key, that has to change.
func Open(cfg Config) (*Keeper, error) {
	if cfg.Every == 0 {
		cfg.Every = time.Second
	}
	k := &Keeper{cfg: cfg, looked: time.Now()}
	var err error
	if k.seen, err = k.read(); err != nil {
		return nil, err
	}
	return k, k.use(k.seen)
}

// TLS returns the settings of a server that shows this certificate: TLS 1.2 and later, and of 1.2 only the ciphers that
// HTTP/2 allows.
func (k *Keeper) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			k.look()
			return k.now.Load(), nil
		},
		CipherSuites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
	}
}

// Leaf returns the present certificate.
func (k *Keeper) Leaf() *x509.Certificate { return k.now.Load().Leaf }

// look reads the files again if that is due. It compares what they hold: links that are swapped, files that are
// replaced and files that are written over all show in it, whatever their times say. Handshakes at the same moment go
// on with the present certificate, so that a slow disk delays one of them.
func (k *Keeper) look() {
	if !k.looking.TryLock() {
		return
	}
	defer k.looking.Unlock()
	if time.Since(k.looked) < k.cfg.Every {
		return
	}
	k.looked = time.Now()
	now, err := k.read()
	if err == nil {
		if now.equal(k.seen) {
			return
		}
		k.seen = now
		err = k.use(now)
	}
	if err == nil {
		leaf := k.Leaf()
		k.said = ""
		k.cfg.Log.Info("the certificate was read anew", "names", Names(leaf), "valid_until", leaf.NotAfter)
		return
	}
	if text := err.Error(); text != k.said {
		k.said = text
		k.cfg.Log.Warn("the changed certificate can't be used; the one before stays", "error", text)
	}
}

// use sets a pair as the present one if its halves belong together.
func (k *Keeper) use(p pair) error {
	c, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		return k.explain(p, err)
	}
	if old := k.now.Swap(&c); old != nil && bytes.Equal(old.Leaf.Raw, c.Leaf.Raw) {
		return nil
	}
	if now := time.Now(); now.After(c.Leaf.NotAfter) || now.Before(c.Leaf.NotBefore) {
		k.cfg.Log.Warn("clients will refuse the certificate: this is not the time that it is valid for", "file", k.cfg.Cert,
			"valid_from", c.Leaf.NotBefore, "valid_until", c.Leaf.NotAfter)
	}
	if k.cfg.Changed != nil {
		k.cfg.Changed(c.Leaf)
	}
	return nil
}

// explain returns the error of a pair in words of the settings.
func (k *Keeper) explain(p pair, err error) error {
	switch block, _ := pem.Decode(p.key); {
	case firstBlock(p.cert, "CERTIFICATE") == nil:
		return fmt.Errorf("setting tls_cert: %s holds no certificate in PEM", k.cfg.Cert)
	case block == nil:
		return fmt.Errorf("setting tls_key: %s holds no private key in PEM", k.cfg.Key)
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return fmt.Errorf("setting tls_key: the private key in %s is protected by a passphrase; write it without one, readable by the service alone", k.cfg.Key)
	case strings.Contains(err.Error(), "does not match"):
		return fmt.Errorf("setting tls_key: the private key in %s does not fit the certificate in %s (setting tls_cert); the certificate of the service comes first in its file", k.cfg.Key, k.cfg.Cert)
	}
	return fmt.Errorf("settings tls_cert and tls_key: %s and %s can't be used: %s", k.cfg.Cert, k.cfg.Key, strings.TrimPrefix(err.Error(), "tls: "))
}

// firstBlock returns the first block of that type, nil for none.
func firstBlock(text []byte, kind string) *pem.Block {
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil || b.Type == kind {
			return b
		}
	}
}

func (k *Keeper) read() (p pair, err error) {
	if p.cert, err = readFile(k.cfg.Cert); err != nil {
		return p, fmt.Errorf("setting tls_cert: %w", err)
	}
	if p.key, err = readFile(k.cfg.Key); err != nil {
		return p, fmt.Errorf("setting tls_key: %w", err)
	}
	return p, nil
}

// maxFile is how many bytes a file may have; chains of certificates have some ten thousand.
const maxFile = 1 << 20

// readFile reads a file that is one: a pipe could keep a handshake waiting for ever.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, plain(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, plain(name, err)
	}
	defer func() { _ = f.Close() }() // only read
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		return nil, fmt.Errorf("%s is larger than any certificate or key", name)
	}
	return raw, err
}

func plain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the file %s can't be read by the user that runs the service", name)
	}
	return err
}

// Names returns what a certificate is for: names, addresses, or the common name of old ones.
func Names(c *x509.Certificate) []string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 && c.Subject.CommonName != "" {
		names = append(names, c.Subject.CommonName)
	}
	return names
}
