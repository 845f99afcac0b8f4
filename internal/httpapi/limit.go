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

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/usage"
)

// Limits are the bounds on what one caller uses of this process. A nil member is no bound.
type Limits struct {
	Rate   *usage.Rate // requests of a credential
	Calls  *usage.Gate // expensive calls, one place each
	Remote *usage.Gate // calls that wait for another service, one place each
	Bodies *usage.Gate // bytes of bodies held in memory
	Turns  *usage.Gate // turns of agents, one place each, which outlive their requests
}

// caller returns the identity that limits apply to: the credential, so that two keys of a person do not share a bound.
func (c *Call) caller() string {
	if c.Principal.Credential != "" {
		return c.Principal.Credential
	}
	return string(c.Principal.Kind) + ":" + c.Principal.ID
}

// meter counts a request against the rate of its credential, and sets the headers that report what is left. It runs after
// authentication, so that a 429 reveals nothing to callers without a credential, and before everything that costs more.
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
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(reset+time.Second-1).Unix(), 10)) // seconds since 1970, rounded up
	if a.OK {
		return nil
	}
	return limited(&usage.Refused{After: a.Wait, Text: "this credential sends more requests than its rate allows; slow down, or try again after the time in Retry-After"})
}

// limited returns the fault of a refusal: 429 with Retry-After, at least one second because the header has no fractions.
func limited(r *usage.Refused) error {
	return fault.Limited("rate_limit_exceeded", "%s", r.Text).After(max(r.After, time.Second))
}

// enter takes places of a gate until the request ends or leave is called; c.release calls it, too.
func enter(ctx context.Context, g *usage.Gate, c *Call, places int64) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	leave, err = g.Enter(ctx, c.caller(), places)
	var r *usage.Refused
	if errors.As(err, &r) {
		return nil, limited(r)
	}
	if err != nil {
		return nil, err
	}
	return c.holds(leave), nil
}

// Turn takes the place of a turn, which is held until leave is called, however long the request lasts.
func (c *Call) Turn(ctx context.Context) (leave func(), err error) {
	if c.turns == nil {
		return func() {}, nil
	}
	leave, err = c.turns.Enter(ctx, c.caller(), 1)
	var r *usage.Refused
	if errors.As(err, &r) {
		return nil, limited(r)
	}
	return leave, err
}

// holds notes that the request holds something until it ends or the returned function is called.
func (c *Call) holds(leave func()) func() {
	leave = sync.OnceFunc(leave)
	c.leave = append(c.leave, leave)
	return leave
}

// expensive takes the place of an expensive call. Call.Await and Call.Outside release it.
func (s *Server) expensive(ctx context.Context, c *Call) error {
	calls, remote := s.cfg.Limits.Calls, s.cfg.Limits.Remote
	if calls == nil {
		return nil
	}
	leave, err := enter(ctx, calls, c, 1)
	if err != nil {
		return err
	}
	c.await = func(ctx context.Context) (back func(), err error) {
		back, err = enter(ctx, remote, c, 1)
		if err == nil {
			leave()
		}
		return back, err
	}
	c.again = func(ctx context.Context) error {
		back, err := calls.Again(ctx, c.caller(), 1)
		if err == nil {
			leave = c.holds(back)
		}
		return err
	}
	return nil
}

// release releases what the request held.
func (c *Call) release() {
	for _, leave := range c.leave {
		leave()
	}
	c.leave = nil
}

// begin takes what a call needs before its handler runs: a place among the expensive calls, or memory for what the handler holds
// of a form that it reads before it asks for its place (see Call.Enter). A stream holds its place until its handler returns,
// unless the handler has called Call.Await.
func (s *Server) begin(r *http.Request, c *Call) error {
	isForm := c.Op.Body.Multipart != "" && c.Body == nil
	if c.Op.Expensive && !isForm {
		return s.expensive(r.Context(), c)
	}
	if !isForm {
		return nil
	}
	if c.Op.Expensive {
		c.place = func(ctx context.Context) error { return s.expensive(ctx, c) }
	}
	size := r.ContentLength
	if size < 0 {
		size = s.cfg.MaxUpload
	}
	if !uploads[c.Op.Upload].held {
		size = min(size, maxFormRest)
	}
	return s.room(r.Context(), c, size, 1)
}

// MaxFiles is how many files a form has at most that may have several.
const MaxFiles = 64

// uploads are the forms that operations take, by what they state in x-upload: how many files, and whether these are held in
// memory or kept as they come.
var uploads = map[string]struct {
	files int64
	held  bool
}{"max_upload": {1, true}, "max_artifact": {MaxFiles, false}}

// formLimits returns how many bytes a file, and a whole form of an operation may have.
func (s *Server) formLimits(op *api.Operation) (file, whole int64) {
	file = s.cfg.MaxUpload
	if op.Upload == "max_artifact" {
		file = s.cfg.MaxArtifact
	}
	return file, file*uploads[op.Upload].files + maxFormRest
}

const (
	// freeBody is the size in bytes up to which a body is not counted: most are smaller, and connections bound their number.
	freeBody = 64 << 10
	// parsedJSON is the memory of JSON as text and parsed, as a multiple of the text. Hostile shapes take more.
	parsedJSON = 4
	// maxFormRest is how many bytes a form may hold beside its file.
	maxFormRest = 8 << 20
)

// room waits until a body of size bytes, which takes times as much memory, fits beside those in flight.
func (s *Server) room(ctx context.Context, c *Call, size, times int64) error {
	if size <= freeBody {
		return nil
	}
	_, err := enter(ctx, s.cfg.Limits.Bodies, c, size*times)
	return err
}

// checkForm refuses an upload whose Content-Length is too large, before a client that waits for "100 Continue" sends it.
func (s *Server) checkForm(r *http.Request, c *Call) error {
	if c.Op.Body.Multipart == "" {
		return nil
	}
	if file, whole := s.formLimits(c.Op); r.ContentLength > whole {
		return fault.TooLarge("the upload has %d bytes; a file may have %d, the setting %s of this service", r.ContentLength, file, c.Op.Upload)
	}
	return nil
}

// The slowest body that is accepted: bodyGrace for the first byte, then slowestBody bytes a second. A slower client would
// hold its memory and its place indefinitely.
const (
	bodyGrace   = 30 * time.Second
	slowestBody = 8 << 10
)

// requestBody records whether anything has read the body, which is when net/http sends "100 Continue", and fails when the
// body arrives too slowly.
type requestBody struct {
	io.ReadCloser
	conn  *http.ResponseController
	begun time.Time // zero until the first Read
	got   int64
	grace time.Duration
	lost  bool // reading failed
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
