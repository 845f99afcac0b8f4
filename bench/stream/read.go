package main

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"time"

	"quarry/internal/provider/scripted"
)

// reader is a client that extracts only the time stamps from a stream. It reads the connection itself, since net/http would
// use as much processor time as the program that is measured.
type reader struct {
	net.Conn
	mark   []byte // before each token
	done   []byte // before the end of the stream
	buffer [4 << 10]byte
	text   []byte // unprocessed text, without the transfer encoding
	left   int    // bytes left of the current chunk
	line   []byte // incomplete line between chunks
}

// open calls an operation and reads the header of the response.
func open(address, key, path string, o operation, model string) (*reader, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	r, body := &reader{Conn: c, mark: []byte(o.token), done: []byte(o.end + "\n")}, o.body(model)
	if err := r.begin(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, address, key, len(body), body), o.status); err != nil {
		c.Close()
		return nil, err
	}
	return r, nil
}

func (r *reader) begin(request string, status int) error {
	if _, err := r.Write([]byte(request)); err != nil {
		return err
	}
	var head []byte
	for {
		n, err := r.Read(r.buffer[:])
		if err != nil {
			return errShort
		}
		head = append(head, r.buffer[:n]...)
		if head, rest, ok := bytes.Cut(head, []byte("\r\n\r\n")); ok {
			if !bytes.HasPrefix(head, fmt.Appendf(nil, "HTTP/1.1 %d ", status)) || !bytes.Contains(head, []byte("text/event-stream")) {
				return fmt.Errorf("a call answers %q", head)
			}
			return r.unchunk(rest)
		}
	}
}

// tokens calls each with the time stamp and the time of arrival of each token, until the stream ends.
func (r *reader) tokens(each func(sent, now time.Time)) error {
	now := time.Now()
	for {
		for {
			_, rest, ok := bytes.Cut(r.text, r.mark)
			if !ok || bytes.IndexByte(rest, '"') < 0 {
				break
			}
			text, rest, _ := bytes.Cut(rest, []byte(`"`))
			for word := range bytes.FieldsSeq(text) {
				n, err := strconv.ParseInt(string(word), 10, 64)
				if err != nil || len(word) != len(scripted.Stamp) {
					return fmt.Errorf("a chunk holds %q", word)
				}
				each(time.Unix(0, n), now)
			}
			r.text = rest
		}
		if bytes.Contains(r.text, r.done) {
			return nil
		}
		if whole := bytes.LastIndex(r.text, []byte("\n\n")); whole > 0 {
			r.text = append(r.text[:0], r.text[whole:]...)
		}
		n, err := r.Read(r.buffer[:])
		if err != nil {
			return errShort
		}
		now = time.Now()
		if err := r.unchunk(r.buffer[:n]); err != nil {
			return err
		}
	}
}

// unchunk removes the chunked transfer encoding from b and appends the rest to r.text.
func (r *reader) unchunk(b []byte) error {
	for len(b) > 0 {
		if r.left > 0 {
			n := min(r.left, len(b))
			r.text, r.left, b = append(r.text, b[:n]...), r.left-n, b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			r.line = append(r.line, b...)
			return nil
		}
		line := bytes.TrimSpace(append(r.line, b[:end]...))
		b, r.line = b[end+1:], r.line[:0]
		if len(line) == 0 {
			continue // the end of a chunk
		}
		n, err := strconv.ParseInt(string(line), 16, 32)
		if err != nil {
			return fmt.Errorf("a chunk begins with %q", line)
		}
		r.left = int(n)
	}
	return nil
}
