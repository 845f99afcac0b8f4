package guide

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"quarry/internal/provider/scripted"
	"quarry/internal/testkit"
)

// TestProxies proves that what the page on deployment has for nginx and Caddy lets through what a service needs: a stream
// arrives while the model still writes, a file of 8 MB is taken, and an id with a slash is found.
func TestProxies(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(root + "/docs/guide/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		tool, language string
		start          func(t *testing.T, page, address, upstream string) (scheme string)
	}{
		{"nginx", "nginx", nginx}, {"caddy", "caddyfile", caddy},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			t.Parallel()
			Needs(t, tc.tool)
			block := regexp.MustCompile("(?s)```" + tc.language + "\n(.*?)```").FindSubmatch(raw)
			if block == nil {
				t.Fatalf("the page has no block of %s", tc.language)
			}
			p, address := testkit.StartBinary(t, t.TempDir()), freeAddress(t)
			c := p.Client()
			c.URL = tc.start(t, string(block[1]), address, p.URL) + "://" + address
			c.HTTP = &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			await(t, c)
			c.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "tides"})
			c.Must(t, http.StatusCreated, "POST", "/v2/corpora/tides/documents", map[string]any{
				"type": "core", "id": "a/b", "document_parts": []any{map[string]any{"text": "The tide comes at nine."}},
			})
			c.Must(t, http.StatusOK, "GET", "/v2/corpora/tides/documents/a%2Fb", nil)
			upload(t, c, 8<<20)
			stream(t, c)
		})
	}
}

// nginx starts it with the page's server on address.
func nginx(t *testing.T, page, address, upstream string) string {
	dir := t.TempDir()
	cert, key := testkit.Certificate(t, "localhost")
	text := exchange(t, page,
		"listen 443 ssl", "listen "+address+" ssl", "http://127.0.0.1:8080", upstream,
		"/etc/letsencrypt/live/search.example.com/fullchain.pem", write(t, dir, "cert.pem", cert),
		"/etc/letsencrypt/live/search.example.com/privkey.pem", write(t, dir, "key.pem", key))
	var temporary strings.Builder
	for _, of := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path %s;\n", of, filepath.Join(dir, of))
	}
	conf := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", filepath.Join(dir, "pid"), &temporary, text)
	run(t, dir, "nginx", "-p", dir, "-c", write(t, dir, "nginx.conf", []byte(conf)), "-e", "stderr")
	return "https"
}

// caddy starts it with the page's site, in clear, on address.
func caddy(t *testing.T, page, address, upstream string) string {
	dir := t.TempDir()
	text := exchange(t, page, "search.example.com", "http://"+address, "127.0.0.1:8080", strings.TrimPrefix(upstream, "http://"))
	run(t, dir, "caddy", "run", "--adapter", "caddyfile", "--config", write(t, dir, "Caddyfile", []byte("{\nadmin off\n}\n"+text)))
	return "http"
}

// exchange replaces texts of a page, each of which must be there.
func exchange(t *testing.T, page string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(page, pairs[i]) {
			t.Fatalf("the page lacks %q", pairs[i])
		}
		page = strings.ReplaceAll(page, pairs[i], pairs[i+1])
	}
	return page
}

func write(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run starts a program that ends with the test and keeps what is its own in dir.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr, cmd.Stdout, cmd.Env = &log, &log, append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", name, &log)
		}
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// await returns when the service answers through the proxy.
func await(t *testing.T, c *testkit.Client) {
	t.Helper()
	var last error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		status, _, err := c.Do("GET", "/healthz", nil)
		if err == nil && status == http.StatusOK {
			return
		}
		last = err
	}
	t.Fatalf("the proxy does not answer: %v", last)
}

func upload(t *testing.T, c *testkit.Client, size int) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "big.html")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte("<p>Ebb.<!--" + strings.Repeat("x", size) + "-->")) // much to send, little to encode
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	res := send(t, c, "/v2/corpora/tides/upload_file", form.FormDataContentType(), &body)
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusCreated {
		t.Fatalf("the upload is answered with %d: %.300s", res.StatusCode, answer)
	}
}

// stream asks for a streamed answer of a model that holds back its second half until the first has arrived here.
func stream(t *testing.T, c *testkit.Client) {
	t.Helper()
	model, gate := scripted.Start(t), scripted.NewGate()
	model.Model("slow", scripted.Reply{Text: "OK"})
	c.Must(t, http.StatusCreated, "POST", "/v2/llms", map[string]any{"type": "openai-compatible", "name": "slow", "model": "slow", "uri": model.URL + "/v1/chat/completions"})
	model.Model("slow", scripted.Reply{Pieces: []string{"It comes ", "at nine [1]."}, Between: gate})
	res := send(t, c, "/v2/corpora/tides/query", "application/json", strings.NewReader(
		`{"query": "When does the tide come?", "search": {}, "stream_response": true, "generation": {"model_parameters": {"llm_name": "slow"}}}`))
	defer res.Body.Close()
	held, all := true, ""
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		all += lines.Text() + "\n"
		if held && strings.Contains(all, "It comes") {
			held = false
			gate.Open()
		}
	}
	if held || !strings.Contains(all, "nine") {
		t.Errorf("the stream was\n%s", all)
	}
}

func send(t *testing.T, c *testkit.Client, path, kind string, body io.Reader) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", c.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", c.Key)
	req.Header.Set("Content-Type", kind)
	res, err := c.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
