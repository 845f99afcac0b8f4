package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is returned by Reader.Next for a line or an event that exceeds the Reader's Limits.
var ErrTooLong = errors.New("event stream: a line or an event is too long")

// Limits bound what a Reader holds in memory; zero members take the defaults of DefaultLimits.
type Limits struct {
	Line  int // bytes of one line
	Event int // bytes of the data of one event, all its lines together
}

// DefaultLimits are generous: some providers end a stream with an event that repeats the whole answer.
var DefaultLimits = Limits{Line: 8 << 20, Event: 8 << 20}

// Event is one event of a stream. Data is valid until the next call of Next.
type Event struct {
	Name string // of its event line; "" without one
	ID   string // of its id line
	Data []byte // its data lines, joined by newlines
}

// Reader parses an event stream (WHATWG HTML, section 9.2). Lines may end with LF, CRLF or CR; a byte order mark at
// the start, comments and unknown fields are skipped; one space after the colon is not part of the value. A Reader is
// not safe for concurrent use.
type Reader struct {
	from   *bufio.Reader
	limits Limits
	line   []byte
	data   []byte
	begun  bool
	skipLF bool // the last line ended with CR, so an LF right after it belongs to that line end
}

// NewReader returns a Reader of the events in r.
func NewReader(r io.Reader, l Limits) *Reader {
	if l.Line <= 0 {
		l.Line = DefaultLimits.Line
	}
	if l.Event <= 0 {
		l.Event = DefaultLimits.Event
	}
	return &Reader{from: bufio.NewReaderSize(r, 4096), limits: l}
}

// Next returns the next event that has a data line, and io.EOF at the end of the stream. Unlike a browser it also
// returns a last event without the blank line that should end it, since some servers leave that out. Any other error
// of the underlying reader is returned unchanged, and the incomplete event is dropped.
func (r *Reader) Next() (Event, error) {
	var e Event
	has := false
	r.data = r.data[:0]
	for {
		line, err := r.readLine()
		if err != nil && err != io.EOF {
			return Event{}, err
		}
		end := err == io.EOF
		if len(line) == 0 {
			if has {
				e.Data = r.data
				return e, nil
			}
			if end {
				return Event{}, io.EOF
			}
			e = Event{}
			continue
		}
		if err := r.field(line, &e, &has); err != nil {
			return Event{}, err
		}
	}
}

func (r *Reader) field(line []byte, e *Event, has *bool) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.Name = string(value)
	case "id":
		e.ID = string(value)
	case "data":
		if *has {
			r.data = append(r.data, '\n')
		}
		*has = true
		if len(r.data)+len(value) > r.limits.Event {
			return ErrTooLong
		}
		r.data = append(r.data, value...)
	}
	return nil
}

// readLine returns the next line without its terminator; with io.EOF the line is always empty. A CR ends a line at
// once: waiting for the LF that may follow would delay an event until the next one.
func (r *Reader) readLine() ([]byte, error) {
	if !r.begun {
		r.begun = true
		if mark, _ := r.from.Peek(1); len(mark) == 1 && mark[0] == 0xEF {
			if mark, _ := r.from.Peek(3); string(mark) == "\uFEFF" {
				_, _ = r.from.Discard(3)
			}
		}
	}
	r.line = r.line[:0]
	for {
		if _, err := r.from.Peek(1); err != nil {
			if err == io.EOF && len(r.line) > 0 {
				return r.line, nil
			}
			return nil, err
		}
		chunk, _ := r.from.Peek(r.from.Buffered())
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				_, _ = r.from.Discard(1)
				continue
			}
		}
		at := bytes.IndexAny(chunk, "\r\n")
		n := at
		if at < 0 {
			n = len(chunk)
		}
		if len(r.line)+n > r.limits.Line {
			return nil, ErrTooLong
		}
		r.line = append(r.line, chunk[:n]...)
		if at < 0 {
			_, _ = r.from.Discard(n)
			continue
		}
		r.skipLF = chunk[at] == '\r'
		_, _ = r.from.Discard(at + 1)
		return r.line, nil
	}
}
