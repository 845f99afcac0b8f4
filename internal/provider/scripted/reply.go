package scripted

import (
	"strings"
	"time"
)

// Reply is what a call gets.
type Reply struct {
	Text      string   // the answer, streamed in words
	Pieces    []string // instead of Text: the answer as it is streamed
	Reasoning string   // what the model thought, streamed in words
	Calls     []Call   // of tools
	Refusal   string   // the model would not
	Stop      Stop     // why it stopped; "" as the rest says
	Usage     Usage    // zero for some
	Model     string   // that says it answered; "" for the one asked
	Fault     Fault

	Status  int               // of a Fault of that kind: instead of the usual one
	Message string            // of an error
	Headers map[string]string // of the response

	Held    *Gate         // before anything is sent
	First   *Gate         // after the headers, before the first event
	Between *Gate         // before each event with content after the first
	Dribble bool          // every byte for itself
	Delay   time.Duration // before anything is sent; for callers outside the process
	Pace    time.Duration // from one event with content to the next, kept to by the clock; for callers outside the process
	Stamped bool          // Stamp in a piece is replaced by the time of its sending
}

// Stamp is what Stamped replaces: as many digits as nanoseconds since 1970 have.
const Stamp = "0000000000000000000"

// Call is a call of a tool.
type Call struct {
	ID, Name string
	Pieces   []string // the arguments as they are streamed
}

// Stop says why a model stopped.
type Stop string

// The reasons.
const (
	Length   Stop = "length"
	Filtered Stop = "filtered"
)

// Usage counts tokens as the product counts them: Input with Cached, Output with Reasoning.
type Usage struct{ Input, Cached, Output, Reasoning int64 }

// Fault is a way to fail.
type Fault string

// The faults.
const (
	Cut       Fault = "cut"         // the connection breaks in the middle
	Ends      Fault = "ends"        // the stream ends in the middle, as if it were whole
	Malformed Fault = "malformed"   // an event in the middle is no JSON
	Limited   Fault = "limited"     // 429 with Retry-After: 7
	Rejected  Fault = "rejected"    // 400
	Denied    Fault = "denied"      // 401
	Unknown   Fault = "unknown"     // 404
	Failed    Fault = "failed"      // 500
	Overload  Fault = "unavailable" // 503
	Late      Fault = "late"        // 504
	HTML      Fault = "html"        // 200 with a page
	Prose     Fault = "prose"       // 502 with a page
	Huge      Fault = "huge"        // an event, or a body, that does not end
	Endless   Fault = "endless"     // small events that do not end
	NoUsage   Fault = "nousage"     // tokens are not counted
	Never     Fault = "never"       // no answer
	Leak      Fault = "leak"        // 401 whose text holds the credentials sent
	Nothing   Fault = "empty"       // a success without content
	Event     Fault = "event"       // an error as an event in the middle of the stream
	Moved     Fault = "redirect"    // 307 to Message
)

func (r *Reply) pieces() []string {
	if r.Pieces != nil {
		return r.Pieces
	}
	return words(r.Text)
}

// text is the whole answer.
func (r *Reply) text() string { return strings.Join(r.pieces(), "") }

func (r *Reply) usage() Usage {
	if r.Usage != (Usage{}) {
		return r.Usage
	}
	return Usage{Input: 12, Output: int64(max(len(r.pieces()), 1))}
}

func (c Call) arguments() string { return strings.Join(c.Pieces, "") }

// words cuts a text behind its spaces.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// Gate holds calls until a test lets them pass. Make it with NewGate.
type Gate struct {
	open    chan struct{}
	let     chan struct{}
	reached chan struct{}
}

// NewGate gives a closed gate.
func NewGate() *Gate {
	return &Gate{open: make(chan struct{}), let: make(chan struct{}), reached: make(chan struct{}, 1)}
}

// Open lets everything pass from now on. It is called once.
func (g *Gate) Open() { close(g.open) }

// Let lets one pass, and waits until there is one.
func (g *Gate) Let() { g.let <- struct{}{} }

// Reached yields when a call has come to the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }
