package registry

import (
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// NewModel returns a model over a provider, without bounds.
func NewModel(p llm.Provider) *llm.Model {
	return (&metered{provider: p, meter: usage.NewMeter(usage.NewCounters(nil, nil))}).model()
}

// Types returns the types in the table of formats.
func Types() []Type {
	out := make([]Type, len(formats))
	for i, f := range formats {
		out[i] = f.name
	}
	return out
}
