package id

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Audit is the id of an audit event: aud_…
type Audit string

// momentDigits is how many hex digits after the prefix are the moment of an event, in microseconds since 1970.
const momentDigits = 14

// NewAudit gives a fresh id of an audit event. Its order by bytes is that of the moments; those of one microsecond stand
// in any order.
func NewAudit(at time.Time) Audit { return AuditFrom(at) + Audit(Text(10)) }

// AuditFrom is before every id of an event at or after a moment, and after all earlier ones.
func AuditFrom(at time.Time) Audit {
	return Audit(fmt.Sprintf("aud_%0*x", momentDigits, max(0, at.UnixMicro())))
}

// At gives the moment that the id of an audit event begins with.
func (a Audit) At() (time.Time, error) {
	digits, ok := strings.CutPrefix(string(a), "aud_")
	if !ok || len(digits) < momentDigits {
		return time.Time{}, fmt.Errorf("%q is not the id of an audit event", string(a))
	}
	micros, err := strconv.ParseInt(digits[:momentDigits], 16, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read moment of %q: %w", string(a), err)
	}
	return time.UnixMicro(micros).UTC(), nil
}
