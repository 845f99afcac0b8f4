package otlp_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quarry/internal/otlp"
	"quarry/internal/outbound"
	"quarry/internal/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector answers as its script says, and with 200 behind its end.
type collector struct {
	mu     sync.Mutex
	script []func(*http.Request) (*http.Response, error) // guarded by mu, like what follows
	at     []time.Duration                               // when it was asked, since the start
	spans  []string                                      // names of those that it took
	began  time.Time
}

// RoundTrip implements http.RoundTripper, so that the time of the tests is not that of a network.
func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.at = append(c.at, time.Since(c.began))
	next := says(http.StatusOK, `{}`)
	if len(c.script) > 0 {
		next, c.script = c.script[0], c.script[1:]
	}
	c.mu.Unlock()
	resp, err := next(r)
	if err == nil && resp.StatusCode == http.StatusOK {
		names := read(r)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.spans = append(c.spans, names...)
	}
	return resp, err
}

func (c *collector) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// says returns an answer.
func says(status int, body string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// hangs answers when nobody waits any more.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func gone(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }

// request is what a collector reads, of which the tests ask for a part.
type request struct {
	Resources []struct {
		Resource struct {
			Attributes []attribute `json:"attributes"`
		} `json:"resource"`
		Scopes []struct {
			Scope struct{ Name, Version string } `json:"scope"`
			Spans []span                         `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type span struct {
	TraceID           string      `json:"traceId"`
	SpanID            string      `json:"spanId"`
	ParentSpanID      string      `json:"parentSpanId"`
	Name              string      `json:"name"`
	Kind              int         `json:"kind"`
	StartTimeUnixNano string      `json:"startTimeUnixNano"`
	EndTimeUnixNano   string      `json:"endTimeUnixNano"`
	Attributes        []attribute `json:"attributes"`
	Status            struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

type attribute struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// unpack reads a request strictly: a member that OTLP doesn't have fails.
func unpack(body []byte) (out request, err error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	d := json.NewDecoder(z)
	d.DisallowUnknownFields()
	return out, d.Decode(&out)
}

func read(r *http.Request) (names []string) {
	body, _ := io.ReadAll(r.Body)
	got, err := unpack(body)
	if err != nil {
		return []string{err.Error()}
	}
	for _, s := range got.Resources[0].Scopes[0].Spans {
		names = append(names, s.Name)
	}
	return names
}

// chats returns spans with the names of models.
func chats(names ...string) (out []trace.Span) {
	for i, name := range names {
		out = append(out, trace.Span{
			Trace: strings.Repeat("a", 32), ID: fmt.Sprintf("%016x", i+1), Operation: trace.Chat, Started: start, Ended: start.Add(time.Second),
			Chat: &trace.ChatAttributes{Model: name},
		})
	}
	return out
}

var start = time.Date(2026, 5, 1, 7, 0, 0, 1000, time.UTC)

// bench is an exporter before a collector.
type bench struct {
	*otlp.Exporter
	*collector
	log *bytes.Buffer
}

// inBubble runs a test in time of its own.
func inBubble(t *testing.T, test func(*testing.T, *bench), script ...func(*http.Request) (*http.Response, error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{collector: &collector{script: script, began: time.Now()}, log: &bytes.Buffer{}}
		b.Exporter = otlp.New(otlp.Config{
			HTTP: &http.Client{Transport: b.collector}, Endpoint: "http://collector.test/v1/traces", Version: "v1.2.3", Instance: "i",
			Headers: map[string]string{"Authorization": "Bearer hidden-token", "X-Key": "hidden-key"}, Log: slog.New(slog.NewTextHandler(b.log, nil)),
		})
		defer b.Close()
		test(t, b)
	})
}

// pass lets time pass, and what is to do in it be done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestBatches proves that what comes within a second is one request, that what comes later is another, and that a full batch doesn't
// wait.
func TestBatches(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *bench) {
		b.Recorded(chats("a", "b"))
		pass(500 * time.Millisecond)
		b.Recorded(chats("c"))
		pass(time.Second)
		b.Recorded(chats("d"))
		pass(10 * time.Second)
		b.Recorded(chats(make([]string, 512)...))
		synctest.Wait()
		if diff := cmp.Diff([]time.Duration{time.Second, 2500 * time.Millisecond, 11500 * time.Millisecond}, b.at); diff != "" {
			t.Error(diff)
		}
		if got := b.taken(); len(got) != 516 || strings.Join(got[:4], "|") != "chat a|chat b|chat c|chat d" {
			t.Errorf("%d spans: %v", len(got), got[:min(4, len(got))])
		}
		if b.log.Len() > 0 {
			t.Error(b.log)
		}
	})
}

// TestRetries proves what is sent again and after what time, and what is not.
func TestRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script   []func(*http.Request) (*http.Response, error)
		requests int
		least    time.Duration // from the first request to the last
		most     time.Duration
		log      string // "" where the spans arrive
	}{
		"unavailable":   {[]func(*http.Request) (*http.Response, error){says(503, ``), says(502, `x`), says(504, ``)}, 4, 3500 * time.Millisecond, 10500 * time.Millisecond, ""},
		"gone":          {[]func(*http.Request) (*http.Response, error){gone, gone}, 3, 1500 * time.Millisecond, 4500 * time.Millisecond, ""},
		"gone for good": {[]func(*http.Request) (*http.Response, error){gone, gone, gone, gone, gone}, 5, 7500 * time.Millisecond, 22500 * time.Millisecond, `dropped=2 error="connection refused"`},
		"limited":       {[]func(*http.Request) (*http.Response, error){says(429, ``, "Retry-After", "7")}, 2, 7 * time.Second, 7 * time.Second, ""},
		"limited long":  {[]func(*http.Request) (*http.Response, error){says(429, ``, "Retry-After", "86400")}, 2, time.Minute, time.Minute, ""},
		"by a date":     {[]func(*http.Request) (*http.Response, error){says(503, ``, "Retry-After", "Sat, 01 Jan 2000 00:00:21 GMT")}, 2, 20 * time.Second, 20 * time.Second, ""},
		"no date":       {[]func(*http.Request) (*http.Response, error){says(503, ``, "Retry-After", "soon")}, 2, 500 * time.Millisecond, 1500 * time.Millisecond, ""},
		"hanging":       {[]func(*http.Request) (*http.Response, error){hangs}, 2, 10500 * time.Millisecond, 11500 * time.Millisecond, ""},
		"bad":           {[]func(*http.Request) (*http.Response, error){says(400, `{"code":3,"message":"no such\nspan hidden-token"}`)}, 1, 0, 0, `dropped=2 error="it answers with status 400: no such span ****"`},
		"too large":     {[]func(*http.Request) (*http.Response, error){says(413, `<html>`)}, 1, 0, 0, `dropped=2 error="it answers with status 413"`},
		"not allowed":   {[]func(*http.Request) (*http.Response, error){says(401, `{"message":"Bearer hidden-token and hidden-key are wrong"}`)}, 1, 0, 0, `error="it answers with status 401: **** and **** are wrong"`},
		"its fault":     {[]func(*http.Request) (*http.Response, error){says(500, ``)}, 1, 0, 0, `error="it answers with status 500"`},
		"moved":         {[]func(*http.Request) (*http.Response, error){says(308, ``)}, 1, 0, 0, `error="it answers with status 308, a redirect`},
		"in part":       {[]func(*http.Request) (*http.Response, error){says(200, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}`)}, 1, 0, 0, `dropped=1 error="it has rejected some: too old"`},
		"with a hint":   {[]func(*http.Request) (*http.Response, error){says(200, `{"partialSuccess":{"errorMessage":"use gRPC"}}`)}, 1, 0, 0, `dropped=0 error="it has rejected some: use gRPC"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, b *bench) {
				b.Recorded(chats("a", "b"))
				pass(10 * time.Minute)
				if len(b.at) != c.requests {
					t.Fatalf("%d requests at %v, want %d", len(b.at), b.at, c.requests)
				}
				if took := b.at[len(b.at)-1] - b.at[0]; took < c.least || took > c.most {
					t.Errorf("the requests took %v", took)
				}
				if c.log == "" && (b.log.Len() > 0 || len(b.taken()) != 2) || !strings.Contains(b.log.String(), c.log) || strings.Contains(b.log.String(), "hidden") {
					t.Errorf("%v were taken, the log has %s", b.taken(), b.log)
				}
			}, c.script...)
		})
	}
}

