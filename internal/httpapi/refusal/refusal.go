// Package refusal writes down what went wrong as the contract has it: status, headers and body of a fault, and, on the
// connections of Listen, of what net/http refuses before a handler sees it.
package refusal

import (
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/secret/redact"
)

// statuses are the HTTP status of each kind of fault and the word that begins its message.
var statuses = map[fault.Kind]struct {
	code int
	word string
}{
	fault.KindInternal:        {http.StatusInternalServerError, "INTERNAL"},
	fault.KindInvalid:         {http.StatusBadRequest, "INVALID_ARGUMENT"},
	fault.KindUnauthenticated: {http.StatusUnauthorized, "UNAUTHENTICATED"},
	fault.KindForbidden:       {http.StatusForbidden, "PERMISSION_DENIED"},
	fault.KindNotFound:        {http.StatusNotFound, "NOT_FOUND"},
	fault.KindConflict:        {http.StatusConflict, "CONFLICT"},
	fault.KindTooLarge:        {http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE"},
	fault.KindMediaType:       {http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE"},
	fault.KindUnprocessable:   {http.StatusUnprocessableEntity, "FAILED_PRECONDITION"},
	fault.KindLimited:         {http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"},
	fault.KindNotBuilt:        {http.StatusNotImplemented, "UNIMPLEMENTED"},
	fault.KindUpstream:        {http.StatusBadGateway, "UNAVAILABLE"},
	fault.KindUnavailable:     {http.StatusServiceUnavailable, "UNAVAILABLE"},
	fault.KindTimeout:         {http.StatusGatewayTimeout, "DEADLINE_EXCEEDED"},
}

// Status returns the HTTP status of f and the word that begins its message.
func Status(f *fault.Fault) (int, string) {
	s := statuses[f.Kind]
	if f.Kind == fault.KindUpstream && f.Status >= 400 && f.Status <= 599 {
		s.code = f.Status
		for _, known := range statuses {
			if known.code == s.code {
				s = known
			}
		}
	}
	if f.Kind == fault.KindConflict && strings.HasSuffix(f.Code, "_exists") {
		s.word = "ALREADY_EXISTS"
	}
	return s.code, s.word
}

// Body is Error, BadRequestError and NotFoundError of the contract.
type Body struct {
	FieldErrors map[string]string `json:"field_errors,omitempty"`
	ID          *string           `json:"id,omitempty"`
	Messages    []string          `json:"messages"`
	Code        string            `json:"code,omitempty"`
	RequestID   string            `json:"request_id"`

	Error            json.RawMessage `json:"error,omitempty"`             // RFC 6749: a code; OpenAI: an object
	ErrorDescription string          `json:"error_description,omitempty"` // RFC 6749

	Results any `json:"search_results,omitempty"` // ours: what a query had found before its answer failed
}

// Of returns the contract's body for f and sets the headers that go with it.
func Of(h http.Header, requestID string, f *fault.Fault) Body {
	b := Body{Messages: []string{Message(f)}, Code: f.Code, RequestID: requestID}
	switch f.Kind {
	case fault.KindInvalid:
		b.FieldErrors = f.Fields
	case fault.KindNotFound:
		b.ID = &f.ID
	case fault.KindUnauthenticated:
		h.Set("WWW-Authenticate", "Bearer")
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	return b
}

// Redacted returns b without the secrets that it repeats, such as a key that was sent in the path.
func (b Body) Redacted() Body {
	messages := make([]string, len(b.Messages))
	for i, text := range b.Messages {
		messages[i] = redact.Text(text)
	}
	b.Messages = messages
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
	return b
}

// opened matches a text that begins with a status word of its own, which clients match.
var opened = regexp.MustCompile(`^[A-Z][A-Z_]+: `)

// Message returns the text of f after its status word.
func Message(f *fault.Fault) string {
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
	_, word := Status(f)
	return word + ": " + text
}
