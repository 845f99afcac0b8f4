package llm

// NewModel gives a model over a provider, without bounds.
func NewModel(p Provider) *Model { return &Model{provider: p} }
