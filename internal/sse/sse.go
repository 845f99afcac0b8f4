// Package sse reads and writes streams of server-sent events (WHATWG HTML, section 9.2). The Writer is for our own
// streams and uses the exact framing that clients of the contract expect (contract: generation-and-citations,
// section 8). The Reader is for the streams of providers; it tolerates their variants and bounds its memory. The
// package is independent of HTTP: handlers pass the Writer a body and its flush, and package provider passes the
// Reader the body of a response.
package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Writer writes events. It is safe for concurrent use. Each event or comment is one write and one flush, except that
// Soon may delay the flush. After a failure every call returns the same error.
type Writer struct {
	to    io.Writer
	flush func() error // may be nil

	mu      sync.Mutex
	event   bytes.Buffer // the event being encoded; guarded by mu
	err     error        // the first failure; guarded by mu
	last    time.Time    // of the last write; guarded by mu
	flushed time.Time    // of the last flush; guarded by mu
	pending *time.Timer  // runs the delayed flush; nil when there is none; guarded by mu
}

// NewWriter returns a Writer that writes to w and calls flush, unless it is nil, after every event.
func NewWriter(w io.Writer, flush func() error) *Writer {
	return &Writer{to: w, flush: flush, last: time.Now()}
}

// Send writes an event whose data is v as JSON on one line. With an empty name it has no event line.
func (w *Writer) Send(name string, v any) error { return w.Soon(name, v, 0) }

// Soon is Send for events that come in bursts: the flush of an event is delayed until gather has passed since the last
// flush, and takes with it all events written meanwhile. A burst then costs two flushes instead of one per event, and
// an event that comes alone is not delayed. Close must be called before the handler returns.
func (w *Writer) Soon(name string, v any, gather time.Duration) error {
	return w.send(name, "data:", v, gather)
}

// Chunk is Soon for an event without a name and with a blank after the colon, as OpenAI's interface and the streams of
// sessions frame it; clients that read no other streams look for that.
func (w *Writer) Chunk(v any, gather time.Duration) error { return w.send("", "data: ", v, gather) }

// Opening is Chunk for one that says nothing by itself: it is left to the flush of the next event, for this long at most.
func (w *Writer) Opening(v any, wait time.Duration) error {
	w.mu.Lock()
	w.flushed = time.Now() // so that the delay counts from here
	w.mu.Unlock()
	return w.Chunk(v, wait)
}

// Done ends a stream of chunks as OpenAI's interface does.
func (w *Writer) Done() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write([]byte("data: [DONE]\n\n"), 0)
}

// Flush sends what is written so far, at least the head of the answer.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(nil, 0)
}

// send writes an event whose data is v as JSON behind the field name.
func (w *Writer) send(name, field string, v any, gather time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	defer w.reset()
	begin(&w.event, name)
	w.event.WriteString(field)
	if err := encode(&w.event, v); err != nil {
		return fmt.Errorf("encode event %s: %w", name, err)
	}
	w.event.WriteByte('\n')
	return w.write(w.event.Bytes(), gather)
}

// maxKept bounds the buffer, in bytes, that a Writer keeps for the next event: the pieces of a text are smaller, and
// larger events are rare.
const maxKept = 1 << 10

// reset empties the buffer for the next event. w.mu must be held.
func (w *Writer) reset() {
	if w.event.Reset(); w.event.Cap() > maxKept {
		w.event = bytes.Buffer{}
	}
}

// Close cancels a delayed flush, which is then up to the owner of the underlying writer, and makes later calls fail.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancelFlush()
	if w.err == nil {
		w.err = errClosed
	}
}

var errClosed = errors.New("write event: the stream has ended")

// breaks escapes the characters beyond ASCII that some clients take for line ends, as Python's splitlines does. In JSON
// they can only occur inside strings, where the escape means the same.
var breaks = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// encode appends v as compact JSON and a newline. HTML characters are not escaped, since a stream is never embedded in
// a page.
func encode(b *bytes.Buffer, v any) error {
	from := b.Len()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	// 0xC2 and 0xE2 are the first bytes of the breaks in UTF-8; most events have neither and are not copied.
	if added := b.Bytes()[from:]; bytes.IndexByte(added, 0xC2) >= 0 || bytes.IndexByte(added, 0xE2) >= 0 {
		text := breaks.Replace(string(added))
		b.Truncate(from)
		b.WriteString(text)
	}
	return nil
}

func begin(b *bytes.Buffer, name string) {
	if name != "" {
		b.WriteString("event:")
		b.WriteString(oneLine(name))
		b.WriteByte('\n')
	}
}

var spaces = strings.NewReplacer("\r", " ", "\n", " ")

func oneLine(s string) string { return spaces.Replace(s) }

// write writes an event or a comment and flushes it, at the earliest gather after the last flush. w.mu must be held.
func (w *Writer) write(b []byte, gather time.Duration) error {
	if w.err != nil {
		return w.err
	}
	if _, err := w.to.Write(b); err != nil {
		w.err = fmt.Errorf("write event: %w", err)
		return w.err
	}
	w.last = time.Now()
	if wait := gather - w.last.Sub(w.flushed); wait > 0 {
		if w.pending == nil {
			w.pending = time.AfterFunc(wait, w.flushPending)
		}
		return nil
	}
	return w.flushNow()
}

// flushNow flushes and cancels the delayed flush. w.mu must be held.
func (w *Writer) flushNow() error {
	w.cancelFlush()
	if w.flush == nil {
		return nil
	}
	if err := w.flush(); err != nil {
		w.err = fmt.Errorf("flush event: %w", err)
		return w.err
	}
	w.flushed = time.Now()
	return nil
}

// cancelFlush cancels the delayed flush, if there is one. w.mu must be held.
func (w *Writer) cancelFlush() {
	if w.pending != nil {
		w.pending.Stop()
		w.pending = nil
	}
}

// flushPending runs when the delay of a flush is over.
func (w *Writer) flushPending() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending != nil && w.err == nil {
		_ = w.flushNow() // the next call returns w.err
	}
}

// KeepAlive writes a comment whenever nothing has been written for the given time, so that proxies do not close a
// silent connection. stop ends this; no comment is being written when it returns. It must be called before the handler
// returns.
func (w *Writer) KeepAlive(every time.Duration) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var wait *time.Timer
	stopped := false // guarded by mu
	wait = time.AfterFunc(every, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if stopped || w.err != nil {
			return
		}
		rest := every - time.Since(w.last)
		if rest <= 0 {
			if w.write([]byte(": ping\n\n"), 0) != nil {
				return
			}
			rest = every
		}
		wait.Reset(rest)
	})
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		stopped = true
		wait.Stop()
	}
}
