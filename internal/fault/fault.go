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

// Kind classifies a fault independently of any transport. The set is closed.
type Kind uint8

// The kinds, with the status that the HTTP transport maps each to.
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
	RetryAfter time.Duration     // KindLimited and KindUnavailable; 0 means unknown
	Status     int               // KindUpstream: that of the other service, where the contract passes it on, and 500 of Damaged; 0 where not
	cause      error
}

// Error returns the text for the user followed by the fields at fault in path order.
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

// Paths returns the paths of the fields at fault in ascending order.
func (f *Fault) Paths() []string {
	out := make([]string, 0, len(f.Fields))
	for k := range f.Fields {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Unwrap returns the cause, which is for the log only.
func (f *Fault) Unwrap() error { return f.cause }

// maxFields bounds how many fields one fault names: a list with a hundred thousand bad elements would otherwise be
// answered with megabytes of reasons.
const maxFields = 100

// Field adds a field at fault and returns f. Only the first reason for a path is kept, and paths beyond maxFields are
// dropped.
func (f *Fault) Field(path, format string, args ...any) *Fault {
	if f.Fields == nil {
		f.Fields = map[string]string{}
	}
	if _, ok := f.Fields[path]; !ok && len(f.Fields) < maxFields {
		f.Fields[path] = fmt.Sprintf(format, args...)
	}
	return f
}

// Gather adds the fields at fault that err names, and err itself under the path "" if it names none. Nil adds nothing.
func (f *Fault) Gather(err error) *Fault {
	if err == nil {
		return f
	}
	other, ok := As(err)
	if !ok || len(other.Fields) == 0 {
		return f.Field("", "%s", err)
	}
	for _, path := range other.Paths() {
		f.Field(path, "%s", other.Fields[path])
	}
	return f
}

// Err returns f as an error, nil if no field is at fault.
func (f *Fault) Err() error {
	if len(f.Fields) == 0 {
		return nil
	}
	return f
}

// Because records err as the cause, for the log, and returns f.
func (f *Fault) Because(err error) *Fault {
	f.cause = err
	return f
}

// After sets how long the client should wait before it tries again, and returns f.
func (f *Fault) After(d time.Duration) *Fault {
	f.RetryAfter = d
	return f
}

func newFault(k Kind, code, format string, args ...any) *Fault {
	return &Fault{Kind: k, Code: code, Text: fmt.Sprintf(format, args...)}
}

// Invalid returns a fault for bad input that names no field yet; add each with Field.
func Invalid() *Fault { return &Fault{Kind: KindInvalid, Code: "invalid_request"} }

// InvalidField returns a fault for bad input in one field.
func InvalidField(path, format string, args ...any) *Fault {
	return Invalid().Field(path, format, args...)
}

// InvalidSentence returns a fault for bad input in one field whose reason is a sentence of its own, so that the text for
// the user is that sentence, without the name of the field before it.
func InvalidSentence(path, format string, args ...any) *Fault {
	f := InvalidField(path, format, args...)
	f.Text = f.Fields[path]
	return f
}

// Unauthenticated returns the fault of a request without a valid credential.
func Unauthenticated(format string, args ...any) *Fault {
	return newFault(KindUnauthenticated, "unauthorized", format, args...)
}

// Forbidden returns the fault of a known caller who lacks the right to do this.
func Forbidden(format string, args ...any) *Fault {
	return newFault(KindForbidden, "forbidden", format, args...)
}

// NotFound returns the fault of an id that names nothing.
func NotFound(code, id, format string, args ...any) *Fault {
	f := newFault(KindNotFound, code, format, args...)
	f.ID = id
	return f
}

// Conflict returns the fault of a change that the current state of the resource does not allow.
func Conflict(code, format string, args ...any) *Fault {
	return newFault(KindConflict, code, format, args...)
}

// TooLarge returns the fault of a body that exceeds its limit.
func TooLarge(format string, args ...any) *Fault {
	return newFault(KindTooLarge, "too_large", format, args...)
}

// MediaType returns the fault of an unsupported content type.
func MediaType(format string, args ...any) *Fault {
	return newFault(KindMediaType, "unsupported_media_type", format, args...)
}

// Unprocessable returns the fault of a request that is well formed but cannot be carried out.
func Unprocessable(code, format string, args ...any) *Fault {
	return newFault(KindUnprocessable, code, format, args...)
}

// Limited returns the fault of an exhausted rate limit or quota.
func Limited(code, format string, args ...any) *Fault {
	return newFault(KindLimited, code, format, args...)
}

// NotBuilt returns the fault of an operation that is in the contract but not built yet.
func NotBuilt(format string, args ...any) *Fault {
	return newFault(KindNotBuilt, "not_built", format, args...)
}

// Upstream returns the fault of another service that failed or answered wrongly.
func Upstream(format string, args ...any) *Fault {
	return newFault(KindUpstream, "upstream_error", format, args...)
}

// UpstreamStatus is Upstream where the contract passes the status of the other service on, 400 to 599.
func UpstreamStatus(status int, format string, args ...any) *Fault {
	f := Upstream(format, args...)
	f.Status = status
	return f
}

// Damaged returns the fault of something that is stored and can't be read any more: an error of this service, 500, whose text
// clients see.
func Damaged(code, format string, args ...any) *Fault {
	f := newFault(KindUpstream, code, format, args...)
	f.Status = 500
	return f
}

// Unavailable returns the fault of a service that cannot do this now, for example because its disk is full.
func Unavailable(code, format string, args ...any) *Fault {
	return newFault(KindUnavailable, code, format, args...)
}

// Timeout returns the fault of a request whose deadline has passed.
func Timeout(format string, args ...any) *Fault {
	return newFault(KindTimeout, "timeout", format, args...)
}

// As returns the first *Fault in err's chain, if there is one.
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
