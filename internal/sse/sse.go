// Package sse is the event stream of server-sent events, both ways: a Writer for our own streams, in the exact framing
// that clients of the contract read (contract: generation-and-citations, section 8), and a Reader for the streams of
// providers, tolerant of their variants and bounded in memory. It knows no HTTP: handlers give the Writer the body and
// its flush, package provider gives the Reader the body of a response.
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

// Writer writes events. It is safe for concurrent use: each event or comment is one write and one flush, but for those of
// Soon. After a failure every call gives the failure again.
type Writer struct {
	to    io.Writer
	flush func() error // nil for none

	mu      sync.Mutex
	event   bytes.Buffer // the event that is being made; guarded by mu
	err     error        // guarded by mu
	last    time.Time    // when something was written; guarded by mu
	flushed time.Time    // when something was flushed; guarded by mu
	late    *time.Timer  // flushes what waits; nil when nothing does; guarded by mu
}

// NewWriter writes to w and flushes after every event; a nil flush is none.
func NewWriter(w io.Writer, flush func() error) *Writer {
	return &Writer{to: w, flush: flush, last: time.Now()}
}

// Send writes v as the JSON of one event on one data line; an empty name leaves the event line out.
func (w *Writer) Send(name string, v any) error { return w.Soon(name, v, 0) }

// Soon is Send for events of which many may come at once: one that follows a flush in less than gather waits for others
// and goes with them when that time is over. A burst is then two writes to the network instead of one for each event, and
// events that come more seldom do not wait. Close is to be called before the handler returns.
func (w *Writer) Soon(name string, v any, gather time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	defer w.spare()
	begin(&w.event, name)
	w.event.WriteString("data:")
	if err := encode(&w.event, v); err != nil {
		return fmt.Errorf("encode event %s: %w", name, err)
	}
	w.event.WriteByte('\n')
	return w.write(w.event.Bytes(), gather)
}

// kept is how many bytes a Writer keeps for the next event: the pieces of a text are smaller, and what is larger comes once.
const kept = 1 << 10

// spare makes room for the next event. w.mu is held.
func (w *Writer) spare() {
	if w.event.Reset(); w.event.Cap() > kept {
		w.event = bytes.Buffer{}
	}
}

// Close gives up what waits to be flushed: whoever owns what is written to flushes it. Later calls fail.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest()
	if w.err == nil {
		w.err = errClosed
	}
}

var errClosed = errors.New("write event: the stream has ended")

// breaks are the characters beyond ASCII that some clients (Python's splitlines among them) take for line ends; within
// JSON they only stand in strings, where an escape means the same.
var breaks = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// encode appends compact JSON and a newline; < and & stay as they are, since no browser puts a stream into a page.
func encode(b *bytes.Buffer, v any) error {
	from := b.Len()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	if made := b.Bytes()[from:]; bytes.IndexByte(made, 0xC2) >= 0 || bytes.IndexByte(made, 0xE2) >= 0 {
		text := breaks.Replace(string(made))
		b.Truncate(from)
		b.WriteString(text)
	}
	return nil
}

// Raw writes data as it is; data with line breaks takes a data line for each line.
func (w *Writer) Raw(name string, data []byte) error {
	var b bytes.Buffer
	b.Grow(len(name) + len(data) + 16)
	begin(&b, name)
	for line := range bytes.Lines(data) {
		b.WriteString("data:")
		b.Write(bytes.TrimRight(line, "\r\n"))
		b.WriteByte('\n')
	}
	if len(data) == 0 {
		b.WriteString("data:\n")
	}
	b.WriteByte('\n')
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(b.Bytes(), 0)
}

func begin(b *bytes.Buffer, name string) {
	if name != "" {
		b.WriteString("event:")
		b.WriteString(oneLine(name))
		b.WriteByte('\n')
	}
}

// Comment writes a line that clients skip.
func (w *Writer) Comment(text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write([]byte(": "+oneLine(text)+"\n\n"), 0)
}

var spaces = strings.NewReplacer("\r", " ", "\n", " ")

func oneLine(s string) string { return spaces.Replace(s) }

// write writes an event or a comment. w.mu is held.
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
		if w.late == nil {
			w.late = time.AfterFunc(wait, w.overdue)
		}
		return nil
	}
	return w.push()
}

// push flushes. w.mu is held.
func (w *Writer) push() error {
	w.rest()
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

// rest lets nothing wait any more. w.mu is held.
func (w *Writer) rest() {
	if w.late != nil {
		w.late.Stop()
		w.late = nil
	}
}

// overdue flushes what has waited for long enough.
func (w *Writer) overdue() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.late != nil && w.err == nil {
		_ = w.push() // the next call tells
	}
}

// KeepAlive writes a comment whenever nothing was written for that long, so that proxies between do not take silence
// for death. stop ends it and returns when no comment is being written any more; it is to be called before the
// handler returns.
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
