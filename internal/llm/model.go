package llm

import (
	"context"

	"quarry/internal/fault"
)

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
	Wire     string // who or what provides it, in the words of its registration
	Embedded bool   // the model inside the program: calls take our processor, and it quotes its evidence and writes nothing
	Can      Abilities
}

// Admitter is implemented by providers that bound their calls.
type Admitter interface {
	// Admit takes a place for one call, so that the next Stream does not ask again. A model over one of its bounds, or whoever
	// the call is charged to by ctx, is fault.KindLimited; see usage.Charged.
	Admit(ctx context.Context) error
}

// Admit takes a place for one call where the model bounds its calls.
func (m *Model) Admit(ctx context.Context) error {
	if a, ok := m.Provider.(Admitter); ok {
		return a.Admit(ctx)
	}
	return nil
}

// Abilities are what a model can do.
type Abilities struct {
	Images      bool
	Tools       bool
	Structured  bool // answers in the form of a JSON Schema
	Alternation bool // wants user and assistant to take turns, see Alternate
	Context     int  // tokens of prompt and answer together
}

// MinContext is the smallest context that a model is taken to have, in tokens.
const MinContext = 4096

// Named returns err with the field of the request that named the model, where err says that the model can't be used.
// What Service.Model returns has no field, since it does not know where the name stood.
func Named(err error, field string) error {
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindInvalid || len(f.Fields) > 0 {
		return err
	}
	named := fault.Invalid().Field(field, "%s", f.Text).Because(f.Unwrap())
	named.Text = f.Text
	return named
}
