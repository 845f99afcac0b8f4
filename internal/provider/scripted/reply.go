package scripted

import (
	"strings"
	"time"
)

// Reply is the reply to a call.
type Reply struct {
	Text      string   // the answer, streamed by word
	Pieces    []string // the answer as it is streamed, instead of Text
	Reasoning string   // streamed by word
	Calls     []Call   // of tools
	Refusal   string   // the text of a refusal
	Stop      Stop     // why the model stopped; "" if it follows from the other fields
	Usage     Usage    // the zero value means small default numbers
	Model     string   // the name in the response; "" for the one requested
	Fault     Fault

	Status  int               // of a Fault with a status, instead of the default one
	Message string            // of an error
	Headers map[string]string // of the response

	Held    *Gate         // passed before anything is sent
	First   *Gate         // passed after the headers, before the first event
	Between *Gate         // passed before each event with content after the first
	Dribble bool          // send every byte separately
	Delay   time.Duration // before anything is sent; for callers in another process, tests use gates
	Pace    time.Duration // interval between events with content, on a fixed schedule; for callers in another process
	Trail   time.Duration // between the last event of a stream and the end of the response
	Stamped bool          // replace Stamp in a piece by the time of sending
}

// Stamp is the placeholder for the time of sending, with as many digits as the nanoseconds since 1970 have.
const Stamp = "0000000000000000000"

// Call is a tool call.
type Call struct {
	ID, Name string
	Pieces   []string // the arguments as they are streamed
}

// Stop is the reason why a model stopped.
type Stop string

// The reasons other than the end of the answer.
const (
	Length   Stop = "length"
	Filtered Stop = "filtered"
)

// Usage holds numbers of tokens as the product counts them: Input includes Cached, and Output includes Reasoning.
type Usage struct{ Input, Cached, Output, Reasoning int64 }

// Fault is a way of failing.
type Fault string

// The faults.
const (
	Cut       Fault = "cut"         // the connection breaks in the middle
	Ends      Fault = "ends"        // the stream ends in the middle, as if it were complete
	Malformed Fault = "malformed"   // an event in the middle is not JSON
	Limited   Fault = "limited"     // 429 with Retry-After: 7
	Rejected  Fault = "rejected"    // 400
	Denied    Fault = "denied"      // 401
	Unknown   Fault = "unknown"     // 404
	Failed    Fault = "failed"      // 500
	Overload  Fault = "unavailable" // 503
	Late      Fault = "late"        // 504
	HTML      Fault = "html"        // 200 with an HTML page
	Prose     Fault = "prose"       // 502 with an HTML page
	Huge      Fault = "huge"        // an event, or a body, without an end
	Endless   Fault = "endless"     // small events without an end
	NoUsage   Fault = "nousage"     // no usage in the response
	Never     Fault = "never"       // no response
	Leak      Fault = "leak"        // 401 with the credentials of the call in its message
	Nothing   Fault = "empty"       // a success without content
	Event     Fault = "event"       // an error as an event in the middle of the stream
	Moved     Fault = "redirect"    // 307 to Message
	Bare      Fault = "bare"        // Status with an empty body
)

func (r *Reply) pieces() []string {
	if r.Pieces != nil {
		return r.Pieces
	}
	return words(r.Text)
}

// text returns the complete answer.
func (r *Reply) text() string { return strings.Join(r.pieces(), "") }

func (r *Reply) usage() Usage {
	if r.Usage != (Usage{}) {
		return r.Usage
	}
	return Usage{Input: 12, Output: int64(max(len(r.pieces()), 1))}
}

func (c Call) arguments() string { return strings.Join(c.Pieces, "") }

// words splits a text after its spaces.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// Gate holds calls until a test lets them pass. NewGate returns one.
type Gate struct {
	open    chan struct{}
	let     chan struct{}
	reached chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{open: make(chan struct{}), let: make(chan struct{}), reached: make(chan struct{}, 1)}
}

// Open lets all calls pass from now on. It must be called at most once.
func (g *Gate) Open() { close(g.open) }

// Let waits for a call at the gate and lets that one pass.
func (g *Gate) Let() { g.let <- struct{}{} }

// Reached returns a channel that receives a value when a call arrives at the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }
