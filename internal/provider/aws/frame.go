package aws

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Frame is one message of an event stream (application/vnd.amazon.eventstream). Headers holds the headers that are strings,
// among them those that identify a message; others are checked and left out.
type Frame struct {
	Headers map[string]string
	Payload []byte
}

// ErrFrame marks bytes that are not an event stream, or are a damaged one.
var ErrFrame = errors.New("malformed event stream")

// The limits of the format: 16 MiB of payload and 128 KiB of headers. A longer frame is refused before it is read.
const (
	maxPayload = 16 << 20
	maxHeaders = 128 << 10

	preludeLen  = 8 // total length, length of the headers
	checksumLen = 4
	overhead    = preludeLen + 2*checksumLen
)

// Frames reads an event stream. It isn't safe for concurrent use.
type Frames struct {
	from io.Reader
	head [preludeLen + checksumLen]byte
}

// NewFrames returns a reader of the stream r.
func NewFrames(r io.Reader) *Frames { return &Frames{from: r} }

// Next returns the next message. The error is io.EOF at the end of the stream, io.ErrUnexpectedEOF if it ends within a
// message, and ErrFrame if the bytes are not an event stream. Errors of the reader are returned as they are.
func (f *Frames) Next() (Frame, error) {
	if _, err := io.ReadFull(f.from, f.head[:]); err != nil {
		return Frame{}, err
	}
	total, headers := binary.BigEndian.Uint32(f.head[:]), binary.BigEndian.Uint32(f.head[4:])
	if crc32.ChecksumIEEE(f.head[:preludeLen]) != binary.BigEndian.Uint32(f.head[preludeLen:]) {
		return Frame{}, fmt.Errorf("%w: checksum of a prelude is wrong", ErrFrame)
	}
	if total < overhead || headers > maxHeaders || total-overhead < headers || total-overhead-headers > maxPayload {
		return Frame{}, fmt.Errorf("%w: message of %d bytes with %d of headers", ErrFrame, total, headers)
	}
	rest := make([]byte, total-preludeLen-checksumLen)
	if _, err := io.ReadFull(f.from, rest); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, err
	}
	body, sum := rest[:len(rest)-checksumLen], binary.BigEndian.Uint32(rest[len(rest)-checksumLen:])
	if crc32.Update(crc32.ChecksumIEEE(f.head[:]), crc32.IEEETable, body) != sum {
		return Frame{}, fmt.Errorf("%w: checksum of a message is wrong", ErrFrame)
	}
	out := Frame{Payload: body[headers:]}
	var err error
	out.Headers, err = parseHeaders(body[:headers])
	return out, err
}

// typeString is the type of a header that is a string; the table has the lengths of those with a fixed one.
const (
	typeBytes  = 6
	typeString = 7
)

var fixedLen = map[byte]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

func parseHeaders(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for len(b) > 0 {
		name, rest, ok := cut(b[1:], int(b[0]))
		if !ok || len(name) == 0 || len(rest) == 0 {
			return nil, fmt.Errorf("%w: name of a header is cut off", ErrFrame)
		}
		kind := rest[0]
		rest = rest[1:]
		n, fixed := fixedLen[kind]
		if !fixed {
			if kind != typeBytes && kind != typeString || len(rest) < 2 {
				return nil, fmt.Errorf("%w: header of type %d", ErrFrame, kind)
			}
			n, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
		}
		value, rest, ok := cut(rest, n)
		if !ok {
			return nil, fmt.Errorf("%w: value of a header is cut off", ErrFrame)
		}
		if kind == typeString {
			out[string(name)] = string(value)
		}
		b = rest
	}
	return out, nil
}

func cut(b []byte, n int) (head, tail []byte, ok bool) {
	if n > len(b) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
