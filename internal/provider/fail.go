package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/llm"
	"quarry/internal/outbound"
	"quarry/internal/sse"
)

// Failed returns a failure of this connection's model, with a text that is cleaned of its secrets.
func (c *Client) Failed(f llm.Failure, text string) *llm.Error {
	return &llm.Error{Failure: f, Model: c.conn.Name, Text: c.clean.Text(text)}
}

// Failed returns a failure that the body of this answer shows. It carries the status of the answer: a failure within a 200 is
// not retried as a lost connection would be.
func (r *Response) Failed(f llm.Failure, text string) *llm.Error {
	return &llm.Error{Failure: f, Model: r.client.conn.Name, Status: r.Status, Text: r.clean(text)}
}

// CutOff returns the failure of a stream that ended before it was complete.
func (r *Response) CutOff() *llm.Error {
	return r.client.Failed(llm.Broken, "its stream ended before the answer did")
}

// clean removes the secrets of the connection and those that this call carried besides, such as access tokens.
func (r *Response) clean(text string) string {
	var carried []string
	for name, values := range r.request.Header {
		if !secretName(name) {
			continue
		}
		for _, v := range values {
			if _, signature, ok := strings.Cut(v, ", Signature="); ok { // of AWS; what stands before it is names
				v = signature
			} else if _, after, ok := strings.Cut(v, " "); ok {
				v = after
			}
			carried = append(carried, v)
		}
	}
	return r.client.clean.Text(NewCleaner(carried...).secrets(text))
}

// blocked is the error of the guard of outgoing calls, package outbound.
type blocked interface {
	error
	Blocked() bool // false: refused, but not for the address
}

// noAnswer returns the failure of a call that got no answer.
func (r *Response) noAnswer(err error) error {
	if r.parent.Err() != nil {
		return context.Cause(r.parent)
	}
	c := r.client
	e := c.Failed(llm.Unreachable, "")
	e.Cause = r.cause(err)
	var guard blocked
	switch {
	case context.Cause(r.request.Context()) == errSilent:
		e.Failure, e.Text = llm.TimedOut, c.silence()
	case errors.As(err, &guard) && guard.Blocked():
		e.Failure, e.Text = llm.Blocked, r.clean(guard.Error())
	case guard != nil:
		e.Failure, e.Text = llm.Broken, r.clean(guard.Error())
	default:
		e.Text = r.clean(outbound.Explain(err))
	}
	return e
}

// cause returns err for the log: without the address, whose parameters may hold a key.
func (r *Response) cause(err error) error {
	for u := new(url.Error); errors.As(err, &u); {
		err = u.Err
	}
	return errors.New(r.clean(err.Error()))
}

func (c *Client) silence() string { return fmt.Sprintf("nothing was heard for %s", c.conn.Idle) }

// brokenBody returns the failure of a body that could not be read to its end.
func (r *Response) brokenBody(err error) error {
	if r.parent.Err() != nil {
		return context.Cause(r.parent)
	}
	if context.Cause(r.request.Context()) == errSilent {
		return r.client.Failed(llm.TimedOut, r.client.silence())
	}
	e := r.client.Failed(llm.Broken, "the connection broke within its answer")
	e.Cause = r.cause(err)
	return e
}

// title matches the title of a page.
var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// BadBody returns the failure of a body that is not in the wire format of the connection. A web page is named as one.
func (r *Response) BadBody(data []byte, err error) error {
	e := r.Failed(llm.Broken, "its answer is not in the form that its type speaks")
	if text, ok := page(r.Header, data); ok {
		e.Text = r.clean("it answered with " + text + "; is the address right?")
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		e.Failure, e.Text = llm.Empty, ""
	}
	if err != nil {
		e.Cause = r.cause(err)
	}
	return e
}

// page describes a web page, and reports whether the body is one. The page itself is never passed on.
func page(h http.Header, data []byte) (string, bool) {
	start := strings.ToLower(strings.TrimSpace(string(data[:min(len(data), 512)])))
	if !strings.Contains(h.Get("Content-Type"), "html") && !strings.HasPrefix(start, "<!doctype") && !strings.HasPrefix(start, "<html") {
		return "", false
	}
	if m := title.FindSubmatch(data); m != nil && len(m[1]) < 200 {
		return fmt.Sprintf("a web page, %q", strings.TrimSpace(string(m[1]))), true
	}
	return "a web page", true
}

