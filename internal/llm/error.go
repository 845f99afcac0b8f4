package llm

import (
	"fmt"

	"time"

	"quarry/internal/fault"
)

// Failure is how a call of a model failed. The set is closed.
type Failure string

// The failures, with the status that they have in an answer that is not streamed (contract: generation-and-citations,
// section 9).
const (
	TimedOut    Failure = "timeout"     // 504: silence beyond the idle timeout, or the provider's own 408 or 504
	Unreachable Failure = "unreachable" // 503: no connection, or it broke before an answer
	Limited     Failure = "limited"     // 429 by the provider
	Rejected    Failure = "rejected"    // 400: any other 4xx of the provider
	Broken      Failure = "broken"      // 502: a 5xx, a body that is not what the wire format says, a stream cut off
	Empty       Failure = "empty"       // 502: a success without any content
	Truncated   Failure = "truncated"   // 502: structured output that the token limit cut off
	Declined    Failure = "declined"    // 400: the model refused to give the structured output
	Blocked     Failure = "blocked"     // 400: the address is one that the guard of outgoing calls refuses
)

// Error is a failure of a model. Its text is for the user and holds no secret of ours, whatever the provider echoed.
type Error struct {
	Failure Failure
	Model   string        // registered name
	Status  int           // of the provider's answer; 0 without one
	Text    string        // what the provider said or what went wrong, cleaned
	After   time.Duration // Limited: when the provider wants to be asked again; 0 = not said
	Begun   bool          // some of the answer had been emitted
	Cause   error         // for the log
}

// Error describes the failure in a sentence.
func (e *Error) Error() string {
	text := fmt.Sprintf("the language model %q %s", e.Model, phrases[e.Failure])
	if e.Model == "" {
		text = "the language model " + phrases[e.Failure]
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

var phrases = map[Failure]string{
	TimedOut: "did not answer in time", Unreachable: "could not be reached", Limited: "is refusing calls for now, by a limit of its provider",
	Rejected: "rejected the request", Broken: "failed", Empty: "answered without any content",
	Truncated: "was cut off by its token limit before its structured output was complete",
	Declined:  "declined to give the structured output", Blocked: "is at an address that this installation does not call",
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Retriable reports whether the same call may succeed later: timeouts, 429, 5xx and lost connections, and only while
// nothing of the answer was emitted.
func (e *Error) Retriable() bool {
	if e.Begun {
		return false
	}
	switch e.Failure {
	case TimedOut, Unreachable, Limited:
		return true
	case Broken:
		return e.Status == 0 || e.Status >= 500
	}
	return false
}

// Fault is the failure as an outcome of a request that is not streamed.
func (e *Error) Fault() *fault.Fault {
	text := e.Error()
	switch e.Failure {
	case TimedOut:
		return fault.Timeout("%s", text).Because(e.Cause)
	case Unreachable:
		return fault.Unavailable("llm_unreachable", "%s", text).Because(e.Cause)
	case Limited:
		return fault.Limited("llm_rate_limited", "%s", text).Because(e.Cause)
	case Rejected, Declined, Blocked:
		f := fault.Invalid().Because(e.Cause)
		f.Text = text
		return f
	}
	return fault.Upstream("%s", text).Because(e.Cause)
}
