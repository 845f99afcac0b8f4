package certificate_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/httpapi/certificate"
	"quarry/internal/testkit"
)

// files are a certificate and its key on disk.
type files struct{ cert, key string }

func put(t *testing.T, name string, raw []byte) string {
	t.Helper()
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func issue(t *testing.T, dir, host string) files {
	t.Helper()
	cert, key := testkit.Certificate(t, host)
	return files{put(t, filepath.Join(dir, "cert.pem"), cert), put(t, filepath.Join(dir, "key.pem"), key)}
}

// watched is a keeper that looks at its files at every handshake.
type watched struct {
	*certificate.Keeper
	log     bytes.Buffer
	changes []string
}

func open(t *testing.T, f files) *watched {
	t.Helper()
	w := &watched{}
	var err error
	w.Keeper, err = certificate.Open(certificate.Config{
		Cert: f.cert, Key: f.key, Every: 1, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Changed: func(leaf *x509.Certificate) { w.changes = append(w.changes, leaf.Subject.CommonName) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// shown shakes hands and returns the name of the certificate that a client sees.
func (w *watched) shown(t *testing.T) string {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	server := tls.Server(a, w.TLS())
	done := make(chan error, 1)
	go func() { done <- server.HandshakeContext(t.Context()) }()
	client := tls.Client(b, &tls.Config{InsecureSkipVerify: true})
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return client.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// TestRenewal proves that each way in which a certificate is replaced shows at the next handshake: written over, moved
// into place, and by links that are swapped, as certbot does it for files and Kubernetes for the folder of both.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		first func(t *testing.T, dir string) files
		swap  func(t *testing.T, dir string)
	}{
		{"written over", func(t *testing.T, dir string) files { return issue(t, dir, "old") }, func(t *testing.T, dir string) { issue(t, dir, "new") }},
		{"moved into place", func(t *testing.T, dir string) files { return issue(t, dir, "old") }, func(t *testing.T, dir string) {
			f := issue(t, t.TempDir(), "new")
			move(t, f.cert, filepath.Join(dir, "cert.pem"))
			move(t, f.key, filepath.Join(dir, "key.pem"))
		}},
		{"links of files", func(t *testing.T, dir string) files {
			return linked(t, dir, issue(t, t.TempDir(), "old"))
		}, func(t *testing.T, dir string) { linked(t, dir, issue(t, t.TempDir(), "new")) }},
		{"link of the folder", func(t *testing.T, dir string) files {
			f := issue(t, t.TempDir(), "old")
			link(t, filepath.Dir(f.cert), filepath.Join(dir, "..data"))
			link(t, "..data/cert.pem", filepath.Join(dir, "cert.pem"))
			link(t, "..data/key.pem", filepath.Join(dir, "key.pem"))
			return files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
		}, func(t *testing.T, dir string) {
			link(t, filepath.Dir(issue(t, t.TempDir(), "new").cert), filepath.Join(dir, "..data"))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := open(t, tc.first(t, dir))
			if got := w.shown(t); got != "old" {
				t.Fatalf("it shows %s, want old", got)
			}
			tc.swap(t, dir)
			if got := w.shown(t); got != "new" {
				t.Errorf("after the swap it shows %s, want new", got)
			}
			if got := strings.Join(w.changes, " "); got != "old new" {
				t.Errorf("it told of %s, want old new", got)
			}
		})
	}
}

// TestBadRenewal proves that a new pair that can't be used leaves the old one in place and is told of once, that
// another reason is told of again, and that a good pair ends it.
func TestBadRenewal(t *testing.T) {
	t.Parallel()
	f := issue(t, t.TempDir(), "old")
	key := read(t, f.key)
	w := open(t, f)
	cert, newKey := testkit.Certificate(t, "new")
	put(t, f.cert, cert)
	for range 3 {
		if got := w.shown(t); got != "old" {
			t.Fatalf("it shows %s, want old", got)
		}
	}
	if n := strings.Count(w.log.String(), "does not fit"); n != 1 {
		t.Errorf("it says %d times that the key does not fit, want once:\n%s", n, &w.log)
	}
	if err := os.Remove(f.key); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := w.shown(t); got != "old" {
			t.Fatalf("without a key it shows %s, want old", got)
		}
	}
	if n := strings.Count(w.log.String(), "there is no file"); n != 1 {
		t.Errorf("it says %d times that the file is missing, want once:\n%s", n, &w.log)
	}
	put(t, f.key, newKey)
	if got := w.shown(t); got != "new" {
		t.Errorf("it shows %s, want new", got)
	}
	if strings.Contains(w.log.String(), string(key[40:80])) {
		t.Error("the log holds the key")
	}
}

// TestOpenRefused proves that a pair that can't be used refuses the start, naming the setting and the reason.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	f, other := issue(t, t.TempDir(), "a"), issue(t, t.TempDir(), "b")
	dir := t.TempDir()
	empty := put(t, filepath.Join(dir, "empty"), nil)
	locked := put(t, filepath.Join(dir, "locked"), pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")}))
	huge := put(t, filepath.Join(dir, "huge"), make([]byte, 2<<20))
	for _, tc := range []struct{ name, cert, key, want string }{
		{"another's key", f.cert, other.key, "tls_key: the private key in " + other.key + " does not fit the certificate in " + f.cert},
		{"no certificate file", filepath.Join(dir, "none"), f.key, "tls_cert: there is no file"},
		{"no key file", f.cert, filepath.Join(dir, "none"), "tls_key: there is no file"},
		{"swapped", f.key, f.cert, "tls_cert: " + f.key + " holds no certificate"},
		{"empty certificate", empty, f.key, "tls_cert: " + empty + " holds no certificate"},
		{"empty key", f.cert, empty, "tls_key: " + empty + " holds no private key"},
		{"passphrase", f.cert, locked, "passphrase"},
		{"folder", dir, f.key, "tls_cert: " + dir + " is not a regular file"},
		{"huge", huge, f.key, "larger than any certificate"},
	} {
		_, err := certificate.Open(certificate.Config{Cert: tc.cert, Key: tc.key, Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func move(t *testing.T, from, to string) {
	t.Helper()
	put(t, to+".new", read(t, from))
	if err := os.Rename(to+".new", to); err != nil {
		t.Fatal(err)
	}
}

// link replaces name by a link to another file in one step, also where it is a link already.
func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

func linked(t *testing.T, dir string, f files) files {
	t.Helper()
	out := files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	link(t, f.cert, out.cert)
	link(t, f.key, out.key)
	return out
}
