package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"quarry/internal/llm"
)

// Call is one call of the connection's provider.
type Call struct {
	URL    string
	Body   any         // sent as JSON; nil makes the call a GET
	Accept string      // "" is application/json
	Header http.Header // of the wire format; headers of the connection win over these, its credentials over both
}

// Stream is the Accept of calls that want an event stream.
const Stream = "text/event-stream"

// Do sends a call and returns the answer as soon as its headers have come with the status of a success; the caller closes it.
// Every other outcome is an *llm.Error, or the cause of ctx if that has ended. After a 401 the call is sent once more with
// renewed credentials.
func (c *Client) Do(ctx context.Context, call Call) (*Response, error) {
	q := request{method: http.MethodGet, url: call.URL, accept: call.Accept, header: call.Header}
	if call.Body != nil {
		q.method, q.contentType = http.MethodPost, "application/json"
		var err error
		if q.body, err = json.Marshal(call.Body); err != nil {
			return nil, fmt.Errorf("encode a call of a model: %w", err)
		}
	}
	return c.send(ctx, q)
}

// request is a call whose body is encoded.
type request struct {
	method, url, contentType, accept string
	body                             []byte
	header                           http.Header
	bare                             bool // without headers and credentials of the connection: it goes to another server
}

func (c *Client) send(ctx context.Context, q request) (*Response, error) {
	for try := 0; ; try++ {
		resp, err := c.once(ctx, q)
		if err != nil {
			return nil, err
		}
		if resp.Status >= 200 && resp.Status <= 299 {
			return resp, nil
		}
		if resp.Status == http.StatusUnauthorized && try == 0 && !q.bare && c.auth.Renew(resp.request) {
			resp.Close()
			continue
		}
		err = resp.badStatus()
		resp.Close()
		return nil, err
	}
}

// once sends the call and returns the answer whatever its status.
func (c *Client) once(parent context.Context, q request) (*Response, error) {
	r, err := http.NewRequest(q.method, q.url, nil)
	if err != nil {
		return nil, c.Failed(llm.Blocked, "it is no address")
	}
	if err := c.setHeaders(parent, r, q); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(parent)
	w := newWatch(c.conn.Idle, cancel)
	w.listen()
	r = r.WithContext(ctx)
	if q.method != http.MethodGet {
		r.ContentLength = int64(len(q.body))
		r.GetBody = func() (io.ReadCloser, error) { return &upload{bytes.NewReader(q.body), w}, nil }
		r.Body, _ = r.GetBody()
	}
	resp := &Response{client: c, parent: parent, request: r, watch: w, cancel: cancel}
	client := c.shared.http
	if q.bare {
		client = c.shared.home
	}
	got, err := client.Do(r)
	w.rest()
	if err != nil {
		w.end()
		cancel(nil)
		return nil, resp.noAnswer(err)
	}
	resp.Status, resp.Header, resp.body = got.StatusCode, got.Header, got.Body
	return resp, nil
}

// setHeaders sets the headers of the wire format, those of the connection, and the credentials.
func (c *Client) setHeaders(ctx context.Context, r *http.Request, q request) error {
	for name, values := range q.header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	if q.accept == "" {
		q.accept = "application/json"
	}
	r.Header.Set("Accept", q.accept)
	// Compressed streams are held back by compressors, and a small body could become a huge one.
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "quarry")
	if q.contentType != "" {
		r.Header.Set("Content-Type", q.contentType)
	}
	if q.bare {
		return nil
	}
	for name, value := range c.conn.Headers {
		r.Header.Set(name, value)
	}
	return c.auth.Authorize(ctx, r, q.body)
}

// errSilent is the cause of a call that was canceled for silence.
var errSilent = errors.New("silent for too long")

// watch cancels a call whose provider has been silent for too long while we wait for it. Waiting begins and ends with every
// token, and resetting a timer that often would be slow: only the time is noted, and when the timer fires, it is set to what
// is left.
type watch struct {
	idle   time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer

	mu        sync.Mutex
	listening bool      // guarded by mu
	since     time.Time // of the silence; guarded by mu
	armed     bool      // the timer will fire; guarded by mu
}

func newWatch(idle time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{idle: idle, cancel: cancel, since: time.Now(), armed: true}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(idle, w.check)
	return w
}

// check cancels the call if the silence has lasted too long.
func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed = w.armed && w.listening; !w.armed {
		return
	}
	left := w.idle - time.Since(w.since)
	if left <= 0 {
		w.armed = false
		w.cancel(errSilent)
		return
	}
	w.timer.Reset(left)
}

func (w *watch) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listening, w.since = true, time.Now()
	if !w.armed {
		w.armed = true
		w.timer.Reset(w.idle)
	}
}