// TestHanging proves that a collector that never answers costs those who record nothing but spans: what waits is bounded, what doesn't
// find a place is counted exactly, and the log has a line a minute.
func TestHanging(t *testing.T) {
	t.Parallel()
	var script []func(*http.Request) (*http.Response, error)
	for range 1000 {
		script = append(script, hangs)
	}
	inBubble(t, func(t *testing.T, b *bench) {
		sent := 0
		began := time.Now()
		for range 300 { // five minutes
			b.Recorded(chats(make([]string, 100)...))
			sent += 100
			pass(time.Second)
		}
		if took := time.Since(began); took != 300*time.Second {
			t.Errorf("who recorded has waited: %v", took)
		}
		b.Close()
		if lines := strings.Count(b.log.String(), "\n"); lines < 2 || lines > 7 {
			t.Errorf("the log has %d lines: %s", lines, b.log)
		}
		lost := 0
		for line := range strings.Lines(b.log.String()) {
			var n int
			if _, err := fmt.Sscanf(line[strings.Index(line, "dropped="):], "dropped=%d", &n); err != nil {
				t.Fatal(err)
			}
			lost += n
		}
		if lost != sent || len(b.taken()) != 0 {
			t.Errorf("%d of %d spans are counted as lost, %d were taken", lost, sent, len(b.taken()))
		}
	}, script...)
}