// maxRefusal is how much of the body of an error is read.
const maxRefusal = 64 << 10

// badStatus returns the failure of an answer whose status is not a success.
func (r *Response) badStatus() error {
	data, err := io.ReadAll(io.LimitReader(r, maxRefusal))
	if err != nil && r.parent.Err() != nil {
		return context.Cause(r.parent)
	}
	e := r.Failed(failure(r.Status), "")
	if text, ok := page(r.Header, data); ok {
		e.Text = r.clean("it answered with " + text)
	} else {
		e.Text = r.clean(Message(data))
	}
	if e.Failure == llm.Limited || r.Status == http.StatusServiceUnavailable {
		e.After = RetryAfter(r.Header, data, r.client.shared.now())
	}
	return e
}

func failure(status int) llm.Failure {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return llm.TimedOut
	case status == http.StatusTooManyRequests:
		return llm.Limited
	case status >= 400 && status <= 499:
		return llm.Rejected
	}
	return llm.Broken
}

// Reported returns the failure that an error object in a stream or in a success describes, in one of the shapes that Message
// knows.
func (r *Response) Reported(data []byte) *llm.Error {
	e := r.client.Failed(llm.Broken, "")
	e.Text = r.clean(Message(data))
	status, kind := code(data)
	if status >= 400 && status <= 599 {
		e.Failure, e.Status = failure(status), status
	} else {
		e.Failure = classify(kind)
	}
	if e.Failure == llm.Limited {
		e.After = RetryAfter(http.Header{}, data, r.client.shared.now())
	}
	return e
}

// classify classifies an error by the words of its type or code.
func classify(kind string) llm.Failure {
	kind = strings.ToLower(kind)
	switch {
	case Mentions(kind, "rate_limit", "ratelimit", "resource_exhausted", "throttl", "quota", "too_many"):
		return llm.Limited
	case Mentions(kind, "timeout", "timed_out", "deadline"):
		return llm.TimedOut
	case Mentions(kind, "invalid", "not_found", "authentication", "permission", "unsupported", "validation", "context_length", "unauthenticated", "failed_precondition", "billing", "denied"):
		return llm.Rejected
	}
	return llm.Broken
}

// Mentions reports whether a text in lower case contains one of the words.
func Mentions(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// Each calls f with the data of every event of a stream, or with the whole of an answer that is not streamed. io.EOF of f ends
// it without an error.
func (r *Response) Each(f func(data []byte) error) error {
	streams, err := r.Streams()
	if err != nil {
		return err
	}
	if !streams {
		data, err := r.All()
		if err == nil {
			err = f(data)
		}
		return unlessEOF(err)
	}
	for e, err := range r.Events() {
		if err == nil {
			err = f(e.Data)
		}
		if err != nil {
			return unlessEOF(err)
		}
	}
	return nil
}

func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// Events reads the body as an event stream until it ends; an error ends it and is as those of Do.
func (r *Response) Events() func(yield func(sse.Event, error) bool) {
	return func(yield func(sse.Event, error) bool) {
		in := sse.NewReader(r, sse.Limits{})
		for {
			e, err := in.Next()
			if err == io.EOF {
				return
			}
			if errors.Is(err, sse.ErrTooLong) {
				err = r.Failed(llm.Broken, "an event of its stream is too large")
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// BadEvent returns the failure of an event that is not in the wire format of the connection.
func (r *Response) BadEvent(err error) *llm.Error {
	e := r.client.Failed(llm.Broken, "an event of its stream is not in the form that its type speaks")
	if err != nil {
		e.Cause = r.cause(err)
	}
	return e
}

// seconds reads a number of seconds, as servers write them.
func seconds(s string) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || n != n || n < 0 || n > 9e9 {
		return 0, false
	}
	return time.Duration(n * float64(time.Second)), true
}

// jsonText returns the text of a JSON string or number.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return strings.Trim(string(raw), `"`)
}
