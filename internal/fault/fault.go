// Package fault holds the one error type for expected outcomes: a closed kind, a contract code, a text for the
// user and, for bad input, the fields at fault. Every layer may return a *Fault; each transport maps it to its
// wire form in one function. Any other error is internal: its text is for the log, never for the client.
package fault

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
)

// Kind says what went wrong in a transport-neutral way. The set is closed.
type Kind uint8

// The kinds, with the HTTP status that the HTTP transport gives each.
const (
	KindInternal        Kind = iota // 500
	KindInvalid                     // 400
	KindUnauthenticated             // 401
	KindForbidden                   // 403
	KindNotFound                    // 404
	KindConflict                    // 409
	KindTooLarge                    // 413
	KindMediaType                   // 415
	KindUnprocessable               // 422
	KindLimited                     // 429
	KindNotBuilt                    // 501
	KindUpstream                    // 502
	KindUnavailable                 // 503
	KindTimeout                     // 504
)

// Fault is an expected outcome that is not success. It is immutable once returned.
type Fault struct {
	Kind       Kind
	Code       string            // contract code, such as "corpus_not_found"
	Text       string            // one sentence for the user: what happened and what to do
	ID         string            // what was not found (KindNotFound)
	Fields     map[string]string // path within what was given ("corpora[0].key") → reason (KindInvalid); see Under
	RetryAfter time.Duration     // KindLimited and KindUnavailable; 0 = not said
	cause      error
}

// Error is the text for the user followed by the fields at fault in path order.
func (f *Fault) Error() string {
	if len(f.Fields) == 0 {
		return f.Text
	}
	parts := make([]string, 0, len(f.Fields))
	for _, k := range f.Paths() {
		parts = append(parts, k+": "+f.Fields[k])
	}
	return strings.TrimSpace(f.Text + " (" + strings.Join(parts, "; ") + ")")
}

// Paths lists the fields at fault in ascending order.
func (f *Fault) Paths() []string {
	out := make([]string, 0, len(f.Fields))
	for k := range f.Fields {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Unwrap gives the cause, which is for the log alone.
func (f *Fault) Unwrap() error { return f.cause }

// maxFields is how many fields one fault names: a list that is wrong in a hundred thousand places would otherwise be
// answered by megabytes.
const maxFields = 100

// Field adds a field at fault; the first reason given for a path stays, and beyond a hundred paths no more are taken.
func (f *Fault) Field(path, format string, args ...any) *Fault {
	if f.Fields == nil {
		f.Fields = map[string]string{}
	}
	if _, ok := f.Fields[path]; !ok && len(f.Fields) < maxFields {
		f.Fields[path] = fmt.Sprintf(format, args...)
	}
	return f
}

// Because records the cause for the log.
func (f *Fault) Because(err error) *Fault {
	f.cause = err
	return f
}

// After says when to try again.
func (f *Fault) After(d time.Duration) *Fault {
	f.RetryAfter = d
	return f
}

func newFault(k Kind, code, format string, args ...any) *Fault {
	return &Fault{Kind: k, Code: code, Text: fmt.Sprintf(format, args...)}
}

// Invalid starts a fault for bad input; add each field with Field.
func Invalid() *Fault { return &Fault{Kind: KindInvalid, Code: "invalid_request"} }

// InvalidField is bad input in one field.
func InvalidField(path, format string, args ...any) *Fault {
	return Invalid().Field(path, format, args...)
}

// Unauthenticated says that no valid credential came with the request.
func Unauthenticated(format string, args ...any) *Fault {
	return newFault(KindUnauthenticated, "unauthorized", format, args...)
}

// Forbidden says that the caller is known but may not do this.
func Forbidden(format string, args ...any) *Fault {
	return newFault(KindForbidden, "forbidden", format, args...)
}

// NotFound says that id names nothing.
func NotFound(code, id, format string, args ...any) *Fault {
	f := newFault(KindNotFound, code, format, args...)
	f.ID = id
	return f
}

// Conflict says that the state of the resource refuses the change.
func Conflict(code, format string, args ...any) *Fault {
	return newFault(KindConflict, code, format, args...)
}

// TooLarge says that a body exceeds its limit.
func TooLarge(format string, args ...any) *Fault {
	return newFault(KindTooLarge, "too_large", format, args...)
}

// MediaType says that the content type is not supported.
func MediaType(format string, args ...any) *Fault {
	return newFault(KindMediaType, "unsupported_media_type", format, args...)
}

// Unprocessable says that the request is well formed and cannot be carried out.
func Unprocessable(code, format string, args ...any) *Fault {
	return newFault(KindUnprocessable, code, format, args...)
}

// Limited says that a rate or quota is used up.
func Limited(code, format string, args ...any) *Fault {
	return newFault(KindLimited, code, format, args...)
}

// NotBuilt says that the operation is part of the contract and not built yet.
func NotBuilt(format string, args ...any) *Fault {
	return newFault(KindNotBuilt, "not_built", format, args...)
}

// Upstream says that another service answered wrongly.
func Upstream(format string, args ...any) *Fault {
	return newFault(KindUpstream, "upstream_error", format, args...)
}

// Unavailable says that the service cannot do this now, such as on a full disk.
func Unavailable(code, format string, args ...any) *Fault {
	return newFault(KindUnavailable, code, format, args...)
}

// Timeout says that the deadline of the request passed.
func Timeout(format string, args ...any) *Fault {
	return newFault(KindTimeout, "timeout", format, args...)
}

// As gives the *Fault in err's chain, if there is one.
func As(err error) (*Fault, bool) {
	var f *Fault
	ok := errors.As(err, &f)
	return f, ok
}

// Is reports whether err is a fault of kind k.
func Is(err error, k Kind) bool {
	f, ok := As(err)
	return ok && f.Kind == k
}
