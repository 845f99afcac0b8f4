package binary

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"quarry/internal/testkit"
)

// certificateFiles writes a certificate for the names, and its key, into dir.
func certificateFiles(t *testing.T, dir string, names ...string) (cert, key string) {
	t.Helper()
	c, k := testkit.Certificate(t, names...)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, cert, c)
	write(t, key, k)
	return cert, key
}

// quarry runs a command that ends by itself.
func quarry(t *testing.T, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, testkit.Binary(t), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// says fails unless a command has ended with that code and printed word, on either stream.
func says(t *testing.T, got outcome, code int, word string) {
	t.Helper()
	if got.code != code || !strings.Contains(got.out+got.err, word) {
		t.Errorf("it exits with %d and prints %q%q, want %d and %q", got.code, got.out, got.err, code, word)
	}
}

// https starts a service with a certificate and returns its process, whose URL is https.
func https(t *testing.T, dir, cert, key string) *testkit.Process {
	t.Helper()
	return testkit.StartWith(t, dir, nil, "--data", dir, "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
}

// TestHTTPS proves that commands reach a service that encrypts: those with its data folder whatever its certificate
// says, those from elsewhere by its CA and one of its names alone; each refusal names what helps.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	dir, certs := t.TempDir(), t.TempDir()
	cert, key := certificateFiles(t, certs, "localhost")
	p := https(t, dir, cert, key)
	if got := strings.TrimSpace(string(read(t, filepath.Join(dir, "address")))); got != p.URL || !strings.HasPrefix(got, "https://127.0.0.1:") {
		t.Errorf("the address file says %q, want %q", got, p.URL)
	}
	if info, err := os.Stat(filepath.Join(dir, "address.pem")); err != nil || info.Mode() != 0o600 {
		t.Errorf("the certificate in the data folder: %v, %v", info, err)
	}
	local, elsewhere := "--data="+dir, []string{"--data=" + t.TempDir(), "--key=" + p.Key}
	byName := "--url=" + strings.Replace(p.URL, "127.0.0.1", "localhost", 1)
	list := func(args ...string) outcome { return quarry(t, append([]string{"corpus", "list"}, args...)...) }
	says(t, list(local), 0, "no corpora yet")
	says(t, list(append(elsewhere, byName, "--ca="+cert)...), 0, "no corpora yet")
	says(t, list(append(elsewhere, byName)...), 6, "--ca")
	says(t, list(append(elsewhere, "--url="+p.URL, "--ca="+cert)...), 6, "is for localhost, not for 127.0.0.1")
	says(t, list(local, "--url="+p.URL), 6, "not for 127.0.0.1")
	says(t, list(append(elsewhere, byName, "--ca="+key)...), 2, "holds no certificate")
	says(t, list(append(elsewhere, byName, "--ca="+filepath.Join(dir, "none"))...), 2, "--ca")
	says(t, list(append(elsewhere, "--url="+strings.Replace(p.URL, "https", "http", 1))...), 1, "https://")

	other := t.TempDir()
	stranger, _ := certificateFiles(t, other, "localhost")
	says(t, list(append(elsewhere, byName, "--ca="+stranger)...), 6, "--ca")
	write(t, filepath.Join(dir, "address.pem"), read(t, stranger))
	says(t, list(local), 6, "the certificate of https://127.0.0.1")

	plain := testkit.StartBinary(t, other)
	says(t, list("--data="+other, "--url="+strings.Replace(plain.URL, "http", "https", 1)), 6, "begin its address with http://")
	mustStop(t, p)
	if _, err := os.Stat(filepath.Join(dir, "address.pem")); err == nil {
		t.Error("a service that has ended leaves its certificate")
	}
}

// TestRenewedCertificate proves that a running service shows a new certificate to new connections while the old ones go
// on, that commands on its data folder follow, and that a pair that does not fit changes nothing and is told of.
func TestRenewedCertificate(t *testing.T) {
	t.Parallel()
	dir, certs := t.TempDir(), t.TempDir()
	cert, key := certificateFiles(t, certs, "old.example")
	p := https(t, dir, cert, key)
	port := strings.TrimPrefix(p.URL, "https://")
	connect := func() *tls.Conn {
		c, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", port)
		if err != nil {
			t.Fatal(err)
		}
		return c.(*tls.Conn)
	}
	shown := func() *x509.Certificate {
		c := connect()
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0]
	}
	await := func(what string, done func() bool) {
		for begun := time.Now(); !done(); time.Sleep(50 * time.Millisecond) {
			if time.Since(begun) > patience {
				t.Fatalf("no handshake shows %s\n%s", what, p.Log())
			}
		}
	}
	long := connect()
	defer long.Close()
	stranger, _ := testkit.Certificate(t, "new.example")
	write(t, cert, stranger)
	await("the complaint", func() bool { return shown() != nil && strings.Contains(p.Log(), "does not fit") })
	if got := shown().DNSNames[0]; got != "old.example" {
		t.Errorf("after a bad change it shows %s", got)
	}
	certificateFiles(t, certs, "new.example")
	await("the new certificate", func() bool { return shown().DNSNames[0] == "new.example" })
	if _, err := io.WriteString(long, "GET /healthz HTTP/1.1\r\nHost: q\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if res, err := http.ReadResponse(bufio.NewReader(long), nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the connection from before answers %v, %v", res, err)
	}
	says(t, quarry(t, "corpus", "list", "--data", dir), 0, "no corpora yet")
}

