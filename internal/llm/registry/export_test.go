package registry

import "quarry/internal/llm"

// NewModel returns a model over a provider, without bounds.
func NewModel(p llm.Provider) *llm.Model { return (&metered{provider: p}).model() }
