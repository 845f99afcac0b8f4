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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/usage"
)

// piece is an event of tests.
type piece struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
}

// events answers with a stream that a function fills.
func events(fill func(ctx context.Context, s *httpapi.Stream) error) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
		s := c.Stream(w)
		defer s.Close()
		return fill(r.Context(), s)
	}
}

// over sends a request to a server over a connection in memory and returns the answer with its connection.
func over(t *testing.T, handler http.Handler, headers ...string) (*http.Response, net.Conn) {
	t.Helper()
	return overServer(t, &http.Server{Handler: handler}, headers...)
}

// overServer is over for a server that is configured already.
func overServer(t *testing.T, s *http.Server, headers ...string) (*http.Response, net.Conn) {
	t.Helper()
	l := make(pipes)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	client, server := net.Pipe()
	l <- server
	go func() {
		_, _ = io.WriteString(client, "POST /v2/query HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+ownerKey+"\r\nContent-Type: application/json\r\n"+
			strings.Join(append(headers, fmt.Sprint("Content-Length: ", len(queryBody))), "\r\n")+"\r\n\r\n"+queryBody)
	}()
	res, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res, client
}

// TestStream proves head, framing and end of a stream, and that a comment keeps it alive in silence.
func TestStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sizedServer(t, area{"query": events(func(_ context.Context, s *httpapi.Stream) error {
			if s.Begun() {
				t.Error("a stream has begun before its first event")
			}
			_ = s.Send("chunk", piece{"chunk", "a\nb"})
			time.Sleep(40 * time.Second)
			_ = s.Fail(fault.Unavailable("llm_unreachable", "the model is gone; its key is zut_%s", strings.Repeat("a", 40)))
			return s.Send("end", piece{Type: "end"})
		})}, httpapi.Limits{}, io.Discard, 1<<16)
		res, _ := over(t, s)
		raw, err := io.ReadAll(res.Body)
		want := "event:chunk\ndata:{\"type\":\"chunk\",\"text\":\"a\\nb\"}\n\n: ping\n\n: ping\n\n" +
			"event:error\ndata:{\"type\":\"error\",\"messages\":[\"UNAVAILABLE: the model is gone; its key is zut_****\"]}\n\nevent:end\ndata:{\"type\":\"end\"}\n\n"
		if diff := cmp.Diff(want, string(raw)); diff != "" || err != nil {
			t.Errorf("%v, stream (-want +got): %s", err, diff)
		}
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store"} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if !res.Close || res.StatusCode != 200 {
			t.Errorf("status %d, the connection is to be closed: %v", res.StatusCode, res.Close)
		}
	})
}

// TestFrames proves head, framing and end of a stream of frames: its status, no line but data, and comments while it is silent.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		fill   func(s *httpapi.Stream) error
		want   string
	}{
		{201, func(s *httpapi.Stream) error {
			_ = s.Frame(piece{"input_message", "a\nb"})
			for _, text := range []string{"1", "2", "3"} {
				_ = s.FrameSoon(piece{"chunk", text})
			}
			time.Sleep(40 * time.Second)
			_ = s.FailFrame(fault.Unavailable("llm_unreachable", "the model is gone; its key is zut_%s", strings.Repeat("a", 40)))
			s.Status(500) // too late
			return s.Frame(piece{Type: "end"})
		}, "data: {\"type\":\"input_message\",\"text\":\"a\\nb\"}\n\n" +
			"data: {\"type\":\"chunk\",\"text\":\"1\"}\n\ndata: {\"type\":\"chunk\",\"text\":\"2\"}\n\ndata: {\"type\":\"chunk\",\"text\":\"3\"}\n\n: ping\n\n: ping\n\n" +
			"data: {\"type\":\"error\",\"messages\":[\"UNAVAILABLE: the model is gone; its key is zut_****\"]}\n\ndata: {\"type\":\"end\"}\n\n"},
		{200, func(s *httpapi.Stream) error {
			s.Status(200)
			_ = s.FailFrame(fault.Timeout("too slow"))
			return s.Frame(piece{Type: "end"})
		}, "data: {\"type\":\"error\",\"messages\":[\"DEADLINE_EXCEEDED: too slow\"]}\n\ndata: {\"type\":\"end\"}\n\n"},
		{201, func(s *httpapi.Stream) error {
			if err := s.Begin(); err != nil || !s.Begun() {
				t.Errorf("the stream has not begun: %v", err)
			}
			time.Sleep(20 * time.Second)
			return s.Frame(piece{Type: "end"})
		}, ": ping\n\ndata: {\"type\":\"end\"}\n\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := sizedServer(t, area{"query": events(func(_ context.Context, s *httpapi.Stream) error {
				s.Status(201)
				return c.fill(s)
			})}, httpapi.Limits{}, io.Discard, 1<<16)
			res, _ := over(t, s)
			raw, err := io.ReadAll(res.Body)
			if diff := cmp.Diff(c.want, string(raw)); diff != "" || err != nil {
				t.Errorf("%v, stream (-want +got): %s", err, diff)
			}
			for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "CDN-Cache-Control": "no-store"} {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if !res.Close || res.StatusCode != c.status {
				t.Errorf("status %d, the connection is to be closed: %v", res.StatusCode, res.Close)
			}
		})
	}
}

