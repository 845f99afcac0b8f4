package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/httpapi"
	"quarry/internal/usage"
)

const queryBody = `{"query":"x","search":{"corpora":[{"corpus_key":"mine"}]}}`

// TestRateLimit proves that a credential beyond its rate gets 429 with a time to wait, before its role is looked at and
// never before it is authenticated, that others do not notice, and that health needs no allowance.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := startLimited(t, area{"listCorpora": seen}, httpapi.Limits{Rate: usage.NewRate(1, 2)})
	began := time.Now()
	for i, c := range []struct {
		key, path     string
		status        int
		code          string
		left, aheadOf string
	}{
		{ownerKey, "/v2/corpora", 200, "", "1", ""},
		{ownerKey, "/v2/corpora", 200, "", "0", ""},
		{ownerKey, "/v2/corpora", 429, "rate_limit_exceeded", "0", "an answer"},
		{ownerKey, "/v2/corpora?limit=0", 429, "rate_limit_exceeded", "0", "400"},
		{ownerKey, "/v2/glossaries", 429, "rate_limit_exceeded", "0", "501"},
		{noneKey, "/v2/corpora", 403, "forbidden", "1", ""},
		{noneKey, "/v2/corpora", 403, "forbidden", "0", ""},
		{noneKey, "/v2/corpora", 429, "rate_limit_exceeded", "0", "403"},
		{viewerKey, "/v2/corpora", 403, "forbidden", "1", ""},
		{"wrong", "/v2/corpora", 401, "unauthorized", "", ""},
		{"wrong", "/v2/corpora", 401, "unauthorized", "", ""},
		{"wrong", "/v2/corpora", 401, "unauthorized", "", ""},
		{ownerKey, "/healthz", 200, "", "", ""},
	} {
		got := s.ask(t, "GET", c.path, "", "X-Api-Key: "+c.key)
		if got.StatusCode != c.status || got.body.Code != c.code {
			t.Fatalf("request %d: %d %s, want %d before %s", i, got.StatusCode, got.raw, c.status, c.aheadOf)
		}
		if left := got.Header.Get("X-RateLimit-Remaining"); left != c.left {
			t.Errorf("request %d: X-RateLimit-Remaining is %q, want %q", i, left, c.left)
		}
		if after := got.Header.Get("Retry-After"); (after == "1") != (c.status == 429) {
			t.Errorf("request %d: Retry-After is %q", i, after)
		}
		if c.left == "" {
			continue
		}
		reset, err := strconv.ParseInt(got.Header.Get("X-RateLimit-Reset"), 10, 64)
		if err != nil || time.Unix(reset, 0).Before(began) || time.Unix(reset, 0).After(time.Now().Add(3*time.Second)) {
			t.Errorf("request %d: X-RateLimit-Reset is %q, %v", i, got.Header.Get("X-RateLimit-Reset"), err)
		}
	}
}

// doors is an expensive operation whose calls stay in until they are let out.
type doors struct{ in, out chan string }

func openDoors() doors { return doors{make(chan string), make(chan string)} }

func (d doors) handle(w http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // a stream: the answer has begun
	d.in <- r.Header.Get("X-Name")
	select {
	case <-d.out:
	case <-r.Context().Done():
	}
	return nil
}

func calls() httpapi.Limits {
	return httpapi.Limits{Calls: usage.NewGate(usage.Bounds{PerCaller: 1, Waiting: 1, Wait: time.Minute, Noun: "queries"})}
}

// inLine waits until n calls stand in line.
func inLine(l httpapi.Limits, n int) {
	for l.Calls.Load().Waiting != n {
		runtime.Gosched()
	}
}

