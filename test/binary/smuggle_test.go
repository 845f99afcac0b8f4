package binary

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"quarry/internal/api"
	"quarry/internal/testkit"
)

// TestSmuggling proves that no header but the two documented ones identifies the caller, that one sent twice is refused,
// and that no header changes the method, the path or the address that counts.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	p := testkit.StartBinary(t, t.TempDir())
	createCorpus(t, p.Client(), "s")
	key, wrong := "x-api-key: "+p.Key+"\r\n", "x-api-key: zut_wrong\r\n"
	bearer := "Authorization: Bearer " + p.Key + "\r\n"
	const get, host = "GET /v2/corpora/s HTTP/1.1\r\n", "Host: q\r\n"
	for _, tc := range []struct {
		name, text string
		status     int
	}{
		{"one key", get + host + key, 200},
		{"a key folded over two lines", get + host + "x-api-key: " + p.Key[:10] + "\r\n " + p.Key[10:] + "\r\n", 401},
		{"two keys, the right one first", get + host + key + wrong, 401},
		{"two keys, the wrong one first", get + host + wrong + key, 401},
		{"two keys, one empty", get + host + "x-api-key:\r\n" + key, 401},
		{"two keys in one header", get + host + "x-api-key: " + p.Key + ", zut_wrong\r\n", 401},
		{"the same key twice", get + host + key + key, 401},
		{"two keys of other case", get + host + "X-API-KEY: zut_wrong\r\n" + key, 401},
		{"a bearer", get + host + bearer, 200},
		{"two bearers", get + host + bearer + "Authorization: Bearer x\r\n", 401},
		{"two bearers, the wrong one first", get + host + "authorization: Bearer x\r\n" + bearer, 401},
		{"two bearers in one header", get + host + "Authorization: Bearer " + p.Key + ", Bearer x\r\n", 401},
		{"a wrong key before a right bearer", get + host + wrong + bearer, 401},
		{"a key with a CR", get + host + "x-api-key: " + p.Key + "\rx-evil: 1\r\n", 400},
		{"a key with a lone LF", get + host + "x-api-key: zut_wrong\nx-api-key: " + p.Key + "\r\n", 401},
		{"a key under a name with an underscore", get + host + "x_api_key: " + p.Key + "\r\n", 401},
		{"a key under a name with a blank", get + host + "x-api-key : " + p.Key + "\r\n", 400},
		{"a key in a cookie", get + host + "Cookie: x-api-key=" + p.Key + "\r\n", 401},
		{"a key in the query", "GET /v2/corpora/s?x-api-key=" + p.Key + "&api_key=" + p.Key + " HTTP/1.1\r\n" + host, 401},
		{"a key as Basic", get + host + "Authorization: Basic " + p.Key + "\r\n", 401},
		{"a user of a proxy", get + host + "X-Forwarded-User: owner\r\nX-Remote-User: owner\r\nX-Forwarded-For: 127.0.0.1\r\n", 401},
		{"another method", get + host + key + "X-HTTP-Method-Override: DELETE\r\nX-HTTP-Method: DELETE\r\nX-Method-Override: DELETE\r\n", 200},
		{"another method in the query", "GET /v2/corpora/s?_method=DELETE HTTP/1.1\r\n" + host + key, 200},
		{"another path", "GET /v2/corpora/none HTTP/1.1\r\n" + host + key + "X-Original-URL: /v2/corpora/s\r\nX-Rewrite-URL: /v2/corpora/s\r\nX-Forwarded-Prefix: /v2\r\n", 404},
		{"a public path over a private one", get + host + "X-Original-URL: /healthz\r\nX-Rewrite-URL: /healthz\r\n", 401},
		{"an absolute target", "GET http://evil.test/v2/corpora/s HTTP/1.1\r\n" + host + key, 200},
		{"an absolute target without a key", "GET http://evil.test/v2/corpora/s HTTP/1.1\r\n" + host, 401},
		{"an absolute target with a user", "GET http://owner:" + p.Key + "@q/v2/corpora/s HTTP/1.1\r\n" + host, 401},
		{"an absolute target of another scheme", "GET file:///etc/passwd HTTP/1.1\r\n" + host + key, 404},
		{"an absolute target without a path", "GET http://q HTTP/1.1\r\n" + host + key, 404},
		{"a host with a path", get + "Host: q/../evil\r\n" + key, 400},
		{"a host with a user", get + "Host: owner@q\r\n" + key, 400},
		{"no host in the old version", "GET /v2/corpora/s HTTP/1.0\r\n" + key, 200},
		{"every path at once", "OPTIONS * HTTP/1.1\r\n" + host + key, 404},
		{"an expectation", get + host + key + "Expect: 200-ok\r\n", 417},
		{"upgrade to HTTP/2", get + host + key + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", 200},
		{"the key dropped by Connection", get + host + key + "Connection: x-api-key, close\r\n", 200},
		{"1,000 headers", get + host + key + many(1000), 200},
		{"30,000 headers", get + host + key + many(30_000), 431},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := dial(t, p)
			_, _ = io.WriteString(w, tc.text+"\r\n") // the server may have had enough before the end
			res, err := http.ReadResponse(w.in, nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != tc.status {
				t.Errorf("it answers %d, want %d: %.300s (%v)", res.StatusCode, tc.status, body, err)
			}
			guarded(t, res)
			if strings.Contains(string(body), p.Key) || strings.Contains(string(body), "evil") {
				t.Errorf("the answer repeats what it must not: %.300s", body)
			}
		})
	}
	p.Client().Must(t, http.StatusOK, "GET", "/v2/corpora/s", nil)
	if status, answer := raw(t, p, "DELETE", "/v2/corpora/none2", nil, map[string]string{"x-api-key": "zut_wrong", "X-Forwarded-For": "198.51.100.7", "Forwarded": "for=198.51.100.7"}); status != 401 {
		t.Fatalf("%d %s", status, answer)
	}
	if got := fmt.Sprint(p.Client().Must(t, http.StatusOK, "GET", "/v2/audit_events?action=deleteCorpus", nil)); strings.Contains(got, "198.51.100.7") || !strings.Contains(got, "address:127.0.0.1") {
		t.Errorf("the address of a stranger's header is believed: %s", got)
	}
	if strings.Contains(p.Log(), p.Key) {
		t.Error("the key stands in the log")
	}
}

