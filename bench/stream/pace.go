package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"quarry/internal/provider/scripted"
)

// pacer is a provider of chat completions that sends the tokens of every answer at a constant rate, each in an event of its
// own, with the time of sending as its text. It shares the processors with the program that is measured and so uses as
// little of them as possible: one goroutine writes prepared bytes to all connections.
type pacer struct {
	tokens int    // of an answer
	chunk  []byte // event of a token, in the chunked transfer encoding
	stamp  int    // offset of the time in chunk

	mu   sync.Mutex
	due  [][]*paced      // answers by the slot in which their tokens are due, cyclically; guarded by mu
	late []time.Duration // delays of every twentieth token; guarded by mu
}

// paced is an answer that is being sent.
type paced struct {
	conn net.Conn
	sent int // tokens
	done chan error
}

const (
	slot   = time.Millisecond // the resolution of the schedule
	chunks = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	head   = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1900000000,"model":"steady","choices":[{"index":0,"delta":{`
)

// inChunk returns s as a chunk of the chunked transfer encoding.
func inChunk(s string) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(s), s) }

var (
	role = inChunk(head + `"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n")
	last = slices.Concat(
		inChunk(head+`},"finish_reason":"stop"}]}`+"\n\n"),
		inChunk(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1900000000,"model":"steady","choices":[],"usage":{"prompt_tokens":400,"completion_tokens":400,"total_tokens":800}}`+"\n\n"),
		inChunk("data: [DONE]\n\n"), []byte("0\r\n\r\n"))
)

// newPacer returns a provider whose answers have the given number of tokens, one every pace, a multiple of slot.
func newPacer(pace time.Duration, tokens int) *pacer {
	chunk := inChunk(head + `"content":"` + scripted.Stamp + ` "},"finish_reason":null}]}` + "\n\n")
	return &pacer{tokens: tokens, chunk: chunk, stamp: bytes.Index(chunk, []byte(scripted.Stamp)), due: make([][]*paced, max(1, pace/slot))}
}

// serve answers calls until l is closed.
func (p *pacer) serve(l net.Listener) {
	ended := make(chan struct{})
	defer close(ended)
	go p.run(ended)
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			in := bufio.NewReaderSize(c, 4<<10)
			for p.answer(c, in) == nil {
			}
		}()
	}
}

// answer reads a request, begins its answer, schedules the tokens and waits until they have been sent.
func (p *pacer) answer(c net.Conn, in *bufio.Reader) error {
	r, err := http.ReadRequest(in)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	s := &paced{conn: c, done: make(chan error, 1)}
	if _, err := c.Write(slices.Concat([]byte(chunks), role)); err != nil {
		return err
	}
	p.mu.Lock()
	i := int(time.Now().UnixNano() / int64(slot) % int64(len(p.due)))
	p.due[i] = append(p.due[i], s)
	p.mu.Unlock()
	return <-s.done
}

// run sends the tokens of each slot when it is due. Slots that are overdue follow at once.
func (p *pacer) run(ended <-chan struct{}) {
	tick := time.NewTicker(slot)
	defer tick.Stop()
	for next := time.Now().UnixNano() / int64(slot); ; {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		for ; next <= time.Now().UnixNano()/int64(slot); next++ {
			p.sendSlot(next)
		}
	}
}

// sendSlot sends a token of every answer that is due in slot at.
func (p *pacer) sendSlot(at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := int(at % int64(len(p.due)))
	p.due[i] = slices.DeleteFunc(p.due[i], func(s *paced) bool {
		err := p.send(s, at)
		if err == nil && s.sent < p.tokens {
			return false
		}
		s.done <- err
		return true
	})
}

// send sends a token of an answer, and the end of the answer after the last one. p.mu must be held.
func (p *pacer) send(s *paced, at int64) error {
	now := time.Now()
	if s.sent%20 == 0 {
		p.late = append(p.late, now.Sub(time.Unix(0, at*int64(slot))))
	}
	copy(p.chunk[p.stamp:], fmt.Appendf(nil, "%019d", now.UnixNano()))
	_, err := s.conn.Write(p.chunk)
	if s.sent++; err == nil && s.sent == p.tokens {
		_, err = s.conn.Write(last)
	}
	return err
}

// lateness returns how much later than planned every twentieth token was sent.
func (p *pacer) lateness() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.late)
}