// TestBytes proves that what waits is bounded in bytes, too, and a request as well.
func TestBytes(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20) // in name and attribute
	inBubble(t, func(t *testing.T, b *bench) {
		for range 100 {
			b.Recorded(chats(large))
		}
		pass(time.Minute)
		if n := len(b.taken()); n < 15 || n > 18 || len(b.at) < n {
			t.Errorf("%d spans were sent in %d requests", n, len(b.at))
		}
		b.Recorded(chats("last"))
		pass(time.Minute)
		if got := b.taken(); got[len(got)-1] != "chat last" {
			t.Error("nothing is sent any more")
		}
	}, says(503, ``, "Retry-After", "5"))
}

// TestClose proves that the end sends what waits, goes no longer than three seconds about it, and that nothing is sent after it.
func TestClose(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script []func(*http.Request) (*http.Response, error)
		wait   time.Duration // before the end
		most   time.Duration
		taken  int
	}{
		"well":          {nil, 0, 0, 3},
		"hanging":       {[]func(*http.Request) (*http.Response, error){hangs, hangs, hangs, hangs}, 2 * time.Second, 3 * time.Second, 0},
		"between tries": {[]func(*http.Request) (*http.Response, error){says(503, ``, "Retry-After", "50")}, 2 * time.Second, 0, 3},
		"gone":          {[]func(*http.Request) (*http.Response, error){gone, gone, gone, gone}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, b *bench) {
				b.Recorded(chats("a", "b", "c"))
				pass(c.wait)
				began := time.Now()
				b.Close()
				if took := time.Since(began); took > c.most {
					t.Errorf("it took %v", took)
				}
				b.Recorded(chats("late"))
				pass(time.Minute)
				if got := b.taken(); len(got) != c.taken {
					t.Errorf("%v were taken", got)
				}
				if (c.taken == 0) != strings.Contains(b.log.String(), "dropped=3") {
					t.Errorf("the log has %q", b.log)
				}
			}, c.script...)
		})
	}
}

// TestAddress proves where spans are sent, by what the setting says.
func TestAddress(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://c:4318": "http://c:4318/v1/traces", "http://c:4318/": "http://c:4318/v1/traces", "https://c/v1/traces": "https://c/v1/traces",
		"https://c/v1/traces/": "https://c/v1/traces", "https://c/api/public/otel": "https://c/api/public/otel/v1/traces", "http://c/a%2Fb": "http://c/a%2Fb/v1/traces",
	} {
		if got, err := otlp.Address(given); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", given, got, err, want)
		}
	}
}

// TestRequest proves what a collector on the network is sent: method, path, headers, a packed body.
func TestRequest(t *testing.T) {
	t.Parallel()
	heard := make(chan *http.Request, 1)
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- r
		bodies <- body
	}))
	t.Cleanup(server.Close)
	guarded := outbound.New(outbound.Config{AllowPrivate: true})
	t.Cleanup(guarded.CloseIdleConnections)
	address, err := otlp.Address(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	e := otlp.New(otlp.Config{HTTP: guarded, Endpoint: address, Headers: map[string]string{"x-team": "a b"}, Version: "v1.2.3", Instance: "one", Log: slog.New(slog.DiscardHandler)})
	e.Recorded(chats("a"))
	e.Close()
	r := <-heard
	got := []string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding"), r.Header.Get("X-Team"), r.Header.Get("User-Agent")}
	if diff := cmp.Diff([]string{"POST", "/v1/traces", "application/json", "gzip", "a b", "Quarry"}, got); diff != "" {
		t.Error(diff)
	}
	sent, err := unpack(<-bodies)
	if err != nil || len(sent.Resources) != 1 || len(sent.Resources[0].Scopes) != 1 || len(sent.Resources[0].Scopes[0].Spans) != 1 {
		t.Fatalf("%+v, %v", sent, err)
	}
	about := map[string]string{}
	for _, a := range sent.Resources[0].Resource.Attributes {
		about[a.Key] = string(a.Value)
	}
	want := map[string]string{
		"service.name": `{"stringValue":"quarry"}`, "service.version": `{"stringValue":"v1.2.3"}`, "service.instance.id": `{"stringValue":"one"}`,
	}
	if diff := cmp.Diff(want, about); diff != "" {
		t.Error(diff)
	}
}

// plain returns a body as a text.
func plain(t *testing.T, body []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// BenchmarkRecorded is what a span costs whoever records it: before a collector that takes everything, and before one that hangs.
func BenchmarkRecorded(b *testing.B) {
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){"well": says(http.StatusOK, `{}`), "hanging": hangs} {
		b.Run(name, func(b *testing.B) {
			e := otlp.New(otlp.Config{HTTP: &http.Client{Transport: roundTrip(answer)}, Endpoint: "http://collector.test/v1/traces", Log: slog.New(slog.DiscardHandler)})
			spans := every()
			b.ReportAllocs()
			for b.Loop() {
				e.Recorded(spans)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(spans)), "ns/span")
			e.Close()
		})
	}
}
