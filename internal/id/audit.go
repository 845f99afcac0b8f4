package id

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Audit is the id of an audit event: aud_…
type Audit string

// timeDigits is the number of hex digits after the prefix that hold the time of an event, in microseconds since 1970.
const timeDigits = 14

// NewAudit returns a fresh id for an audit event at the given time. Ids sort bytewise by time; the order within one
// microsecond is random.
func NewAudit(at time.Time) Audit { return AuditFrom(at) + Audit(Text(10)) }

// AuditFrom returns a lower bound: it sorts before every id of an event at or after the given time, and after the ids
// of all earlier events.
func AuditFrom(at time.Time) Audit {
	return Audit(fmt.Sprintf("aud_%0*x", timeDigits, max(0, at.UnixMicro())))
}

// At returns the time that the id was made for, in UTC with a resolution of microseconds.
func (a Audit) At() (time.Time, error) {
	digits, ok := strings.CutPrefix(string(a), "aud_")
	if !ok || len(digits) < timeDigits {
		return time.Time{}, fmt.Errorf("%q is not the id of an audit event", string(a))
	}
	micros, err := strconv.ParseInt(digits[:timeDigits], 16, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of %q: %w", string(a), err)
	}
	return time.UnixMicro(micros).UTC(), nil
}
