package mcpserve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// longestLine bounds a message, in bytes; longer ones are refused.
	longestLine = 16 << 20
	// lingers is how long requests may still take once the input has ended.
	lingers = 10 * time.Second
)

// Stdio serves one client, a message of the protocol on each line of in and out, until in ends or ctx does. Nothing else is
// written to out. What was asked before the end of in is answered, unless that takes longer than a few seconds. A line that is no
// message is refused, and the next one read.
func Stdio(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer) error {
	l := &lines{in: bufio.NewReaderSize(in, 64<<10), out: out, read: make(chan line), closed: make(chan struct{}), settled: make(chan struct{}, 1)}
	go l.scan()
	return server.Run(context.WithValue(ctx, carried{}, &carrier{until: ctx}), l)
}

// line is a message that was read, or why there are no more.
type line struct {
	message jsonrpc.Message
	err     error
}

// lines is the connection with one client.
type lines struct {
	in   *bufio.Reader
	read chan line

	closing sync.Once
	closed  chan struct{}

	mu      sync.Mutex
	out     io.Writer     // guarded by mu
	open    int           // requests without an answer yet; guarded by mu
	settled chan struct{} // gets a value when there are none
}

// Connect is that of mcp.Transport.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID is that of mcp.Connection: there is one session.
func (l *lines) SessionID() string { return "" }

// Read returns the next message.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, io.EOF
	case next := <-l.read:
		return next.message, next.err
	}
}

// scan reads lines until the input ends or the connection is closed. A read that has begun goes on; the process ends with it.
func (l *lines) scan() {
	for {
		text, err := l.next()
		var tooLong *tooLongError
		switch {
		case errors.As(err, &tooLong):
			l.refuse(jsonrpc.CodeInvalidRequest, tooLong.Error())
			continue
		case err != nil && len(bytes.TrimSpace(text)) == 0:
			l.linger()
			l.hand(line{err: err})
			return
		case len(bytes.TrimSpace(text)) == 0:
			continue
		case !json.Valid(text):
			l.refuse(jsonrpc.CodeParseError, "the line is no JSON")
			continue
		}
		message, err := jsonrpc.DecodeMessage(text)
		if err != nil {
			l.refuse(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0, a JSON object with jsonrpc, and id, method or both")
			continue
		}
		if r, ok := message.(*jsonrpc.Request); ok && r.IsCall() {
			l.count(1)
		}
		if !l.hand(line{message: message}) {
			return
		}
	}
}

// hand hands a line to Read; false means that the connection is closed.
func (l *lines) hand(next line) bool {
	select {
	case l.read <- next:
		return true
	case <-l.closed:
		return false
	}
}

// tooLongError is returned for a line that is longer than may be.
type tooLongError struct{}

func (*tooLongError) Error() string {
	return fmt.Sprintf("the line is longer than %d MiB, the most that a message may have", longestLine>>20)
}

// next returns the next line, read to its end even if it is too long.
func (l *lines) next() (text []byte, err error) {
	for over := false; ; {
		piece, err := l.in.ReadSlice('\n')
		if over = over || len(text)+len(piece) > longestLine; !over {
			text = append(text, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case over:
			return nil, &tooLongError{}
		default:
			return text, err
		}
	}
}

// refuse answers a line that is no message.
func (l *lines) refuse(code int64, text string) {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text}})
	if err == nil {
		_ = l.put(raw) // a client that is gone is found out by the end of the input
	}
}

// put writes a line.
func (l *lines) put(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(text, '\n'))
	return err
}

// Write writes a message.
func (l *lines) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	raw, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	err = l.put(raw)
	if _, ok := message.(*jsonrpc.Response); ok {
		l.count(-1)
	}
	return err
}

// count counts the requests without an answer.
func (l *lines) count(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open += by; l.open <= 0 {
		select {
		case l.settled <- struct{}{}:
		default:
		}
	}
}

// linger waits until every request has its answer, or too long.
func (l *lines) linger() {
	limit := time.NewTimer(lingers)
	defer limit.Stop()
	for {
		l.mu.Lock()
		open := l.open
		l.mu.Unlock()
		if open <= 0 {
			return
		}
		select {
		case <-l.settled:
		case <-l.closed:
			return
		case <-limit.C:
			return
		}
	}
}

// Close is that of mcp.Connection.
func (l *lines) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return nil
}
