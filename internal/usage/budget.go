package usage

import "quarry/internal/fault"

// Budget limits what an account takes of language models: calls a second and tokens; 0 means no limit. The JSON names are for
// stores.
type Budget struct {
	RequestsPerSecond int64 `json:"requests_per_second,omitempty"`
	Quota
}

// callsPerSecond is the contract's name of the limit of calls.
const callsPerSecond = "requests_per_second"

// MaxRequestsPerSecond is the highest limit of calls a second that a budget may have (contract: Limits).
const MaxRequestsPerSecond = 10_000

// Limits returns the seven limits of b by their names in the contract, to be read and set.
func (b *Budget) Limits() map[string]*int64 {
	return map[string]*int64{
		callsPerSecond:            &b.RequestsPerSecond,
		"input_tokens_per_minute": &b.InputPerMinute, "input_tokens_per_day": &b.InputPerDay, "input_tokens_per_month": &b.InputPerMonth,
		"output_tokens_per_minute": &b.OutputPerMinute, "output_tokens_per_day": &b.OutputPerDay, "output_tokens_per_month": &b.OutputPerMonth,
	}
}

// Check adds the limits that are out of bounds to bad. at is the field that the budget stands in, "" for none.
func (b *Budget) Check(at string, bad *fault.Fault) {
	for name, limit := range b.Limits() {
		switch {
		case name == callsPerSecond && (*limit < 0 || *limit > MaxRequestsPerSecond):
			bad.Field(fault.Join(at, name), "must be between 1 and %d", MaxRequestsPerSecond)
		case *limit < 0:
			bad.Field(fault.Join(at, name), "must be at least 1")
		}
	}
}