// TestFramesBegin proves that the head of a stream is there before its first event, and that an error until then is answered
// without a stream, whatever status it would have had.
func TestFramesBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		more := make(chan bool)
		s := sizedServer(t, area{"query": events(func(_ context.Context, s *httpapi.Stream) error {
			s.Status(201)
			_ = s.Begin()
			<-more
			return s.Frame(piece{Type: "end"})
		})}, httpapi.Limits{}, io.Discard, 1<<16)
		res, _ := over(t, s) // returns with the head
		if res.StatusCode != 201 {
			t.Errorf("status %d", res.StatusCode)
		}
		close(more)
		if raw, err := io.ReadAll(res.Body); err != nil || string(raw) != "data: {\"type\":\"end\"}\n\n" {
			t.Errorf("%v: %s", err, raw)
		}
	})
	s := startLimited(t, area{"query": events(func(_ context.Context, s *httpapi.Stream) error {
		s.Status(201)
		return fault.Unavailable("llm_unreachable", "the model is gone")
	})}, httpapi.Limits{})
	if got := s.ask(t, "POST", "/v2/query", queryBody, "X-Api-Key: "+ownerKey, "Content-Type: application/json"); got.StatusCode != 503 {
		t.Errorf("%d %s", got.StatusCode, got.raw)
	}
}

// TestStreamNotBegun proves that what fails before the first event is an ordinary answer, and one that has search
// results brings them.
func TestStreamNotBegun(t *testing.T) {
	t.Parallel()
	s := startLimited(t, area{"query": events(func(context.Context, *httpapi.Stream) error {
		return httpapi.WithResults(fault.Timeout("too slow"), []piece{{"found", "it"}})
	})}, httpapi.Limits{})
	got := s.ask(t, "POST", "/v2/query", queryBody, "X-Api-Key: "+ownerKey, "Content-Type: application/json")
	if got.StatusCode != 504 || got.Header.Get("Content-Type") != "application/json" || !strings.Contains(got.raw, `"search_results":[{"type":"found","text":"it"}]`) ||
		got.body.Messages[0] != "DEADLINE_EXCEEDED: too slow" {
		t.Errorf("%d %s", got.StatusCode, got.raw)
	}
}

// TestStreamErrors proves what a stream sends for errors that are no faults: a deadline is one, and of what else goes
// wrong only the log has the text.
func TestStreamErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header, wants string
		fill          func(context.Context) error
	}{
		{"Request-Timeout: 2", "DEADLINE_EXCEEDED: ", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		{"X-Nothing: x", "INTERNAL: ", func(context.Context) error { return errors.New("the table is broken") }},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := &logBuffer{}
			s := sizedServer(t, area{"query": events(func(ctx context.Context, s *httpapi.Stream) error {
				_ = s.Send("chunk", piece{"chunk", ""})
				_ = s.Fail(c.fill(ctx))
				return s.Send("end", piece{Type: "end"})
			})}, httpapi.Limits{}, log, 1<<16)
			res, _ := over(t, s, c.header)
			raw, err := io.ReadAll(res.Body)
			if text := string(raw); err != nil || !strings.Contains(text, `{"type":"error","messages":["`+c.wants) || !strings.HasSuffix(text, "event:end\ndata:{\"type\":\"end\"}\n\n") || strings.Contains(text, "table") {
				t.Errorf("%v: %s", err, text)
			}
			if hidden := strings.Contains(log.String(), "the table is broken"); hidden != (c.wants == "INTERNAL: ") {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}

// TestStreamStopped proves that a stream which is cut off by the stop of the service reports it and has its end event.
func TestStreamStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sizedServer(t, area{"query": events(func(ctx context.Context, s *httpapi.Stream) error {
			_ = s.Send("chunk", piece{"chunk", ""})
			<-ctx.Done()
			_ = s.Fail(ctx.Err())
			return s.Send("end", piece{Type: "end"})
		})}, httpapi.Limits{}, io.Discard, 1<<16)
		requests, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { stop(fault.Unavailable("stopping", "the service is stopping")) })
		res, _ := overServer(t, &http.Server{Handler: s, BaseContext: func(net.Listener) context.Context { return requests }})
		raw, err := io.ReadAll(res.Body)
		if text := string(raw); err != nil || !strings.HasSuffix(text, "event:error\ndata:{\"type\":\"error\",\"messages\":[\"UNAVAILABLE: the service is stopping\"]}\n\nevent:end\ndata:{\"type\":\"end\"}\n\n") {
			t.Errorf("%v: %s", err, text)
		}
	})
}

