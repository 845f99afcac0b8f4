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

// pacer is a provider of chat completions that sends every answer at one pace: each token by itself, at its time, with
// the time at which it was sent as its text. It costs as little as it can, since it shares the processors with what is
// measured: one goroutine writes prepared bytes to all connections.
type pacer struct {
	tokens int // of an answer
	chunk  []byte
	stamp  int // where the time stands in chunk

	mu   sync.Mutex
	due  [][]*paced      // by the millisecond of the pace at which they are due; guarded by mu
	late []time.Duration // guarded by mu
}

// paced is one answer.
type paced struct {
	conn net.Conn
	sent int
	done chan error
}

const (
	beat   = time.Millisecond
	chunks = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	head   = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1900000000,"model":"steady","choices":[{"index":0,"delta":{`
)

// inChunk is one chunk of the transfer encoding.
func inChunk(s string) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(s), s) }

var (
	role = inChunk(head + `"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n")
	last = slices.Concat(
		inChunk(head+`},"finish_reason":"stop"}]}`+"\n\n"),
		inChunk(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1900000000,"model":"steady","choices":[],"usage":{"prompt_tokens":400,"completion_tokens":400,"total_tokens":800}}`+"\n\n"),
		inChunk("data: [DONE]\n\n"), []byte("0\r\n\r\n"))
)

// newPacer makes a provider of so many tokens an answer; pace is of whole beats.
func newPacer(pace time.Duration, tokens int) *pacer {
	chunk := inChunk(head + `"content":"` + scripted.Stamp + ` "},"finish_reason":null}]}` + "\n\n")
	return &pacer{tokens: tokens, chunk: chunk, stamp: bytes.Index(chunk, []byte(scripted.Stamp)), due: make([][]*paced, max(1, pace/beat))}
}

// serve takes calls until l is closed.
func (p *pacer) serve(l net.Listener) {
	ended := make(chan struct{})
	defer close(ended)
	go p.beats(ended)
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

// answer takes one call and gives its answer.
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
	slot := int(time.Now().UnixNano() / int64(beat) % int64(len(p.due)))
	p.due[slot] = append(p.due[slot], s)
	p.mu.Unlock()
	return <-s.done
}

// beats sends what is due, millisecond by millisecond; what it is late with follows at once.
func (p *pacer) beats(ended <-chan struct{}) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for next := time.Now().UnixNano() / int64(beat); ; {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		for ; next <= time.Now().UnixNano()/int64(beat); next++ {
			p.beat(next)
		}
	}
}

// beat sends a token of every answer of one millisecond.
func (p *pacer) beat(at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slot := int(at % int64(len(p.due)))
	p.due[slot] = slices.DeleteFunc(p.due[slot], func(s *paced) bool {
		err := p.send(s, at)
		if err == nil && s.sent < p.tokens {
			return false
		}
		s.done <- err
		return true
	})
}

// send sends a token, and with the last one the end of the answer.
func (p *pacer) send(s *paced, at int64) error {
	now := time.Now()
	if s.sent%20 == 0 {
		p.late = append(p.late, now.Sub(time.Unix(0, at*int64(beat))))
	}
	copy(p.chunk[p.stamp:], fmt.Appendf(nil, "%019d", now.UnixNano()))
	_, err := s.conn.Write(p.chunk)
	if s.sent++; err == nil && s.sent == p.tokens {
		_, err = s.conn.Write(last)
	}
	return err
}

// lateness is how much later than planned the tokens were sent, of every twentieth.
func (p *pacer) lateness() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.late)
}