// TestExpensiveCalls proves that calls of one credential beyond its places stand in line and beyond the line get 429,
// that a stream holds its place to its end, that cheap calls and other credentials pass, and that what is wrong with a
// request is told before it has to wait.
func TestExpensiveCalls(t *testing.T) {
	t.Parallel()
	d, l := openDoors(), calls()
	s := startLimited(t, area{"query": d.handle, "listCorpora": seen, "createCorpusDocument": seen}, l)
	var done sync.WaitGroup
	send := func(name, key string) {
		done.Go(func() {
			if got := s.ask(t, "POST", "/v2/query", queryBody, "X-Name: "+name, "X-Api-Key: "+key); got.StatusCode != 200 {
				t.Errorf("%s: %d %s", name, got.StatusCode, got.raw)
			}
		})
	}
	send("first", ownerKey)
	<-d.in
	if got := s.ask(t, "POST", "/v2/query", queryBody, "Request-Timeout-Millis: 1"); got.StatusCode != 504 {
		t.Errorf("a deadline in line: %d %s, want 504", got.StatusCode, got.raw)
	}
	send("second", ownerKey)
	inLine(l, 1)
	refused := s.ask(t, "POST", "/v2/query", queryBody)
	if refused.StatusCode != 429 || refused.body.Code != "rate_limit_exceeded" || refused.Header.Get("Retry-After") != "1" || !strings.HasPrefix(refused.body.Messages[0], "RESOURCE_EXHAUSTED: ") {
		t.Errorf("the refusal is %s with Retry-After %q", refused.raw, refused.Header.Get("Retry-After"))
	}
	for _, c := range []struct {
		method, path, body, key string
		status                  int
	}{
		{"GET", "/v2/corpora", "", ownerKey, 200},
		{"POST", "/v2/query", "{", ownerKey, 400},
		{"POST", "/v2/query", queryBody, "wrong", 401},
		{"POST", "/v2/query", queryBody, noneKey, 403},
		{"POST", "/v2/corpora/gone/documents", "{}", ownerKey, 404},
		{"POST", "/v2/chats", "{}", ownerKey, 501},
	} {
		if got := s.ask(t, c.method, c.path, c.body, "X-Api-Key: "+c.key); got.StatusCode != c.status {
			t.Errorf("%s %s with %s: %d %s, want %d", c.method, c.path, c.key, got.StatusCode, got.raw, c.status)
		}
	}
	send("of another", viewerKey)
	if name := <-d.in; name != "of another" {
		t.Errorf("%s is in before the first has left", name)
	}
	d.out <- ""
	d.out <- ""
	if name := <-d.in; name != "second" {
		t.Errorf("%s comes after the first", name)
	}
	d.out <- ""
	done.Wait()
}

// TestLeaversGiveTheirPlaceBack proves that a client which leaves frees its place at work and its place in line, and
// that a handler which panics does not keep its place.
func TestLeaversGiveTheirPlaceBack(t *testing.T) {
	t.Parallel()
	d, l := openDoors(), calls()
	s := startLimited(t, area{"query": d.handle, "queryCorpus": func(http.ResponseWriter, *http.Request, *httpapi.Call) error { panic("boom") }}, l)
	leave := func() (context.CancelFunc, <-chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			r, _ := http.NewRequestWithContext(ctx, "POST", s.URL+"/v2/query", strings.NewReader(queryBody))
			r.Header.Set("X-Api-Key", ownerKey)
			res, err := s.Client().Do(r)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				res.Body.Close()
			}
			gone <- err
		}()
		return cancel, gone
	}
	working, left := leave()
	<-d.in
	waiting, leftLine := leave()
	inLine(l, 1)
	waiting()
	if err := <-leftLine; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	inLine(l, 0)
	working()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for range 3 {
		if got := s.ask(t, "POST", "/v2/corpora/mine/query", queryBody); got.StatusCode != 500 {
			t.Fatalf("%d %s, want the panic's 500", got.StatusCode, got.raw)
		}
	}
	if load := l.Calls.Load(); load != (usage.Load{}) {
		t.Errorf("at the end %+v is held", load)
	}
}