// TestSlowReader proves that a client that does not read is cut off, that its handler learns of it, and that the stream of
// another client, who reads slowly, comes whole meanwhile.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 64
		lost := make(chan error, 2)
		s := sizedServer(t, area{"query": events(func(_ context.Context, s *httpapi.Stream) error {
			var err error
			for i := 0; i < count && err == nil; i++ {
				err = s.Send("chunk", piece{"chunk", strings.Repeat("x", 1<<10)})
			}
			if err != nil && s.Fail(errors.New("no one reads this")) == nil {
				t.Error("a lost stream takes another event")
			}
			lost <- err
			return nil
		})}, httpapi.Limits{}, io.Discard, 1<<16)
		_, stalled := over(t, s)
		defer stalled.Close()
		res, reader := over(t, s)
		defer reader.Close()
		var got strings.Builder
		if _, err := io.Copy(&got, slow{res.Body}); err != nil {
			t.Error(err)
		}
		if n := strings.Count(got.String(), "event:chunk"); n != count {
			t.Errorf("%d events came", n)
		}
		cut := 0
		for range 2 {
			if err := <-lost; err != nil {
				cut++
			}
		}
		if cut != 1 {
			t.Errorf("%d streams were cut off, want the one that nobody reads", cut)
		}
	})
}

// slow is a reader that takes a quarter of the time for each read that the server of tests allows for a write: what comes together is
// read in two.
type slow struct{ io.Reader }

func (s slow) Read(b []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return s.Reader.Read(b)
}

// TestAwait proves that calls that wait for another service leave their places to others, up to a bound of their own,
// and take none when they end.
func TestAwait(t *testing.T) {
	t.Parallel()
	in, out := make(chan error, 1), make(chan struct{})
	wait := func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
		err := c.Await(r.Context())
		in <- err
		if err != nil {
			return err
		}
		<-out
		w.WriteHeader(http.StatusOK)
		return nil
	}
	gate := func(n int64) *usage.Gate { return usage.NewGate(usage.Bounds{PerCaller: n, Total: n, Noun: "calls"}) }
	s := startLimited(t, area{"query": wait}, httpapi.Limits{Calls: gate(1), Remote: gate(3)})
	ask := func() *reply {
		return s.ask(t, "POST", "/v2/query", queryBody, "X-Api-Key: "+ownerKey, "Content-Type: application/json")
	}
	done := make(chan int)
	for range 2 { // each round finds all places free again
		for range 3 {
			go func() { done <- ask().StatusCode }()
			if err := <-in; err != nil {
				t.Fatal(err)
			}
		}
		if got := ask(); got.StatusCode != 429 || <-in == nil {
			t.Errorf("the fourth that waits: %d %s", got.StatusCode, got.raw)
		}
		for range 3 {
			out <- struct{}{}
			if status := <-done; status != 200 {
				t.Errorf("status %d", status)
			}
		}
	}
}

// TestOutside proves that calls outside leave their places to others and have one again when they come back; that with every
// place of both kinds taken nobody waits for ever; and that nothing stays taken, whether a call fails outside, loses its
// client, or ends.
func TestOutside(t *testing.T) {
	t.Parallel()
	calls := usage.NewGate(usage.Bounds{PerCaller: 2, Total: 2, Waiting: 100, Wait: time.Minute, Noun: "calls"})
	remote := usage.NewGate(usage.Bounds{PerCaller: 2, Total: 2, Waiting: 100, Wait: time.Minute, Noun: "calls"})
	failed := errors.New("failed")
	var inside atomic.Int64
	outside := make(chan struct{})
	handle := func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
		work := func() {
			if inside.Add(1) > 2 {
				t.Error("more calls at work than there are places")
			}
			runtime.Gosched()
			inside.Add(-1)
		}
		for range 3 { // out and back more than once
			work()
			err := c.Outside(r.Context(), func(ctx context.Context) error {
				switch r.Header.Get("X-Name") {
				case "fails":
					return failed
				case "leaves":
					outside <- struct{}{}
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		work()
		if err := c.Await(r.Context()); err != nil {
			return err
		}
		if err := c.Outside(r.Context(), func(context.Context) error { return nil }); err != nil { // it is outside already
			return err
		}
		w.WriteHeader(http.StatusOK)
		return nil
	}
	s := startLimited(t, area{"query": handle}, httpapi.Limits{Calls: calls, Remote: remote})
	headers := []string{"X-Api-Key: " + ownerKey, "Content-Type: application/json"}
	var wait sync.WaitGroup
	for i := range 60 {
		wait.Go(func() {
			name, want := "", 200
			if i%5 == 0 {
				name, want = "fails", 500
			}
			if got := s.ask(t, "POST", "/v2/query", queryBody, append(headers[:2:2], "X-Name: "+name)...); got.StatusCode != want {
				t.Errorf("%q: status %d, want %d: %s", name, got.StatusCode, want, got.raw)
			}
		})
	}
	wait.Wait()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v2/query", strings.NewReader(queryBody))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"X-Api-Key": {ownerKey}, "Content-Type": {"application/json"}, "X-Name": {"leaves"}}
	go func() {
		<-outside
		leave()
	}()
	if _, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("the client that leaves gets %v", err)
	}
	for calls.Load() != (usage.Load{}) || remote.Load() != (usage.Load{}) { // the handler ends after its client
		runtime.Gosched()
	}
}
