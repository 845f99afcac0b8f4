package registry

import (
	"context"
	"errors"
	"sync/atomic"

	"quarry/internal/llm"
	"quarry/internal/usage"
)

// metered is the provider of a registered model: it holds calls to the budgets that they are charged to, counts the tokens that
// they used and gives messages the form that the model wants. It is for one request.
type metered struct {
	llm      LLM
	provider llm.Provider
	meter    *usage.Meter
	admitted atomic.Bool // the next call has been let in
}

// model returns the model whose calls go through m.
func (m *metered) model() *llm.Model {
	wire := string(m.llm.Type)
	if m.llm.Platform {
		wire = "quarry"
	}
	return &llm.Model{Provider: m, Name: m.llm.Name, Wire: wire, Embedded: m.llm.Platform, Can: m.llm.Can()}
}

// Admit implements Admitter. A call over one of its limits is a fault.KindLimited that names account, limit and seconds,
// without RetryAfter (contract: Errors 6).
func (m *metered) Admit(ctx context.Context) error {
	if m.admitted.Load() {
		return nil
	}
	if err := m.meter.Admit(ctx, m.llm.account()); err != nil {
		return err
	}
	m.admitted.Store(true)
	return nil
}

// Stream implements Provider. What a call used counts once it has ended, also where it broke off after the model had
// begun to answer; where the provider does not say, it is estimated.
func (m *metered) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if err := m.Admit(ctx); err != nil {
		return llm.Answer{}, err
	}
	m.admitted.Store(false)
	if m.llm.Can().Alternation {
		r.Messages = llm.Alternate(r.Messages)
	}
	var begun bool
	var written llm.Estimate
	ctx, heard, done := m.waiting(ctx)
	answer, err := m.provider.Stream(ctx, r, func(e llm.Event) error {
		if !begun {
			begun = true
			heard()
		}
		written.Event(e)
		return emit(e)
	})
	err = done(err)
	if answer.Usage.Input == 0 && answer.Usage.Output == 0 && (err == nil || begun) {
		answer.Usage = llm.Usage{Input: int64(r.Tokens()), Output: int64(written.Tokens()), Estimated: true}
	}
	m.meter.Count(ctx, m.llm.account(), usage.Tokens{Input: answer.Usage.Input, Output: answer.Usage.Output})
	return answer, m.named(err)
}

// named sets the name of the model in a failure that lacks it.
func (m *metered) named(err error) error {
	var failure *llm.Error
	if errors.As(err, &failure) && failure.Model == "" {
		failure.Model = m.llm.Name
	}
	return err
}
