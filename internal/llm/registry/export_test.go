package registry

import "quarry/internal/llm"

// NewModel returns a model over a provider, without bounds.
func NewModel(p llm.Provider) *llm.Model { return (&metered{provider: p}).model() }

// Types returns the types in the table of formats.
func Types() []Type {
	out := make([]Type, len(formats))
	for i, f := range formats {
		out[i] = f.name
	}
	return out
}
