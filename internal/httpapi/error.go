package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/secret/redact"
)

// methodError says that a path exists and does not take the method.
type methodError struct {
	method string
	allow  []string
}

func (e *methodError) Error() string {
	return fmt.Sprintf("the path takes %s, not %s", strings.Join(e.allow, ", "), e.method)
}

// internalFault is what a client sees of an error that is not its own: the request id finds the rest in the log.
var internalFault = &fault.Fault{Code: "internal", Text: "the request failed inside the service; the log has the cause under the request id"}

// statusOf gives the HTTP status and the word that opens the message.
func statusOf(f *fault.Fault) (int, string) {
	switch f.Kind {
	case fault.KindInvalid:
		return http.StatusBadRequest, "INVALID_ARGUMENT"
	case fault.KindUnauthenticated:
		return http.StatusUnauthorized, "UNAUTHENTICATED"
	case fault.KindForbidden:
		return http.StatusForbidden, "PERMISSION_DENIED"
	case fault.KindNotFound:
		return http.StatusNotFound, "NOT_FOUND"
	case fault.KindConflict:
		if strings.HasSuffix(f.Code, "_exists") {
			return http.StatusConflict, "ALREADY_EXISTS"
		}
		return http.StatusConflict, "CONFLICT"
	case fault.KindTooLarge:
		return http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE"
	case fault.KindMediaType:
		return http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE"
	case fault.KindUnprocessable:
		return http.StatusUnprocessableEntity, "FAILED_PRECONDITION"
	case fault.KindLimited:
		return http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"
	case fault.KindNotBuilt:
		return http.StatusNotImplemented, "UNIMPLEMENTED"
	case fault.KindUpstream:
		return http.StatusBadGateway, "UNAVAILABLE"
	case fault.KindUnavailable:
		return http.StatusServiceUnavailable, "UNAVAILABLE"
	case fault.KindTimeout:
		return http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"
	}
	return http.StatusInternalServerError, "INTERNAL"
}

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
		writeBody(x, http.StatusMethodNotAllowed, errorBody{Messages: []string{"METHOD_NOT_ALLOWED: " + err.Error()},
			Code: "method_not_allowed", RequestID: x.call.RequestID})
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
	status, _ := statusOf(f)
	b := bodyOf(x, x.call.RequestID, f)
	if x.call.Op != nil && x.call.Op.OAuthErrors {
		addOAuth(x, f, &b)
	}
	var k *kept
	if errors.As(err, &k) {
		b.Results = k.results
	}
	writeBody(x, status, b)
}

// outcome is what a client is told of an error, and tells the log what it is not told. It is nil when the client is
// gone. The context of requests that ends with a fault as its cause ends them with that.
func (s *Server) outcome(x *exchange, r *http.Request, err error) *fault.Fault {
	f, expected := fault.As(err)
	switch {
	case expected && f.Kind != fault.KindInternal:
		if f.Unwrap() != nil && f.Kind >= fault.KindUpstream {
			s.cfg.Log.Warn("request refused", "request_id", x.call.RequestID, "route", x.route(), "error", err, "cause", f.Unwrap())
		}
		return f
	case r.Context().Err() != nil:
		f, _ = fault.As(context.Cause(r.Context())) // whoever ended it says why: the service stops
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout("the deadline of the request passed before it was done; what it writes may still be written, so read before writing again")
	}
	s.cfg.Log.Error("request failed", "request_id", x.call.RequestID, "route", x.route(), "error", err)
	return internalFault
}

// kept is an error of a request that had found something already.
type kept struct {
	error
	results any
}

func (k *kept) Unwrap() error { return k.error }

// Keep gives err with the search results that were there when it came: they are part of the answer (ours, beside the
// contract's members of an error).
func Keep(err error, results any) error { return &kept{err, results} }

// errorBody is Error, BadRequestError and NotFoundError of the contract.
type errorBody struct {
	FieldErrors map[string]string `json:"field_errors,omitempty"`
	ID          *string           `json:"id,omitempty"`
	Messages    []string          `json:"messages"`
	Code        string            `json:"code,omitempty"`
	RequestID   string            `json:"request_id"`

	Error            string `json:"error,omitempty"` // RFC 6749
	ErrorDescription string `json:"error_description,omitempty"`

	Results any `json:"search_results,omitempty"` // ours: what a query had found before its answer failed
}

// bodyOf gives the contract's body for f and sets the headers that go with it.
func bodyOf(w http.ResponseWriter, requestID string, f *fault.Fault) errorBody {
	_, word := statusOf(f)
	b := errorBody{Messages: []string{message(f, word)}, Code: f.Code, RequestID: requestID}
	switch f.Kind {
	case fault.KindInvalid:
		b.FieldErrors = f.Fields
	case fault.KindNotFound:
		b.ID = &f.ID
	case fault.KindUnauthenticated:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	return b
}

func writeBody(w http.ResponseWriter, status int, b errorBody) {
	b.redact()
	_ = WriteJSON(w, status, b) // strings always encode
}

// redact takes out secrets that a refusal repeats, such as a key that was sent in the path.
func (b *errorBody) redact() {
	for i, text := range b.Messages {
		b.Messages[i] = redact.Text(text)
	}
	fields := make(map[string]string, len(b.FieldErrors))
	for path, text := range b.FieldErrors {
		fields[redact.Text(path)] = redact.Text(text)
	}
	b.FieldErrors = fields
	if b.ID != nil {
		id := redact.Text(*b.ID)
		b.ID = &id
	}
	b.ErrorDescription = redact.Text(b.ErrorDescription)
}

// opened matches a text that brings its own status word, as those that clients match do.
var opened = regexp.MustCompile(`^[A-Z][A-Z_]+: `)

func message(f *fault.Fault, word string) string {
	text := f.Text
	if text == "" && len(f.Fields) > 0 {
		parts := make([]string, 0, len(f.Fields))
		for _, path := range f.Paths() {
			parts = append(parts, path+" "+f.Fields[path])
		}
		text = strings.Join(parts, "; ")
	}
	if opened.MatchString(text) {
		return text
	}
	return word + ": " + text
}
