package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"quarry/internal/clock"
	"quarry/internal/id"
)

// Thread is what a process needs of the trace of a turn to go on with it; the zero Thread is that of a turn of which nothing is
// written yet. The JSON names are those of the store.
type Thread struct {
	Began    time.Time  `json:"began,omitzero"`     // of a turn that had waited for the client: when it went on
	Answered []id.Event `json:"answered,omitempty"` // the calls that the client has made before
	Told     bool       `json:"told,omitempty"`     // the spans of these are written
	Attempt  int        `json:"attempt,omitempty"`  // how often another process had to go on, as far as the trace says so
	Last     time.Time  `json:"last,omitzero"`      // when something was written last
	Called   time.Time  `json:"called,omitzero"`    // when the model had asked for the last calls of tools
	Input    int64      `json:"input,omitempty"`    // tokens of the turn's own calls of models, like the next two
	Output   int64      `json:"output,omitempty"`
	Cached   int64      `json:"cached,omitempty"`

	Asked *ChatAttributes `json:"asked,omitempty"` // the model that the last call was of, and the parameters it was sent with
}

// Zero reports whether t is the zero Thread.
func (t *Thread) Zero() bool {
	return t.Began.IsZero() && len(t.Answered) == 0 && t.Attempt == 0 && t.Last.IsZero()
}

// IDOf returns the id of a trace that began then, which follows from what it is of: its first 12 digits are the time in milliseconds,
// so that traces lie in the order of time where they are kept.
func IDOf(began time.Time, of ...any) string {
	sum := sha256.Sum256(fmt.Appendln([]byte("trace "), of...))
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(max(began.UnixMilli(), 0)))
	return hex.EncodeToString(append(at[2:], sum[:10]...))
}

// SpanOf returns the id of a span, which follows from what it is of.
func SpanOf(trace string, of ...any) string {
	sum := sha256.Sum256(fmt.Appendln([]byte("span "+trace+" "), of...))
	return hex.EncodeToString(sum[:8])
}

// Now returns the time as spans have it.
func Now() time.Time { return clock.Now().UTC().Truncate(time.Microsecond) }
