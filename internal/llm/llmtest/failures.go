package llmtest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider/scripted"
)

// failure is a way to fail and what must come of it.
type failure struct {
	name   string
	reply  scripted.Reply
	want   llm.Failure
	status int
	begun  bool
	says   string // in the error's text
	format bool   // asked for structured output
}

// long is an answer that begins before it breaks.
var long = []string{"The ", "moon ", "is ", "round."}

var failures = []failure{
	{"limited", scripted.Reply{Fault: scripted.Limited}, llm.Limited, 429, false, "too fast", false},
	{"rejected", scripted.Reply{Fault: scripted.Rejected}, llm.Rejected, 400, false, "max_tokens is too large", false},
	{"denied", scripted.Reply{Fault: scripted.Denied}, llm.Rejected, 401, false, "not valid", false},
	{"unknown", scripted.Reply{Fault: scripted.Unknown}, llm.Rejected, 404, false, "does not exist", false},
	{"request timeout", scripted.Reply{Fault: scripted.Rejected, Status: 408}, llm.TimedOut, 408, false, "", false},
	{"failed", scripted.Reply{Fault: scripted.Failed}, llm.Broken, 500, false, "broke", false},
	{"unavailable", scripted.Reply{Fault: scripted.Overload}, llm.Broken, 503, false, "overloaded", false},
	{"late", scripted.Reply{Fault: scripted.Late}, llm.TimedOut, 504, false, "too long", false},
	{"page", scripted.Reply{Fault: scripted.HTML}, llm.Broken, 200, false, "", false},
	{"page with 502", scripted.Reply{Fault: scripted.Prose}, llm.Broken, 502, false, "", false},
	{"empty", scripted.Reply{Fault: scripted.Nothing}, llm.Empty, 200, false, "", false},
	{"cut", scripted.Reply{Pieces: long, Fault: scripted.Cut}, llm.Broken, 200, true, "", false},
	{"ends early", scripted.Reply{Pieces: long, Fault: scripted.Ends}, llm.Broken, 200, true, "", false},
	{"malformed", scripted.Reply{Pieces: long, Fault: scripted.Malformed}, llm.Broken, 200, true, "", false},
	{"huge", scripted.Reply{Pieces: long, Fault: scripted.Huge}, llm.Broken, 200, true, "", false},
	{"error event", scripted.Reply{Pieces: long, Fault: scripted.Event, Message: "The engine stalled."}, llm.Broken, 200, true, "The engine stalled.", false},
	{"structured and cut by the limit", scripted.Reply{Pieces: []string{`{"holds":`, `true,"w`}, Stop: scripted.Length}, llm.Truncated, 200, true, "", true},
	{"structured and refused", scripted.Reply{Refusal: "I would rather not."}, llm.Declined, 200, false, "", true},
	{"structured and empty", scripted.Reply{Fault: scripted.Nothing}, llm.Empty, 200, false, "", true},
}

// failures proves what each way to fail becomes, and that no error, however deep, holds a secret.
func (a Adapter) failures(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := question()
			if f.format {
				r.Format = format()
			}
			s := scripted.Start(t, f.reply)
			if a.renews() && f.status == http.StatusUnauthorized {
				s.Then(f.reply)
			}
			_, h, err := run(t, a.open(t, s, nil), r)
			e := a.failed(t, err, f.want)
			if e.Status != f.status && f.reply.Fault != scripted.Event && (e.Status != 0 || f.status != 200) { // a failure behind a 200 may leave it out, or say another
				t.Errorf("the status is %d, want %d", e.Status, f.status)
			}
			if !strings.Contains(e.Error(), f.says) || !strings.Contains(e.Error(), "registered") {
				t.Errorf("%q does not say %q and the name", e, f.says)
			}
			if emitted := h.text.Len() > 0; emitted != e.Begun || f.begun != e.Begun && f.want != llm.Truncated {
				t.Errorf("begun is %v, something was emitted: %v, want %v", e.Begun, emitted, f.begun)
			}
			if e.Failure == llm.Limited && e.After != 7*time.Second {
				t.Errorf("to be asked again after %v, want 7s", e.After)
			}
		})
	}
	t.Run("unreachable", a.unreachable)
	t.Run("leak", a.leak)
	t.Run("redirect", a.redirect)
}

// failed checks that err is a failure of the model of this kind, without secrets.
func (a Adapter) failed(t *testing.T, err error, want llm.Failure) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a failure %q", err, want)
	}
	if e.Failure != want || e.Model != "registered" {
		t.Errorf("got the failure %q of %q, want %q: %v", e.Failure, e.Model, want, e)
	}
	a.clean(t, err)
	return e
}

// secrets are what no error may hold: all that a call of this connection carries or fetches.
func (a Adapter) secrets() []string {
	if a.Auth == nil {
		return []string{Secret}
	}
	if a.renews() {
		return append(a.Auth.Secrets(), scripted.Token)
	}
	return a.Auth.Secrets()
}

// renews reports whether the credentials are fetched, and so fetched anew and tried once more after a 401.
func (a Adapter) renews() bool {
	return a.Auth != nil && (a.Auth.Type == registry.ClientCredentials || a.Auth.Type == registry.ServiceAccount || a.Auth.Type == registry.VertexServiceAccount)
}

func (a Adapter) clean(t *testing.T, err error) {
	t.Helper()
	for at := err; at != nil; at = errors.Unwrap(at) {
		text := fmt.Sprintf("%v %+v %#v", at, at, at)
		for _, s := range a.secrets() {
			if strings.Contains(text, s) {
				t.Errorf("the error holds the secret %q: %s", s, text)
			}
		}
	}
}

func (a Adapter) unreachable(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close() // nobody listens there any more
	s.URL = gone.URL
	_, _, err := run(t, a.open(t, s, nil), question())
	if e := a.failed(t, err, llm.Unreachable); e.Status != 0 || e.Begun {
		t.Errorf("got %+v", e)
	}
}

// leak proves that credentials do not come back, though the provider repeats them in whatever it says.
func (a Adapter) leak(t *testing.T) {
	t.Parallel()
	secret := strings.Join(a.secrets(), " ")
	var replies []scripted.Reply
	if a.renews() {
		replies = append(replies, scripted.Reply{Fault: scripted.Leak})
	}
	replies = append(replies, scripted.Reply{Fault: scripted.Leak}, scripted.Reply{Fault: scripted.Failed, Message: "no " + secret},
		scripted.Reply{Pieces: long, Fault: scripted.Event, Message: "no " + secret}, scripted.Reply{Fault: scripted.Limited, Message: secret})
	p := a.open(t, scripted.Start(t, replies...), nil)
	for _, want := range []llm.Failure{llm.Rejected, llm.Broken, llm.Broken, llm.Limited} {
		_, _, err := run(t, p, question())
		a.failed(t, err, want)
	}
}

// redirect proves that credentials stay with the origin that they are for.
func (a Adapter) redirect(t *testing.T) {
	t.Parallel()
	other := scripted.Start(t)
	s := scripted.Start(t, scripted.Reply{Fault: scripted.Moved, Message: other.URL + a.Path})
	_, _, err := run(t, a.open(t, s, nil), question())
	if err != nil {
		a.clean(t, err)
	}
	for _, r := range other.Requests() {
		for _, secret := range a.secrets() {
			if text := fmt.Sprint(r.Header, r.Query); strings.Contains(text, secret) {
				t.Errorf("a redirect took credentials elsewhere: %s", text)
			}
		}
	}
}
