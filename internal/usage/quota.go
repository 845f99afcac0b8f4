package usage

import (
	"fmt"
	"time"
)

// Tokens are counts of tokens of language models. Input includes cached prompt tokens, Output includes reasoning tokens
// (contract: LLM configuration).
type Tokens struct{ Input, Output int64 }

func (t Tokens) plus(o Tokens) Tokens { return Tokens{t.Input + o.Input, t.Output + o.Output} }

// Span is the length of the windows in which tokens are counted. Windows follow the calendar in UTC.
type Span uint8

// The spans. Their numbers are stored.
const (
	Minute Span = 1
	Day    Span = 2
	Month  Span = 3
)

// Spans are all spans.
var Spans = []Span{Minute, Day, Month}

func (s Span) String() string { return [...]string{"", "minute", "day", "month"}[s] }

// Window returns the beginning of the window that contains a moment, and of the next one.
func (s Span) Window(at time.Time) (begin, end time.Time) {
	at = at.UTC()
	switch s {
	case Minute:
		begin = at.Truncate(time.Minute)
		return begin, begin.Add(time.Minute)
	case Day:
		begin = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		return begin, begin.AddDate(0, 0, 1)
	}
	begin = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	return begin, begin.AddDate(0, 1, 0)
}

// Quota limits the tokens of a scope in each window; 0 means no limit. The JSON names are for stores.
type Quota struct {
	InputPerMinute  int64 `json:"input_tokens_per_minute,omitempty"`
	InputPerDay     int64 `json:"input_tokens_per_day,omitempty"`
	InputPerMonth   int64 `json:"input_tokens_per_month,omitempty"`
	OutputPerMinute int64 `json:"output_tokens_per_minute,omitempty"`
	OutputPerDay    int64 `json:"output_tokens_per_day,omitempty"`
	OutputPerMonth  int64 `json:"output_tokens_per_month,omitempty"`
}

// of returns the limits of one span.
func (q Quota) of(s Span) Tokens {
	switch s {
	case Minute:
		return Tokens{q.InputPerMinute, q.OutputPerMinute}
	case Day:
		return Tokens{q.InputPerDay, q.OutputPerDay}
	}
	return Tokens{q.InputPerMonth, q.OutputPerMonth}
}

// Exhausted is the error of a call beyond a quota that is used up.
type Exhausted struct {
	Quota       string // as the contract names the field: output_tokens_per_day
	Limit, Used int64
	Reset       int64 // whole seconds until the window ends, at least 1
}

// Error names the quota and the seconds until its window resets (contract: Errors 6).
func (e *Exhausted) Error() string {
	return fmt.Sprintf("the quota %s of %d tokens is used up (%d were used); its window resets in %d seconds", e.Quota, e.Limit, e.Used, e.Reset)
}

// check compares what was used in the windows of a moment with the quota. If several limits are reached it returns the one
// that resets last, since no call is admitted before that.
func (q Quota) check(at time.Time, used func(s Span, begin time.Time) Tokens) *Exhausted {
	var out *Exhausted
	for _, s := range Spans {
		most := q.of(s)
		if most == (Tokens{}) {
			continue
		}
		begin, end := s.Window(at)
		reset := max(int64((end.Sub(at)+time.Second-1)/time.Second), 1)
		sum := used(s, begin)
		for _, c := range []struct {
			kind        string
			most, total int64
		}{{"input", most.Input, sum.Input}, {"output", most.Output, sum.Output}} {
			if c.most > 0 && c.total >= c.most {
				out = &Exhausted{Quota: c.kind + "_tokens_per_" + s.String(), Limit: c.most, Used: c.total, Reset: reset}
			}
		}
	}
	return out
}