// TestSlowUploads proves that an upload holds no place among the expensive calls while its client sends, and waits for
// one once it is read.
func TestSlowUploads(t *testing.T) {
	t.Parallel()
	d, l := openDoors(), calls()
	reading := make(chan string)
	s := startLimited(t, area{"query": d.handle, "uploadFile": func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
		reading <- ""
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return err
		}
		if err := c.Enter(r.Context()); err != nil {
			return err
		}
		return seen(w, r, c)
	}}, l)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // against a hang
	write := func(text string) {
		t.Helper()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	write(raw("POST /v2/corpora/mine/upload_file", "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 10", "half "))
	<-reading
	var done sync.WaitGroup
	done.Go(func() {
		if got := s.ask(t, "POST", "/v2/query", queryBody); got.StatusCode != 200 {
			t.Errorf("a query beside a slow upload: %d %s", got.StatusCode, got.raw)
		}
	})
	<-d.in
	write("whole")
	inLine(l, 1)
	d.out <- ""
	done.Wait()
	answer := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 200" {
		t.Errorf("the upload that waited: %q, %v", answer, err)
	}
}

// TestBodiesInFlight proves that large bodies wait for room, whatever length they declare, that small ones do
// not, and that who finds no room is refused with 429 before "100 Continue".
func TestBodiesInFlight(t *testing.T) {
	t.Parallel()
	d := openDoors()
	const room = 200 << 10
	s := startSized(t, area{"createCorpus": d.handle, "uploadFile": seen}, httpapi.Limits{
		Bodies: usage.NewGate(usage.Bounds{PerCaller: room, Total: room, Wait: time.Minute, Noun: "large bodies"}),
	}, 1<<20)
	large, small := corpusOf(70<<10), corpusOf(60<<10)
	var done sync.WaitGroup
	done.Go(func() {
		if got := s.ask(t, "POST", "/v2/corpora", large); got.StatusCode != 200 {
			t.Errorf("%d %s", got.StatusCode, got.raw)
		}
	})
	<-d.in
	for name, body := range map[string]string{
		"with length": raw("POST /v2/corpora", "Content-Length: "+strconv.Itoa(len(large)), large),
		"waiting":     raw("POST /v2/corpora", "Expect: 100-continue\r\nContent-Length: "+strconv.Itoa(len(large)), ""),
		"chunked":     raw("POST /v2/corpora", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(large), large)),
		"upload":      raw("POST /v2/corpora/mine/upload_file", "Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
	} {
		if status, _ := s.send(t, body); status != 429 {
			t.Errorf("%s: %d, want 429", name, status)
		}
	}
	for name, body := range map[string]string{
		"with length": raw("POST /v2/corpora", "Content-Length: "+strconv.Itoa(len(small)), small),
		"chunked":     raw("POST /v2/corpora", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(small), small)),
	} {
		done.Go(func() {
			if status, _ := s.send(t, body); status != 200 {
				t.Errorf("small, %s: %d, want 200", name, status)
			}
		})
		<-d.in
		d.out <- ""
	}
	d.out <- ""
	done.Wait()
	if status, _ := s.send(t, raw("POST /v2/corpora/mine/upload_file", "Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked", "0\r\n\r\n")); status != 200 {
		t.Errorf("an upload once there is room: %d", status)
	}
}

// corpusOf returns a body of createCorpus of n bytes.
func corpusOf(n int) string {
	return `{"key":"a","other":"` + strings.Repeat("x", n-22) + `"}`
}

// raw returns the bytes of a request of the owner.
func raw(line, header, body string) string {
	return line + " HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + ownerKey + "\r\n" + header + "\r\n\r\n" + body
}