// many returns n short headers.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x-h%d: v\r\n", i)
	}
	return b.String()
}

// guarded checks the headers that every answer has.
func guarded(t *testing.T, res *http.Response) {
	t.Helper()
	h := res.Header
	if h.Get("Cache-Control") != "no-store" || h.Get("CDN-Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || len(h.Get("X-Request-Id")) != 32 {
		t.Errorf("answer %d lacks a header: %v", res.StatusCode, h)
	}
	for name := range h {
		if strings.Contains(strings.ToLower(name), "evil") || name == "Set-Cookie" {
			t.Errorf("answer %d has the header %s", res.StatusCode, name)
		}
	}
}

// TestTwoLengths proves that what follows a body with two contradicting lengths is never taken for a request:
// a proxy before the service may have told the end by the other way.
func TestTwoLengths(t *testing.T) {
	t.Parallel()
	p := testkit.StartBinary(t, t.TempDir())
	key := "x-api-key: " + p.Key + "\r\n"
	const head = "POST /v2/corpora HTTP/1.1\r\nHost: q\r\nContent-Type: application/json\r\n"
	inner := head + key + "Content-Length: 18\r\n\r\n{\"key\":\"smuggled\"}"
	for _, tc := range []struct{ name, text string }{
		{"length, then chunks", head + key + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner},
		{"chunks, then length", head + key + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + inner},
		{"chunks in another case", head + key + "Transfer-Encoding: cHuNkEd\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + inner},
		{"chunks twice", head + key + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner},
		{"chunks behind another encoding", head + key + "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n" + inner},
		{"chunks with a tab", head + key + "Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + inner},
		{"two lengths", head + key + "Content-Length: 2\r\nContent-Length: 200\r\n\r\n{}" + inner},
		{"a length with a plus", head + key + "Content-Length: +2\r\n\r\n{}" + inner},
		{"a length in hex", head + key + "Content-Length: 0x2\r\n\r\n{}" + inner},
		{"a list of lengths", head + key + "Content-Length: 2, 200\r\n\r\n{}" + inner},
		{"a chunk with a negative size", head + key + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + inner},
		{"a chunk without an end", head + key + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}" + inner},
		{"a chunk ended by a lone LF", head + key + "Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n" + inner},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := dial(t, p)
			_, _ = io.WriteString(w, tc.text) // the server may have had enough before the end
			_ = w.Conn.(*net.TCPConn).CloseWrite()
			answers := 0
			for {
				res, err := http.ReadResponse(w.in, nil)
				if err != nil {
					break
				}
				if _, err := new(bytes.Buffer).ReadFrom(res.Body); err != nil {
					break
				}
				answers++
				if res.StatusCode < 400 {
					t.Errorf("it answers %d", res.StatusCode)
				}
			}
			if answers > 1 {
				t.Errorf("%d answers to one request", answers)
			}
		})
	}
	p.Client().Must(t, http.StatusNotFound, "GET", "/v2/corpora/smuggled", nil)
}

