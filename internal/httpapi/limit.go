package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"quarry/internal/fault"
	"quarry/internal/usage"
)

// Limits bound what one caller takes of this process. A nil member bounds nothing.
type Limits struct {
	Rate   *usage.Rate // requests of a credential
	Calls  *usage.Gate // expensive calls, one place each
	Remote *usage.Gate // calls that wait for another service, one place each
	Bodies *usage.Gate // bytes of bodies held in memory
}

// caller is who is limited: the credential, so that two keys of a person do not share a bound.
func (c *Call) caller() string {
	if c.Principal.Credential != "" {
		return c.Principal.Credential
	}
	return string(c.Principal.Kind) + ":" + c.Principal.ID
}

// meter counts a request against the rate of its credential, and says in headers what is left. It comes after
// authentication, so that a 429 says nothing to those without a credential, and before everything that costs more.
func (s *Server) meter(h http.Header, c *Call) error {
	if s.cfg.Limits.Rate == nil {
		return nil
	}
	now := time.Now()
	a := s.cfg.Limits.Rate.Take(c.caller(), now)
	reset := a.Full
	if !a.OK {
		reset = a.Wait
	}
	h.Set("X-RateLimit-Limit", strconv.FormatInt(a.Limit, 10))
	h.Set("X-RateLimit-Remaining", strconv.FormatInt(a.Remaining, 10))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(reset+time.Second-1).Unix(), 10)) // clients read it as seconds since 1970
	if a.OK {
		return nil
	}
	return limited(&usage.Refused{After: a.Wait, Text: "this credential sends more requests than its rate allows; slow down, or try again after the time in Retry-After"})
}

// limited is the answer to a refusal: 429 with Retry-After, which is at least a second since it counts in seconds.
func limited(r *usage.Refused) error {
	return fault.Limited("rate_limit_exceeded", "%s", r.Text).After(max(r.After, time.Second))
}

// enter takes places behind a gate until the request ends; leave gives them back.
func enter(ctx context.Context, g *usage.Gate, c *Call, places int64) error {
	if g == nil {
		return nil
	}
	leave, err := g.Enter(ctx, c.caller(), places)
	var r *usage.Refused
	if errors.As(err, &r) {
		return limited(r)
	}
	if err != nil {
		return err
	}
	c.leave = append(c.leave, sync.OnceFunc(leave))
	return nil
}

// expensive takes the place of an expensive call, which Await gives back.
func (s *Server) expensive(ctx context.Context, c *Call) error {
	if s.cfg.Limits.Calls == nil {
		return nil
	}
	if err := enter(ctx, s.cfg.Limits.Calls, c, 1); err != nil {
		return err
	}
	leave := c.leave[len(c.leave)-1]
	c.await = func(ctx context.Context) error {
		c.await = nil
		if err := enter(ctx, s.cfg.Limits.Remote, c, 1); err != nil {
			return err
		}
		leave()
		return nil
	}
	return nil
}

// release gives back what the request held.
func (c *Call) release() {
	for _, leave := range c.leave {
		leave()
	}
	c.leave = nil
}

// begin takes what a call needs before its handler runs: a place among the expensive calls, or room for the upload that
// the handler reads before it asks for its place (see Call.Enter). A stream holds its place until it ends, for then its
// handler returns, unless it waits for another service and has called Call.Await.
func (s *Server) begin(r *http.Request, c *Call) error {
	form := c.Op.Body.Multipart != "" && c.Body == nil
	if c.Op.Expensive && !form {
		return s.expensive(r.Context(), c)
	}
	if !form {
		return nil
	}
	if c.Op.Expensive {
		c.place = func(ctx context.Context) error { return s.expensive(ctx, c) }
	}
	size := r.ContentLength
	if size < 0 {
		size = s.cfg.MaxUpload
	}
	return s.room(r.Context(), c, size, 1)
}

const (
	// freeBody is how many bytes of a body need no room: most bodies are smaller, and there are as many as connections.
	freeBody = 64 << 10
	// parsedJSON is how much memory JSON takes as text and parsed, as a multiple of the text. Hostile shapes take more.
	parsedJSON = 4
	// maxFormRest is what a form may hold beside its file, in bytes.
	maxFormRest = 8 << 20
)

// room waits until a body of size bytes, which takes times as much memory, fits beside those in flight.
func (s *Server) room(ctx context.Context, c *Call, size, times int64) error {
	if size <= freeBody {
		return nil
	}
	return enter(ctx, s.cfg.Limits.Bodies, c, size*times)
}

// checkForm refuses an upload whose length alone says that it is too large, before a client that waits for "100
// Continue" sends it.
func (s *Server) checkForm(r *http.Request, c *Call) error {
	if c.Op.Body.Multipart != "" && r.ContentLength > s.cfg.MaxUpload+maxFormRest {
		return fault.TooLarge("the upload has %d bytes; a file may have %d, the setting max_upload of this service", r.ContentLength, s.cfg.MaxUpload)
	}
	return nil
}

// The slowest body that is waited for: bodyGrace for the first byte, then slowestBody bytes a second. Who sends slower
// would hold its places for as long as it likes.
const (
	bodyGrace   = 30 * time.Second
	slowestBody = 8 << 10
)

// requestBody remembers whether anything asked for the body, which is what sends "100 Continue", and gives up on one that
// comes too slowly.
type requestBody struct {
	io.ReadCloser
	conn  *http.ResponseController
	begun time.Time // zero until something asks
	got   int64
	grace time.Duration
	lost  bool // reading failed; the rest will not come
}

func (b *requestBody) Read(p []byte) (int, error) {
	if b.begun.IsZero() {
		b.begun = time.Now()
	}
	_ = b.conn.SetReadDeadline(b.begun.Add(b.grace + time.Duration(b.got)*time.Second/slowestBody)) // tests have no connection
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if err == io.EOF { // the deadline must not end the request that is still being answered
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	b.lost = err != nil && err != io.EOF
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, fault.InvalidField("body", "came too slowly: at least %d bytes a second are waited for", slowestBody).Because(err)
	}
	return n, err
}
