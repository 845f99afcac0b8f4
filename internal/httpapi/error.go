package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi/refusal"
)

// methodError is returned for a path that exists and does not take the method.
type methodError struct {
	method string
	allow  []string
}

func (e *methodError) Error() string {
	return fmt.Sprintf("the path takes %s, not %s", strings.Join(e.allow, ", "), e.method)
}

// internalFault is what a client sees of an internal error; the log has the cause under the request id.
var internalFault = &fault.Fault{Code: "internal", Text: "the request failed inside the service; the log has the cause under the request id"}

// refuse is the one place where an error becomes an answer.
func (s *Server) refuse(x *exchange, r *http.Request, err error) {
	if x.status != 0 {
		s.cfg.Log.Error("error after the answer began", "request_id", x.call.RequestID, "route", x.route(), "error", err)
		return
	}
	var wrong *methodError
	if errors.As(err, &wrong) {
		x.Header().Set("Allow", strings.Join(wrong.allow, ", "))
		x.drain(r)
		f := fault.Invalid()
		f.Code, f.Text = "method_not_allowed", "METHOD_NOT_ALLOWED: "+err.Error()
		writeBody(x, http.StatusMethodNotAllowed, x.refusal(r, f))
		return
	}
	f := s.outcome(x, r, err)
	if f == nil {
		// Nobody is left to read an answer, or a client that has closed its sending side alone: returning would send
		// that one an empty 200 for what was not done.
		x.log(s.cfg.Log, r)
		panic(http.ErrAbortHandler)
	}
	x.drain(r)
	status, _ := refusal.Status(f)
	b := x.refusal(r, f)
	var found *withResults
	if errors.As(err, &found) {
		b.Results = found.results
	}
	writeBody(x, status, b)
}

// refusal returns the body for f and sets the headers that go with it.
func (x *exchange) refusal(r *http.Request, f *fault.Fault) refusal.Body {
	b := refusal.Of(x.Header(), x.call.RequestID, f)
	op := x.call.Op
	if op != nil && op.OAuthErrors == api.Yes {
		b.AddOAuth(x.Header(), f)
	}
	if op != nil && op.OpenAIErrors == api.Yes || op == nil && openAIPath(r.URL.Path) {
		b.AddOpenAI(f)
	}
	return b
}

// openAIPath reports whether a path that is none of the contract, or doesn't take the method, is one that clients of
// OpenAI's interface may have asked for: it lies below one of the base addresses that they are given.
func openAIPath(path string) bool {
	for _, base := range []string{"/v1", "/v2/llms"} {
		if below, ok := strings.CutPrefix(path, base); ok && (below == "" || below[0] == '/') {
			return true
		}
	}
	return false
}

// outcome returns the fault that a client sees of err, nil when the client is gone, and logs what the client does not
// see. If the context ended with a fault as its cause, such as the stop of the service, it is that fault.
func (s *Server) outcome(x *exchange, r *http.Request, err error) *fault.Fault {
	f, expected := fault.As(err)
	switch {
	case expected && f.Kind != fault.KindInternal:
		if f.Unwrap() != nil && f.Kind >= fault.KindUpstream {
			s.cfg.Log.Warn("request refused", "request_id", x.call.RequestID, "route", x.route(), "error", err, "cause", f.Unwrap())
		}
		return f
	case r.Context().Err() != nil:
		f, _ = fault.As(context.Cause(r.Context()))
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout("the deadline of the request passed before it was done; what it writes may still be written, so read before writing again")
	}
	s.cfg.Log.Error("request failed", "request_id", x.call.RequestID, "route", x.route(), "error", err)
	return internalFault
}

// withResults is an error of a request that had found results before it failed.
type withResults struct {
	error
	results any
}

func (e *withResults) Unwrap() error { return e.error }

// WithResults returns err with the search results that were found before it: the error body shows them, in a member of ours
// beside those of the contract.
func WithResults(err error, results any) error { return &withResults{err, results} }

func writeBody(w http.ResponseWriter, status int, b refusal.Body) {
	_ = WriteJSON(w, status, b.Redacted()) // strings always encode
}