// TestListenForms proves what a start prints about where it listens, and that it warns where keys travel in clear.
func TestListenForms(t *testing.T) {
	t.Parallel()
	const warning = "keys and documents travel in clear"
	cert, key := certificateFiles(t, t.TempDir(), "localhost")
	for _, tc := range []struct {
		listen      string
		args        []string
		url         string
		all, warned bool
	}{
		{"0", nil, "http://127.0.0.1:", false, false},
		{"localhost:0", nil, "http://127.0.0.1:", false, false},
		{"0.0.0.0:0", nil, "http://127.0.0.1:", true, true},
		{":0", nil, "http://127.0.0.1:", true, true},
		{"0.0.0.0:0", []string{"--tls-cert", cert, "--tls-key", key}, "https://127.0.0.1:", true, false},
	} {
		dir := t.TempDir()
		p := testkit.StartWith(t, dir, []string{"QUARRY_LISTEN=" + tc.listen}, append(tc.args, "--data", dir)...)
		mustStop(t, p)
		if !strings.HasPrefix(p.URL, tc.url) {
			t.Errorf("%s %q: it serves %s, want %s", tc.listen, tc.args, p.URL, tc.url)
		}
		if got := strings.Contains(p.Log(), "every interface"); got != tc.all {
			t.Errorf("%s %q: it says that it listens everywhere: %t", tc.listen, tc.args, got)
		}
		warnings := 0
		if tc.warned {
			warnings = 1
		}
		if got := strings.Count(p.Log(), warning); got != warnings {
			t.Errorf("%s %q: it warns %d times, want %d:\n%s", tc.listen, tc.args, got, warnings, p.Log())
		}
	}
}

// TestListenRefused proves that an address that can't be is wrong usage and not a taken port.
func TestListenRefused(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"localhost", "127.0.0.1:70000", "::1", "http://127.0.0.1:9000", "127.0.0.1:", "no-such-host.invalid:9000"} {
		refused(t, serve(t, nil, "--data", t.TempDir(), "--listen", listen), 2, "setting listen")
	}
}

// awaitLog waits until a service has printed a text.
func awaitLog(t *testing.T, p *testkit.Process, text string) {
	t.Helper()
	for begun := time.Now(); !strings.Contains(p.Log(), text); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("it does not print %q:\n%s", text, p.Log())
		}
	}
}

// TestStopSaysSo proves that a service that stops says what it waits for and that it has stopped, and that a second
// signal ends it at once.
func TestStopSaysSo(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*testkit.Process, *wire) {
		p := testkit.StartBinary(t, t.TempDir())
		c := dial(t, p)
		c.begin(t, "POST", "/v2/corpora", "application/json", 11) // the handler reads now
		if err := syscall.Kill(p.PID(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		awaitLog(t, p, "stopping: waiting for 1 request; Ctrl-C again ends at once\n")
		return p, c
	}
	t.Run("one signal", func(t *testing.T) {
		t.Parallel()
		p, c := begin(t)
		c.send(t, []byte(`{"key":"c"}`))
		if status, text := c.answer(t); status != http.StatusCreated {
			t.Errorf("the request in flight is answered %d: %s", status, text)
		}
		if err := p.Wait(); err != nil || !strings.HasSuffix(p.Log(), "stopped\n") {
			t.Errorf("it ends with %v and prints\n%s", err, p.Log())
		}
	})
	t.Run("two signals", func(t *testing.T) {
		t.Parallel()
		p, _ := begin(t)
		if err := syscall.Kill(p.PID(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := p.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
			t.Errorf("it ends with %v, want by the signal\n%s", err, p.Log())
		}
	})
	t.Run("nothing in flight", func(t *testing.T) {
		t.Parallel()
		p := testkit.StartBinary(t, t.TempDir())
		mustStop(t, p)
		if !strings.HasSuffix(p.Log(), "stopping\nstopped\n") {
			t.Errorf("it prints\n%s", p.Log())
		}
	})
}

// TestTerminalLog proves that a terminal shows requests only to those who ask for them, and any other log shows them.
func TestTerminalLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{nil, false}, {[]string{"--log", "requests"}, true}, {[]string{"--log", "warnings"}, false},
	} {
		dir := t.TempDir()
		cmd := exec.Command(testkit.Binary(t), append(append([]string{"serve"}, on(dir)...), tc.args...)...)
		terminal, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(terminal)
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Get(strings.TrimSpace(strings.TrimPrefix(line, "Quarry serves ")) + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if _, err := terminal.WriteString("\x03"); err != nil { // Ctrl-C
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(in) // ends with an error when the terminal closes
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: it ends with %v", tc.args, err)
		}
		_ = terminal.Close()
		if got := strings.Contains(string(rest), "/healthz"); got != tc.want {
			t.Errorf("%q: the terminal shows the request: %t, want %t:\n%s", tc.args, got, tc.want, rest)
		}
		if !strings.Contains(string(rest), "stopped") {
			t.Errorf("%q: it does not say that it stopped:\n%s", tc.args, rest)
		}
	}
	p := testkit.StartBinary(t, t.TempDir()) // whose log is no terminal
	mustStop(t, p)
	if !strings.Contains(p.Log(), "route=/healthz") {
		t.Errorf("a log that is no terminal lacks the request:\n%s", fmt.Sprint(p.Log()))
	}
}
