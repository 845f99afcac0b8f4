package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/fault"
	"quarry/internal/httpapi/refusal"
	"quarry/internal/secret/redact"
	"quarry/internal/sse"
)

const (
	// pingEvery is the longest silence of a stream: proxies between take a longer one for death.
	pingEvery = 15 * time.Second
	// slowestReader is how long one event may take to be taken from us, unless Config.SlowestReader says otherwise. Who
	// reads slower is cut off, and nobody else notices: until then it holds one goroutine and a few buffers.
	slowestReader = 30 * time.Second
	// gather is how long pieces of a text wait for each other when they come in a burst. It is less than people see, and
	// halves what a stream costs when there are too many for the processors.
	gather = 10 * time.Millisecond
)

// Stream is an answer of server-sent events (contract: generation-and-citations, section 8). Nothing is written before
// the first event, so what fails until then is answered as ever. Its methods are for one goroutine, and its handler
// calls Close before it returns, also when nothing was sent.
type Stream struct {
	x       *exchange
	conn    *http.ResponseController
	explain func(error) *fault.Fault
	slowest time.Duration
	events  *sse.Writer // nil before the first event
	still   func()      // ends the comments and what waits
	lost    atomic.Bool // a write has failed
	since   time.Time   // when a write got its time last; for who holds the lock of events
	soon    bool        // the first event of Soon is out
}

// Stream gives the stream that answers a call; w is that of its handler.
func (c *Call) Stream(w http.ResponseWriter) *Stream {
	x, ok := w.(*exchange)
	if !ok {
		x = &exchange{ResponseWriter: w} // of tests that call a handler by itself
	}
	return &Stream{x: x, conn: http.NewResponseController(x), explain: c.explain, slowest: cmp.Or(c.slowest, slowestReader), still: func() {}}
}

// Begun reports whether anything was sent: the status is 200 then, whatever comes.
func (s *Stream) Begun() bool { return s.events != nil }

// Send sends an event whose type is its name; v is a JSON object that says so, too. An error means that the client is
// gone or does not read.
func (s *Stream) Send(name string, v any) error {
	s.begin()
	return s.events.Send(name, v)
}

// Soon is Send for the pieces of a text: the first goes at once, later ones that come in a burst go together.
func (s *Stream) Soon(name string, v any) error {
	if !s.soon {
		s.soon = true
		return s.Send(name, v)
	}
	s.begin()
	return s.events.Soon(name, v, gather)
}

func (s *Stream) begin() {
	if s.events == nil {
		h := s.x.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no") // proxies that would collect the events of an answer
		h.Set("Connection", "close")     // the contract has the connection closed behind the last event
		s.x.WriteHeader(http.StatusOK)
		s.events = sse.NewWriter(patient{s}, patient{s}.Flush)
		still := s.events.KeepAlive(pingEvery)
		s.still = sync.OnceFunc(func() { still(); s.events.Close() })
	}
}

// patient gives each write its time, from the last time on that it was set: setting it for every token costs as much as
// writing some, so a write may have an eighth less.
type patient struct{ s *Stream }

func (p patient) Write(b []byte) (int, error) {
	if now := time.Now(); now.Sub(p.s.since) > p.s.slowest/8 {
		if err := p.s.conn.SetWriteDeadline(now.Add(p.s.slowest)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
		p.s.since = now
	}
	n, err := p.s.x.Write(b)
	if err != nil {
		p.s.lost.Store(true)
	}
	return n, err
}

func (p patient) Flush() error {
	err := p.s.conn.Flush()
	if err != nil {
		p.s.lost.Store(true)
	}
	return err
}

// failed is the event of the contract for what went wrong.
type failed struct {
	Type     string   `json:"type"`
	Messages []string `json:"messages"`
}

// Fail sends what went wrong, in the words of an answer that is not streamed. The stream still wants its end.
func (s *Stream) Fail(err error) error {
	if s.lost.Load() {
		return err
	}
	f := s.explain(err)
	if f == nil {
		return err // the client is gone
	}
	return s.Send("error", failed{"error", []string{redact.Text(refusal.Message(f))}})
}

// Close ends the comments that keep the connection alive, and leaves the last events to the server, which flushes them.
func (s *Stream) Close() { s.still() }
