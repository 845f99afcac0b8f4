// Package stream implements answers of server-sent events: head and status, the manners of their events, the deadline of
// each write, and comments while a stream is silent.
package stream

import (
	"cmp"
	"encoding/json"
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
	// pingEvery is the longest silence of a stream: proxies close connections that are silent for longer.
	pingEvery = 15 * time.Second
	// slowestReader is the default of New. A slower client is cut off; until then it holds one goroutine
	// and a few buffers.
	slowestReader = 30 * time.Second
	// gather is how long pieces of a text that come in a burst are collected before they are sent together. People do not
	// notice it, and it halves the cost of a stream when there are more streams than the processors can serve.
	gather = 10 * time.Millisecond
)

// Stream is an answer of server-sent events, in one of three manners: events with names (contract:
// generation-and-citations, section 8), frames without (sessions-and-events, section 11), and chunks of OpenAI's interface.
// Nothing is written before the first event, so an error until then is answered without a stream. Its methods are for one
// goroutine; the handler calls Close before it returns, even if nothing was sent.
type Stream struct {
	to      http.ResponseWriter
	conn    *http.ResponseController
	explain func(error) *fault.Fault
	slowest time.Duration
	status  int
	events  *sse.Writer // nil before the first event
	stop    func()      // ends the comments of KeepAlive and sends what is collected
	lost    atomic.Bool // a write has failed
	since   time.Time   // when the write deadline was set last; guarded by the lock of events
	soon    bool        // whether Soon or Chunk has sent its first event
	keeps   bool        // whether the connection serves the next request: clients know the end of a stream of chunks
}

// New returns the stream that answers to w. explain returns what a client is told of an error, nil if the client is gone. A
// client that takes longer than slowest for a write is cut off; 0 means a default.
func New(w http.ResponseWriter, explain func(error) *fault.Fault, slowest time.Duration) *Stream {
	return &Stream{
		to: w, conn: http.NewResponseController(w), explain: explain, slowest: cmp.Or(slowest, slowestReader),
		status: http.StatusOK, stop: func() {},
	}
}

// Status sets the status of the answer, which is 200 otherwise. Once the stream has begun it has no effect.
func (s *Stream) Status(code int) { s.status = code }

// Begin sends the head, for a stream whose first event may be long in coming.
func (s *Stream) Begin() error {
	s.begin()
	return s.events.Flush()
}

// Begun reports whether anything was sent: from then on the status stands.
func (s *Stream) Begun() bool { return s.events != nil }

// Send sends an event of the type name. v is a JSON object that has the type as a member, too. An error means that the
// client is gone or does not read.
func (s *Stream) Send(name string, v any) error {
	s.begin()
	return s.events.Send(name, v)
}

// Soon is Send for the pieces of a text: the first is sent at once, later ones that come in a burst together.
func (s *Stream) Soon(name string, v any) error {
	if !s.soon {
		s.soon = true
		return s.Send(name, v)
	}
	s.begin()
	return s.events.Soon(name, v, gather)
}

// Frame sends v as an event without a name: clients tell frames apart by the member type of v, and some, such as the
// EventSource of browsers, would not show an event with a name. An error is that of Send.
func (s *Stream) Frame(v any) error {
	s.begin()
	return s.events.Chunk(v, 0)
}

// FrameSoon is Frame for the pieces of a text, see Soon.
func (s *Stream) FrameSoon(v any) error {
	if !s.soon {
		s.soon = true
		return s.Frame(v)
	}
	s.begin()
	return s.events.Chunk(v, gather)
}

// Opening is Chunk for what says nothing by itself, such as who speaks: it leaves with the chunk after it, or a moment later.
func (s *Stream) Opening(v any) error {
	s.keep()
	return s.events.Opening(v, gather)
}

// Chunk sends v as clients of OpenAI's interface read it, see sse.Writer. The first is sent at once, later ones that come in
// a burst together.
func (s *Stream) Chunk(v any) error {
	wait := gather
	if !s.soon {
		s.soon, wait = true, 0
	}
	s.keep()
	return s.events.Chunk(v, wait)
}

// Done ends a stream of chunks.
func (s *Stream) Done() error {
	s.keep()
	return s.events.Done()
}

// keep is begin for a stream of chunks.
func (s *Stream) keep() {
	s.keeps = true
	s.begin()
}

func (s *Stream) begin() {
	if s.events == nil {
		h := s.to.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no") // keeps proxies from collecting the events
		if !s.keeps {
			h.Set("Connection", "close") // the contract ends the connection after the last event
		}
		s.to.WriteHeader(s.status)
		s.events = sse.NewWriter(deadlineWriter{s}, deadlineWriter{s}.Flush)
		stopPings := s.events.KeepAlive(pingEvery)
		s.stop = sync.OnceFunc(func() { stopPings(); s.events.Close() })
	}
}

// deadlineWriter sets the deadline of each write. Setting it costs as much as writing some tokens, so it is left alone for
// an eighth of its time: a write may have that much less.
type deadlineWriter struct{ s *Stream }

func (p deadlineWriter) Write(b []byte) (int, error) {
	if now := time.Now(); now.Sub(p.s.since) > p.s.slowest/8 {
		if err := p.s.conn.SetWriteDeadline(now.Add(p.s.slowest)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
		p.s.since = now
	}
	n, err := p.s.to.Write(b)
	if err != nil {
		p.s.lost.Store(true)
	}
	return n, err
}

func (p deadlineWriter) Flush() error {
	err := p.s.conn.Flush()
	if err != nil {
		p.s.lost.Store(true)
	}
	return err
}

// failed is the error event of the contract.
type failed struct {
	Type     string   `json:"type"`
	Messages []string `json:"messages"`
}

// Fail sends err as an error event, with the message that an answer without a stream would have. The caller must still
// send the end event.
func (s *Stream) Fail(err error) error {
	f := s.failure(err)
	if f == nil {
		return err
	}
	return s.Send("error", f)
}

// FailFrame is Fail for a stream of frames.
func (s *Stream) FailFrame(err error) error {
	f := s.failure(err)
	if f == nil {
		return err
	}
	return s.Frame(f)
}

// failure returns the error event for err, nil when the client is gone.
func (s *Stream) failure(err error) *failed {
	if s.lost.Load() {
		return nil
	}
	f := s.explain(err)
	if f == nil {
		return nil
	}
	return &failed{"error", []string{redact.Text(refusal.Message(f))}}
}

// OpenAIError returns the member error of a chunk that says how a stream failed, nil when the client is gone.
func (s *Stream) OpenAIError(err error) json.RawMessage {
	if s.lost.Load() {
		return nil
	}
	f := s.explain(err)
	if f == nil {
		return nil
	}
	return refusal.OpenAI(f)
}

// Close ends the comments that keep the connection alive. The server flushes the last events.
func (s *Stream) Close() { s.stop() }
