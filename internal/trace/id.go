package trace

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// NewID returns a fresh id of a trace that begins now: 12 digits of the time in milliseconds, then random ones, so that what is kept
// of traces lies in the order of time and old ones can be told by their ids.
func NewID(began time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(max(began.UnixMilli(), 0)))
	copy(b[:6], at[2:])
	return hex.EncodeToString(b[:])
}

// Oldest returns the id that comes before all those of traces that begin at a time or later, and behind all before it.
func Oldest(began time.Time) string { return fmt.Sprintf("%012x%020d", max(began.UnixMilli(), 0), 0) }

// NewSpanID returns a fresh id of a span.
func NewSpanID() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
