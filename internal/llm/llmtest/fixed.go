package llmtest

import (
	"context"

	"quarry/internal/llm"
)

// Fixed is a language model that answers every request with one text, or fails.
type Fixed struct {
	Text string
	Err  error
	Last *llm.Request // is set to each request, if not nil
}

// Stream implements llm.Provider.
func (f Fixed) Stream(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if f.Last != nil {
		*f.Last = r
	}
	if f.Err != nil {
		return llm.Answer{}, f.Err
	}
	return llm.Answer{Text: f.Text, Reason: llm.Stop}, emit(llm.Event{Text: f.Text})
}

// Only is an llm.Models with one model, which every name stands for, or the reason why it can't be used.
type Only struct {
	Use *llm.Model
	Err error
}

// Model implements llm.Models.
func (o Only) Model(context.Context, string) (*llm.Model, error) { return o.Use, o.Err }
