// Package offload keeps large outputs of tools out of the conversation: the whole output becomes a file of the session, of which
// the event has a short description, or its middle is cut out. When it does, which way, and what an agent and its tools say
// about it is here (contract: tools.md section 6).
package offload

import (
	"bytes"
	"encoding/json"

	"quarry/internal/fault"
	"quarry/internal/opt"
)

// Mode is what becomes of a large output.
type Mode string

// The modes.
const (
	Artifact Mode = "artifact" // a file of the session
	Truncate Mode = "truncate" // its beginning and its end
)

// The values of members that are not given. Sizes are in bytes; maxThreshold also bounds what is set, since no event is larger.
const (
	contextShare  = 0.25
	headroomShare = 0.7
	maxThreshold  = 1 << 20
	minThreshold  = 4 << 10
	leastSize     = 1 << 10 // that a threshold can be set to
)

// Field is the member of agents and of tools that holds settings.
const Field = "tool_output_offloading"

// Settings are a tool_output_offloading of an agent or of a tool. What is nil was not given.
type Settings struct {
	Enabled  *bool    `json:"enabled"`
	Mode     *Mode    `json:"mode"`
	Share    *float64 `json:"context_percentage"`
	Max      *int64   `json:"max_threshold_bytes"`
	Min      *int64   `json:"min_threshold_bytes"`
	Headroom *float64 `json:"headroom_percentage"`
}

// read reads settings; what can't be read was not given.
func read(raw json.RawMessage) (s Settings, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &s)
	}
	return s, err
}

// Check returns what is wrong with settings in the contract's shape; nil and null are none. Faults name their members.
func Check(raw json.RawMessage) error {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] != '{' && string(trimmed) != "null" {
		return fault.InvalidField("", "must be an object")
	}
	s, err := read(raw)
	if err != nil {
		return fault.InvalidField("", "can't be read: %s", err)
	}
	f := fault.Invalid()
	if s.Mode != nil && *s.Mode != Artifact && *s.Mode != Truncate {
		f.Field("mode", "must be artifact or truncate, not %q", *s.Mode)
	}
	share := func(name string, v *float64) {
		if v != nil && (*v < 0.01 || *v > 1) {
			f.Field(name, "must be from 0.01 to 1, not %v", *v)
		}
	}
	size := func(name string, v *int64) {
		if v != nil && *v < leastSize {
			f.Field(name, "must be at least %d, not %d", leastSize, *v)
		}
	}
	share("context_percentage", s.Share)
	share("headroom_percentage", s.Headroom)
	size("max_threshold_bytes", s.Max)
	size("min_threshold_bytes", s.Min)
	if s.Max != nil && s.Min != nil && *s.Max < *s.Min {
		f.Field("max_threshold_bytes", "must not be less than min_threshold_bytes, %d, but is %d", *s.Min, *s.Max)
	}
	return f.Err()
}

// CheckEntries returns what is wrong with the settings of configurations of tools, by their names. Faults name members of the
// configurations.
func CheckEntries(configurations map[string]json.RawMessage) error {
	f := fault.Invalid()
	for name, raw := range configurations {
		var c struct {
			Settings json.RawMessage `json:"tool_output_offloading"`
		}
		if json.Unmarshal(raw, &c) != nil {
			continue // package tool says so
		}
		f.Gather(fault.Under(Check(c.Settings), fault.Join(name, Field)))
	}
	return f.Err()
}

// Over returns s, with the members of other where s has none.
func (s Settings) Over(other Settings) Settings {
	return Settings{
		or(s.Enabled, other.Enabled), or(s.Mode, other.Mode), or(s.Share, other.Share), or(s.Max, other.Max), or(s.Min, other.Min), or(s.Headroom, other.Headroom),
	}
}

func or[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// Rules are settings in which everything has a value.
type Rules struct {
	Enabled         bool
	Mode            Mode
	Share, Headroom float64
	Max, Min        int64
}

// Rules returns the rules of settings. Where a threshold alone is on the wrong side of the other one's default, it counts.
func (s Settings) Rules(byDefault Mode) Rules {
	r := Rules{
		Enabled: opt.Deref(s.Enabled, true), Mode: opt.Deref(s.Mode, byDefault), Share: opt.Deref(s.Share, contextShare), Headroom: opt.Deref(s.Headroom, headroomShare),
		Max: opt.Deref(s.Max, maxThreshold), Min: opt.Deref(s.Min, minThreshold),
	}
	if r.Max < r.Min {
		if s.Max != nil {
			r.Min = r.Max
		} else {
			r.Max = r.Min
		}
	}
	return r
}

// Room is how much of a conversation the model reads, and how much there is, in tokens.
type Room struct {
	Window int64 // 0 = not known
	Tokens int64
}

// perToken is how many bytes a token is taken to have.
const perToken = 4

// Most returns how many bytes of an output of a size may stay in the conversation. It is the size itself, or more, if all may.
func (r *Rules) Most(size int64, in Room) int64 {
	if size < r.Min && size <= maxThreshold {
		return size
	}
	most := r.Max
	if in.Window > 0 {
		window := float64(in.Window) * perToken
		most = max(r.Min, min(int64(r.Share*window), r.Max))
		if free := r.Headroom*window - float64(in.Tokens)*perToken; r.Headroom < 1 && float64(size) > free {
			most = max(r.Min, min(most, int64(free)))
			if size == most { // as large as what is never touched, so all of it is too much
				most--
			}
		}
	}
	return min(most, maxThreshold)
}
