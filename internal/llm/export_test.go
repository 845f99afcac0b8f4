package llm

// NewModel returns a model over a provider, without bounds.
func NewModel(p Provider) *Model { return (&metered{provider: p}).model() }
