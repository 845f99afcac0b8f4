package llm

import "context"

// Models finds language models by the names that they are registered under; "" is the default one.
type Models interface {
	// Model returns the model with a name. A name that nothing has, or whose model is disabled, is fault.KindInvalid
	// without fields, since only the caller knows where the name stood; see Named.
	Model(ctx context.Context, name string) (*Model, error)
}

// Model is a language model ready to be called. It is for one request.
type Model struct {
	Provider
	Name     string // registered
	Embedded bool   // the model inside the program: calls take our processor, and it quotes its evidence and writes nothing
	Can      Abilities
}

// Admitter is implemented by providers that bound their calls.
type Admitter interface {
	// Admit takes a place for one call, so that the next Stream does not ask again. A model over one of its bounds is
	// fault.KindLimited.
	Admit(ctx context.Context) error
}

// Admit takes a place for one call where the model bounds its calls.
func (m *Model) Admit(ctx context.Context) error {
	if a, ok := m.Provider.(Admitter); ok {
		return a.Admit(ctx)
	}
	return nil
}
