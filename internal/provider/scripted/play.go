package scripted

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// call is a call of a model, as read by its dialect.
type call struct {
	model  string
	stream bool
	usage  bool   // whether the caller wants the usage in the stream
	forced string // the tool that must be called, if any
	body   []byte
}

// frame is an event of a stream, as it is sent.
type frame struct {
	raw     []byte
	content bool // whether it is part of the answer: text, reasoning or a tool call
}

// dialect is a wire format.
type dialect interface {
	read(r *http.Request, c *call) error
	whole(c *call, r *Reply) any
	frames(c *call, r *Reply) []frame
	frame(event string, data []byte) []byte      // an event as it is sent
	failure(status int, message string) any      // the body of an error
	broken(message string) (event string, v any) // an error as an event
	mime() string                                // of a stream
}

type obj = map[string]any

var errGone = errors.New("the caller has disconnected")

// player sends one reply.
type player struct {
	w     http.ResponseWriter
	r     *http.Request
	d     dialect
	c     *call
	reply Reply
	quit  <-chan struct{}
	sent  int       // events with content
	first time.Time // when the first of them was sent
}

func (p *player) play() error {
	if err := p.pass(p.reply.Held); err != nil {
		return err
	}
	if err := p.sleep(p.reply.Delay); err != nil {
		return err
	}
	if p.reply.Fault == Nothing {
		p.reply.Text, p.reply.Pieces, p.reply.Reasoning, p.reply.Calls = "", nil, "", nil
	}
	for k, v := range p.reply.Headers {
		p.w.Header().Set(k, v)
	}
	if done, err := p.refuse(); done {
		return err
	}
	if p.c.stream {
		return p.stream()
	}
	return p.plain()
}

// statuses are the faults that consist of a status and an error message.
var statuses = map[Fault]struct {
	status int
	text   string
}{
	Limited: {http.StatusTooManyRequests, "You are sending requests too fast."}, Rejected: {http.StatusBadRequest, "The request is wrong: max_tokens is too large."},
	Denied: {http.StatusUnauthorized, "The key is not valid."}, Unknown: {http.StatusNotFound, "The model does not exist."},
	Failed: {http.StatusInternalServerError, "Something broke."}, Overload: {http.StatusServiceUnavailable, "The model is overloaded."},
	Late: {http.StatusGatewayTimeout, "The model took too long."},
}

// refuse sends the faults that replace an answer, and reports whether the reply has one.
func (p *player) refuse() (bool, error) {
	f := p.reply.Fault
	if s, ok := statuses[f]; ok {
		if f == Limited && p.w.Header().Get("Retry-After") == "" {
			p.w.Header().Set("Retry-After", "7")
		}
		p.fail(s.status, s.text)
		return true, nil
	}
	switch f {
	case Never:
		return true, p.wait(nil, nil)
	case Leak:
		p.fail(http.StatusUnauthorized, "Incorrect credentials: "+credentials(p.r))
	case Moved:
		p.w.Header().Set("Location", p.reply.Message)
		p.w.WriteHeader(http.StatusTemporaryRedirect)
	case Bare:
		p.w.WriteHeader(p.reply.Status)
	case HTML, Prose:
		p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		status := http.StatusOK
		if f == Prose {
			status = http.StatusBadGateway
		}
		p.w.WriteHeader(status)
		fmt.Fprint(p.w, "<!doctype html><html><head><title>Welcome</title></head><body><h1>It works</h1></body></html>")
	default:
		return false, nil
	}
	return true, nil
}

// credentials returns everything secret in a call, as a careless provider might repeat it.
func credentials(r *http.Request) string {
	var all []string
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "X-Secret"} {
		all = append(all, r.Header.Values(name)...)
	}
	return strings.Join(append(all, r.URL.RawQuery), " ")
}

func (p *player) fail(status int, text string) {
	status = cmp.Or(p.reply.Status, status)
	answer(p.w, status, p.d.failure(status, cmp.Or(p.reply.Message, text)))
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the caller has disconnected
}