// send writes bytes on a connection of their own and returns the first status that comes back, and the answer's body.
func (s *service) send(t *testing.T, request string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // against a hang
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// TestBodyLimits proves which bodies are refused, how, and that no length is taken on trust.
func TestBodyLimits(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createCorpus": seen, "uploadFile": seen, "resetCorpus": seen})
	const most = 1 << 16
	chunk := func(body string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body) }
	for _, c := range []struct {
		name, request string
		status        int
		text          string
	}{
		{"as large as allowed", raw("POST /v2/corpora", fmt.Sprint("Content-Length: ", most), corpusOf(most)), 200, ""},
		{"a byte more", raw("POST /v2/corpora", fmt.Sprint("Content-Length: ", most+1), corpusOf(most+1)), 413, "too_large"},
		{"chunked, as large as allowed", raw("POST /v2/corpora", "Transfer-Encoding: chunked", chunk(corpusOf(most))), 200, ""},
		{"chunked, a byte more", raw("POST /v2/corpora", "Transfer-Encoding: chunked", chunk(corpusOf(most+1))), 413, "too_large"},
		{"chunked and empty", raw("POST /v2/corpora", "Transfer-Encoding: chunked", "0\r\n\r\n"), 400, `"body":"is required`},
		{"a chunk without a length", raw("POST /v2/corpora", "Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n"), 400, `"body":"could not be read`},
		{"length and chunks", raw("POST /v2/corpora", "Transfer-Encoding: chunked\r\nContent-Length: 5", chunk(corpusOf(40))), 200, ""}, // the length is ignored, and the connection closed
		{"two lengths", raw("POST /v2/corpora", "Content-Length: 5\r\nContent-Length: 6", "{}"), 400, ""},
		{"no number", raw("POST /v2/corpora", "Content-Length: many", "{}"), 400, ""},
		{"a negative length", raw("POST /v2/corpora", "Content-Length: -1", "{}"), 400, ""},
		{"no length at all", raw("POST /v2/corpora", "X-Y: z", ""), 400, `"body":"is required`},
		{"a body where none is read", raw("POST /v2/corpora/k/reset", fmt.Sprint("Content-Length: ", 4*most), strings.Repeat("x", 4*most)), 200, ""},
		{"asks first", raw("POST /v2/corpora", "Expect: 100-continue\r\nContent-Length: 40", corpusOf(40)), 100, ""},
		{"asks first for too much", raw("POST /v2/corpora", "Expect: 100-continue\r\nContent-Length: 1000000", ""), 413, "too_large"},
		{"asks first without a key", strings.Replace(raw("POST /v2/corpora", "Expect: 100-continue\r\nContent-Length: 40", ""), ownerKey, "x", 1), 401, "unauthorized"},
		{"asks first for too large an upload", raw("POST /v2/corpora/k/upload_file", "Expect: 100-continue\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000000", ""), 413, "max_upload"},
		{"another expectation", raw("POST /v2/corpora", "Expect: miracles\r\nContent-Length: 2", "{}"), 417, ""},
		{"long headers", raw("POST /v2/corpora", "X-Long: "+strings.Repeat("x", 2<<20), ""), 431, ""},
	} {
		status, body := s.send(t, c.request)
		if status != c.status || !strings.Contains(body, c.text) {
			t.Errorf("%s: %d %.300s, want %d with %s", c.name, status, body, c.status, c.text)
		}
	}
}

// TestSlowBody proves that a body which hardly comes is given up, with an answer, and that one which comes slowly enough
// to be honest is not.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		s := &http.Server{Handler: sizedServer(t, area{"createCorpus": seen}, httpapi.Limits{}, io.Discard, 1<<16)}
		go func() { _ = s.Serve(l) }()
		ask := func(pause time.Duration) (int, string) {
			client, server := net.Pipe()
			l <- server
			go func() {
				body := corpusOf(40 << 10)
				_, _ = io.WriteString(client, raw("POST /v2/corpora", fmt.Sprint("Content-Length: ", len(body)), ""))
				for len(body) > 0 {
					time.Sleep(pause)
					if _, err := io.WriteString(client, body[:1<<10]); err != nil {
						return
					}
					body = body[1<<10:]
				}
			}()
			res, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(res.Body)
			return res.StatusCode, string(text)
		}
		began := time.Now()
		if status, text := ask(10 * time.Second); status != 400 || !strings.Contains(text, "too slowly") || time.Since(began) > time.Minute {
			t.Errorf("a body of 100 bytes a second: %d %s after %s", status, text, time.Since(began))
		}
		if status, text := ask(500 * time.Millisecond); status != 200 {
			t.Errorf("a body of 2 KB a second: %d %.300s", status, text)
		}
		_ = s.Close()
	})
}

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }
