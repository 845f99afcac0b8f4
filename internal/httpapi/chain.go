package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/room"
)

// ServeHTTP passes a request through the chain. The order of refusal is the contract's: 401, 403, 501 where not
// built, 404 for what the path names, 415, 400 for headers, query and body.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: w, started: time.Now(), call: Call{RequestID: id.NewRequest()}}
	x.call.Address = s.cfg.TrustedProxies.Client(r)
	x.call.answer = w.Header()
	x.body = &requestBody{ReadCloser: r.Body, conn: http.NewResponseController(w), grace: bodyGrace}
	defer x.call.release()
	r = r.WithContext(r.Context()) // a copy: net/http reads the Body of its own request to decide on "100 Continue"
	r.Body = x.body
	x.call.slowest = s.cfg.SlowestReader
	x.call.turns = s.cfg.Limits.Turns
	x.call.explain = func(err error) *fault.Fault { return s.outcome(x, r, err) }
	h := w.Header()
	h.Set("X-Request-Id", x.call.RequestID)
	h.Set("Cache-Control", "no-store")
	h.Set("CDN-Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if len(r.TransferEncoding) > 0 {
		// net/http ignores a Content-Length beside chunks. A proxy that honours it would read the rest of the body as the
		// next request; so the connection ends here (RFC 9112, 6.1).
		h.Set("Connection", "close")
	}
	s.cfg.Origins.Share(h, r)
	defer s.recordOutcome(x, r)
	defer s.finish(x, r)
	if err := s.answer(x, r); err != nil {
		s.refuse(x, r, err)
	}
}

// finish logs the request. A panic costs the request that caused it and no other.
func (s *Server) finish(x *exchange, r *http.Request) {
	if v := recover(); v != nil {
		if v == http.ErrAbortHandler {
			panic(v)
		}
		s.cfg.Log.Error("panic in handler", "request_id", x.call.RequestID, "method", r.Method, "route", x.route(),
			"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		if x.status != 0 { // half an answer must not pass for a whole one
			x.log(s.cfg.Log, r)
			x.status = http.StatusInternalServerError
			panic(http.ErrAbortHandler)
		}
		writeBody(x, http.StatusInternalServerError, x.refusal(r, internalFault))
	}
	x.log(s.cfg.Log, r)
}

// answer runs the chain and the handler.
func (s *Server) answer(x *exchange, r *http.Request) error {
	methods := func() []string {
		_, _, allow := s.routes.Find(http.MethodOptions, r.URL.EscapedPath())
		return allow
	}
	if done, err := s.cfg.Origins.Preflight(x, r, methods); done {
		return err
	}
	if under(s.cfg.Console.Root, r.URL.Path) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return &methodError{method: r.Method, allow: []string{http.MethodGet, http.MethodHead}}
		}
		return s.cfg.Console.Serve(x, r)
	}
	c := &x.call
	op, params, allow := s.routes.Find(r.Method, r.URL.EscapedPath())
	if op == nil {
		if len(allow) > 0 {
			return &methodError{method: r.Method, allow: allow}
		}
		return NoResource(r.URL.Path)
	}
	c.Op, c.Path = op, params
	if op.Frees {
		r = r.WithContext(room.Freeing(r.Context()))
	}
	if err := s.admit(x.Header(), r, c); err != nil {
		return err
	}
	run := s.handlers[op.ID]
	if run == nil {
		return fault.NotBuilt("%s (%s %s) is part of the contract and not built yet", op.ID, op.Method, op.Path)
	}
	if err := checkPath(c); err != nil {
		return err
	}
	if err := s.resolve(r.Context(), c); err != nil {
		return err
	}
	if err := checkMediaType(op, r); err != nil {
		return err
	}
	limit, err := s.validate(r, c)
	if err != nil {
		return err
	}
	if limit == 0 {
		return s.perform(x, r, run)
	}
	ctx, cancel := context.WithDeadline(r.Context(), x.started.Add(limit))
	defer cancel()
	err = s.perform(x, r.WithContext(ctx), run)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && x.status == 0 {
		if _, expected := fault.As(err); !expected { // the deadline is the cause, whichever error it surfaced as
			return errors.Join(context.DeadlineExceeded, err)
		}
	}
	return err
}

// under reports whether a path is root or below it; nothing is under "".
func under(root, path string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && root != "" && (rest == "" || rest[0] == '/')
}

// NoResource returns the fault of a path that leads nowhere.
func NoResource(path string) error {
	return fault.NotFound("path_not_found", path, "there is no resource at %s; GET /openapi.yaml lists the paths", path)
}

// perform runs the handler of a valid request, once it has its place under the limits and its intent is recorded.
func (s *Server) perform(x *exchange, r *http.Request, run Handler) error {
	if err := s.begin(r, &x.call); err != nil {
		return err
	}
	if err := r.Context().Err(); errors.Is(err, context.DeadlineExceeded) && x.call.Op.NamesJob != api.Yes {
		return err
	}
	if err := s.recordIntent(x, r); err != nil {
		return err
	}
	return run(x, r, &x.call)
}

// admit authenticates the caller, counts the request and checks the caller's roles.
func (s *Server) admit(answer http.Header, r *http.Request, c *Call) (err error) {
	if c.Op.Public {
		return nil
	}
	shown, err := credential(r.Header)
	if err != nil {
		return err
	}
	if c.Principal, err = s.authenticate(r.Context(), shown); err != nil {
		return err
	}
	if err := s.meter(answer, c); err != nil {
		return err
	}
	if !mayTry(c) {
		return fault.Forbidden("%s", missingRoles(c))
	}
	return nil
}

// missingRoles returns the text of a refusal for want of roles.
func missingRoles(c *Call) string {
	if c.Op.OpenTo == api.OpenToPeople {
		return c.Op.ID + " is for people: use a personal key, or sign in"
	}
	text := c.Op.ID + " needs"
	or := " "
	for _, l := range []struct {
		name  string
		roles []string
	}{{"API", c.Op.APIRoles}, {"corpus", c.Op.CorpusRoles}, {"agent", c.Op.AgentRoles}} {
		if len(l.roles) > 0 {
			text += or + "one of the " + l.name + " roles " + strings.Join(l.roles, ", ")
			or = "; or "
		}
	}
	if c.Op.PersonalKeys && c.Principal.Kind == authz.APIKey {
		return c.Op.ID + " takes no API key that has roles of its own: use a personal key, sign in, or use an application client"
	}
	return text
}

// resolve checks from left to right that the resources in the path exist.
func (s *Server) resolve(ctx context.Context, c *Call) error {
	for _, segment := range strings.Split(c.Op.Path, "/") {
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			continue
		}
		if check := s.cfg.Resolvers[strings.TrimSuffix(name, "}")]; check != nil {
			if err := check(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// validate checks headers, query and body, and returns the time that the request may take, 0 for any. Its fault names
// every field that is wrong, so that a client need not fix them one request at a time.
func (s *Server) validate(r *http.Request, c *Call) (time.Duration, error) {
	bad := fault.Invalid()
	limit := timeout(r.Header, bad)
	if err := s.checkQuery(c, r.URL.RawQuery, bad); err != nil {
		return 0, err
	}
	if err := s.checkForm(r, c); err != nil {
		return 0, err
	}
	if err := s.readBody(r, c, bad); err != nil {
		return 0, err
	}
	if len(bad.Fields) > 0 {
		return 0, bad
	}
	return limit, nil
}

// exchange is one request and its answer. It is the ResponseWriter of the handler.
type exchange struct {
	http.ResponseWriter
	call    Call
	body    *requestBody
	started time.Time
	status  int // 0 until the answer begins
	bytes   int64
	event   id.Audit // of the recorded intent; "" if there is none
}

func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= 200 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection, for streams.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Flush sends what was written so far, for streams.
func (x *exchange) Flush() { _ = x.FlushError() }

// FlushError is Flush for http.ResponseController.
func (x *exchange) FlushError() error { return http.NewResponseController(x.ResponseWriter).Flush() }

func (x *exchange) route() string {
	if x.call.Op == nil {
		return ""
	}
	return x.call.Op.Path
}

// clientGone is the status in the access log when the client left before the answer, as nginx writes it.
const clientGone = 499

func (x *exchange) log(log *slog.Logger, r *http.Request) {
	status := x.status
	if status == 0 {
		status = http.StatusOK
		if r.Context().Err() != nil {
			status = clientGone
		}
	}
	principal := ""
	if p := x.call.Principal; p.ID != "" {
		principal = string(p.Kind) + ":" + p.ID
	}
	log.Info("request", "method", r.Method, "route", x.route(), "status", status,
		"duration_ms", float64(time.Since(x.started).Microseconds())/1000, "bytes", x.bytes,
		"request_id", x.call.RequestID, "principal", principal)
}

// The limits of drain.
const (
	drainBytes = 64 << 20
	drainTime  = 15 * time.Second
)

// drain reads the rest of the body of a refused request: most clients send all of it before they read the answer, and
// would see a broken connection instead. A client that still waits for "100 Continue" sends nothing.
func (x *exchange) drain(r *http.Request) {
	if r.ContentLength == 0 || x.body.lost || x.body.begun.IsZero() && strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return
	}
	c := http.NewResponseController(x.ResponseWriter)
	if c.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return
	}
	if _, err := io.CopyN(io.Discard, x.body.ReadCloser, drainBytes); err == io.EOF {
		_ = c.SetReadDeadline(time.Time{}) // the connection is reused; otherwise the deadline keeps net/http from waiting
	}
}