// TestHostileNames proves that in the path of every operation names that nothing can have are refused with the
// contract's error, whatever they contain, and that none of them leads elsewhere.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	p := testkit.StartBinary(t, t.TempDir())
	names := []string{
		"%00", "a%00b", "..", ".", "%2e%2e", "%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%2fowner.key", "%2e%2e%5c", "..%5c..",
		"%252e%252e%252f", "%c0%ae%c0%ae%c0%af", "%e0%80%ae", "%f0%80%80%af", "%ff%fe", "%ed%a0%80", "%0d%0aX-Evil:%20yes", "%0aSet-Cookie:%20a=b", "%20", "%09",
		"a;b=c", "*", "'%20OR%20'1'='1", "%25", "%3c%73cript%3e", "%e2%80%ae", "${jndi:ldap://x}", "{{7*7}}", "\x80", "é", strings.Repeat("n", 10<<10),
		strings.Repeat("%00", 3000), strings.Repeat("%F0%9F%98%80", 800), "%", "%zz", "%u0041", "a b", "a\x00b", "a\tb", "a\x7fb", "a\"b", "a\\b",
	}
	w, asked := dial(t, p), 0
	for i := range api.Operations {
		op := &api.Operations[i]
		if !strings.Contains(op.Path, "{") {
			continue
		}
		for _, name := range names {
			asked++
			again := askHostile(t, w, p, op, name)
			if !again {
				w = dial(t, p)
			}
		}
	}
	if asked < 1000 {
		t.Errorf("%d requests, at least 1,000 were meant", asked)
	}
	mustStop(t, p)
	for _, bad := range []string{"panic", "level=ERROR", "status=500"} {
		if log := p.Log(); strings.Contains(log, bad) {
			t.Errorf("the log says %s: %.2000s", bad, log[strings.Index(log, bad):])
		}
	}
}

// askHostile sends a request with name for every parameter of the path; again reports whether the connection goes on.
func askHostile(t *testing.T, w *wire, p *testkit.Process, op *api.Operation, name string) (again bool) {
	t.Helper()
	segments := strings.Split(op.Path, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			segments[i] = name
		}
	}
	path := strings.Join(segments, "/")
	if _, err := fmt.Fprintf(w, "%s %s HTTP/1.1\r\nHost: q\r\nx-api-key: %s\r\nContent-Length: 2\r\n\r\n{}", op.Method, path, p.Key); err != nil {
		t.Fatalf("%s %.60q: %v", op.ID, name, err)
	}
	res, err := http.ReadResponse(w.in, &http.Request{Method: op.Method})
	if err != nil {
		t.Fatalf("%s %.60q: no answer: %v", op.ID, name, err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %.60q: half an answer: %v", op.ID, name, err)
	}
	if (res.StatusCode < 400 || res.StatusCode >= 500) && res.StatusCode != http.StatusNotImplemented {
		t.Errorf("%s %.60q: it answers %d: %.200s", op.ID, name, res.StatusCode, body)
	}
	if !bytes.Contains(body, []byte(`"request_id"`)) || len(body) > 32<<10 || bytes.Contains(body, []byte("root:")) {
		t.Errorf("%s %.60q: %d with %d bytes that are not the contract's error: %.200s", op.ID, name, res.StatusCode, len(body), body)
	}
	guarded(t, res)
	return !res.Close
}

// TestSlowHeaders proves that clients which never finish their headers are cut off, and that meanwhile others are served.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	p := testkit.StartBinary(t, t.TempDir())
	slow := make([]*wire, 200)
	for i := range slow {
		slow[i] = dial(t, p)
		slow[i].send(t, []byte("GET /v2/corpora HTTP/1.1\r\nHost: q\r\nx-slow: "))
	}
	p.Client().Must(t, http.StatusOK, "GET", "/v2/corpora", nil)
	for _, w := range slow {
		if err := w.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil { // so that a failure ends
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(w.in); err != nil || len(rest) > 0 && !bytes.HasPrefix(rest, []byte("HTTP/1.1 4")) {
			t.Fatalf("a client that sends nothing more is not cut off: %q, %v", rest, err)
		}
	}
}