// heard restarts the silence. It is called by the goroutine that sends the body, perhaps after we stopped waiting.
func (w *watch) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
}

func (w *watch) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listening = false
}

// end stops the watch permanently.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listening, w.armed = false, false
	w.timer.Stop()
}

// upload is a body that restarts the silence as it is sent.
type upload struct {
	*bytes.Reader
	watch *watch
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.watch.heard()
	return n, err
}

func (u *upload) Close() error { return nil }

// WriteTo hides that of bytes.Reader, which would send everything in a single read and show no progress.
func (u *upload) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{u}) }

// Response is an answer under way. It is for one goroutine; Close it.
type Response struct {
	Status int
	Header http.Header

	client  *Client
	parent  context.Context // of the caller, whose cause is returned unchanged
	request *http.Request
	watch   *watch
	cancel  context.CancelCauseFunc
	body    io.ReadCloser
	read    int64
	peeked  []byte
	failed  error // of an earlier read
}

// maxAnswer is how many bytes of an answer are read: far above what the longest answer of a model takes, each of whose tokens
// may come in an event of some hundred bytes.
const maxAnswer = 64 << 20

// Read reads the body. Silence beyond the idle timeout, the end of the caller's context and a body larger than maxAnswer are
// errors, as those of Do. The time between reads does not count as silence.
func (r *Response) Read(p []byte) (int, error) {
	if len(r.peeked) > 0 {
		n := copy(p, r.peeked)
		r.peeked = r.peeked[n:]
		return n, nil
	}
	return r.more(p)
}

func (r *Response) more(p []byte) (int, error) {
	if r.failed != nil {
		return 0, r.failed
	}
	if r.read >= maxAnswer {
		r.failed = r.Failed(llm.Broken, fmt.Sprintf("its answer is larger than %d MiB", maxAnswer>>20))
		return 0, r.failed
	}
	r.watch.listen()
	n, err := r.body.Read(p[:min(int64(len(p)), maxAnswer-r.read)])
	r.watch.rest()
	r.read += int64(n)
	if err != nil && err != io.EOF {
		err = r.brokenBody(err)
	}
	r.failed = err
	return n, err
}

// Close ends the call and drops what was not read.
func (r *Response) Close() {
	r.watch.end()
	r.cancel(nil)
	if r.body != nil {
		_ = r.body.Close()
	}
}

// Finish is Close for a complete answer: it reads the little that follows the last event, so that the connection can serve the
// next call.
func (r *Response) Finish() {
	if r.failed == nil {
		hurry := time.AfterFunc(20*time.Millisecond, func() { r.cancel(nil) })
		_, _ = io.CopyN(io.Discard, r.body, 4<<10)
		hurry.Stop()
	}
	r.Close()
}

// JSON reads the whole body into v.
func (r *Response) JSON(v any) error {
	data, err := r.All()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return r.BadBody(data, err)
	}
	return nil
}

// maxWhole is how many bytes an answer in one piece may have: it is held in memory, several times while it is read.
const maxWhole = 16 << 20

// All reads the whole body.
func (r *Response) All() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxWhole+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxWhole {
		return nil, r.Failed(llm.Broken, fmt.Sprintf("its answer is larger than %d MiB", maxWhole>>20))
	}
	return data, nil
}

// Streams reports whether the body is an event stream rather than JSON, by its type or, where that is another, by its first
// bytes. A body that is neither is an error.
func (r *Response) Streams() (bool, error) {
	kind, _, _ := strings.Cut(strings.ToLower(r.Header.Get("Content-Type")), ";")
	switch strings.TrimSpace(kind) {
	case Stream:
		return true, nil
	case "application/json":
		return false, nil
	}
	first, err := r.peek()
	if err != nil {
		return false, err
	}
	switch {
	case bytes.HasPrefix(first, []byte("{")), bytes.HasPrefix(first, []byte("[")):
		return false, nil
	case bytes.HasPrefix(first, []byte(":")), bytes.HasPrefix(first, []byte("data")), bytes.HasPrefix(first, []byte("event")), bytes.HasPrefix(first, []byte("id:")):
		return true, nil
	}
	return false, r.BadBody(first, nil)
}

// peek returns the first bytes that are not white space and leaves them to Read.
func (r *Response) peek() ([]byte, error) {
	for {
		if text := bytes.TrimLeft(bytes.TrimPrefix(r.peeked, []byte("\uFEFF")), " \t\r\n"); len(text) >= 5 || len(r.peeked) > 4096 {
			return text, nil
		}
		buffer := make([]byte, 4096)
		n, err := r.more(buffer)
		r.peeked = append(r.peeked, buffer[:n]...)
		if err == io.EOF {
			return bytes.TrimSpace(r.peeked), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