// plain sends the answer as a single body.
func (p *player) plain() error {
	whole := encode(p.d.whole(p.c, &p.reply))
	if err := p.pass(p.reply.First); err != nil {
		return err
	}
	p.w.Header().Set("Content-Type", "application/json")
	half := len(whole) / 2
	switch p.reply.Fault {
	case Cut, Ends, Event:
		p.w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		p.w.Write(whole[:half]) //nolint:errcheck // the caller has disconnected
		panic(http.ErrAbortHandler)
	case Malformed:
		whole = append(whole[:half:half], "{{"...)
	case Huge, Endless:
		return p.endless([]byte(`{"x":"`), bytes.Repeat([]byte("x"), 64<<10))
	}
	_, err := p.w.Write(whole)
	return err
}

// stream sends the answer as a stream of events.
func (p *player) stream() error {
	p.w.Header().Set("Content-Type", p.d.mime())
	p.w.WriteHeader(http.StatusOK)
	p.flush()
	if err := p.pass(p.reply.First); err != nil {
		return err
	}
	frames := p.d.frames(p.c, &p.reply)
	middle := middle(frames)
	for i, f := range frames {
		if i == middle {
			if ended, err := p.interrupt(f); ended || err != nil {
				return err
			}
		}
		if err := p.send(f); err != nil {
			return err
		}
	}
	return p.sleep(p.reply.Trail)
}

// middle returns the index of the frame in the middle of those with content, before which there is at least one of them if
// there are two.
func middle(frames []frame) int {
	var content []int
	for i, f := range frames {
		if f.content {
			content = append(content, i)
		}
	}
	switch len(content) {
	case 0:
		return 0
	case 1:
		return content[0] + 1
	}
	return content[len(content)/2]
}

// interrupt sends the faults that occur in the middle of a stream, before the frame at; ended is whether the stream ends.
func (p *player) interrupt(at frame) (ended bool, err error) {
	switch p.reply.Fault {
	case Cut:
		panic(http.ErrAbortHandler)
	case Ends:
		return true, nil
	case Malformed:
		return false, p.write(p.d.frame("", []byte(`{"choices":[{"delta":{"content":"tor`)))
	case Huge:
		return true, p.endless(p.d.frame("", []byte(`{"x":"`)), bytes.Repeat([]byte("x"), 64<<10))
	case Endless:
		return true, p.endless(nil, at.raw)
	case Event:
		event, v := p.d.broken(cmp.Or(p.reply.Message, "The model is overloaded."))
		return true, p.write(p.d.frame(event, encode(v)))
	}
	return false, nil
}

// endless sends start and then piece repeatedly until the caller disconnects, or 256 MiB have been sent.
func (p *player) endless(start, piece []byte) error {
	if err := p.write(bytes.TrimRight(start, "\r\n")); err != nil {
		return err
	}
	for sent := 0; sent < 256<<20; sent += len(piece) {
		if err := p.write(piece); err != nil {
			return err
		}
	}
	return nil
}

// send sends a frame at the time that the reply's gates and pace allow.
func (p *player) send(f frame) error {
	if f.content {
		if p.sent > 0 {
			if err := p.pass(p.reply.Between); err != nil {
				return err
			}
			due := p.first.Add(time.Duration(p.sent) * p.reply.Pace)
			if err := p.sleep(time.Until(due)); p.reply.Pace > 0 && err != nil {
				return err
			}
		} else {
			p.first = time.Now()
		}
		p.sent++
		if p.reply.Stamped {
			f.raw = bytes.Replace(f.raw, []byte(Stamp), fmt.Appendf(nil, "%019d", time.Now().UnixNano()), 1)
		}
	}
	if p.reply.Dribble {
		for i := range f.raw {
			if err := p.write(f.raw[i : i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	return p.write(f.raw)
}

func (p *player) write(raw []byte) error {
	if _, err := p.w.Write(raw); err != nil {
		return errGone
	}
	p.flush()
	if p.r.Context().Err() != nil {
		return errGone
	}
	return nil
}

func (p *player) flush() {
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pass waits until the gate lets the call pass.
func (p *player) pass(g *Gate) error {
	if g == nil {
		return nil
	}
	select {
	case g.reached <- struct{}{}:
	default:
	}
	return p.wait(g.open, g.let)
}

func (p *player) wait(open, let <-chan struct{}) error {
	select {
	case <-open:
	case <-let:
	case <-p.quit:
		return errGone
	case <-p.r.Context().Done():
		return errGone
	}
	return nil
}

func (p *player) sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.quit:
	case <-p.r.Context().Done():
	}
	return errGone
}
