package llm

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"quarry/internal/fault"
	"quarry/internal/usage"
)

// Model is a language model ready to be called: a Provider that holds the quotas of its registration, counts what it
// used and gives messages the form that the model wants. It is for one request; Service.Model makes it.
type Model struct {
	LLM LLM

	provider Provider
	rate     *usage.Rate     // nil without a bound
	counters *usage.Counters // nil where nothing is counted
	admitted atomic.Bool     // the next call has been let in
}

// Refusal says which bound of a model refused a call. It is the cause of the fault that Admit returns, for callers that
// say when to come back in another way than by the text.
type Refusal struct {
	Model string
	Quota string        // as the contract names the field, such as requests_per_second
	After time.Duration // until the window resets
}

// Error names the bound.
func (r *Refusal) Error() string {
	return fmt.Sprintf("language model %q is over its %s for another %v", r.Model, r.Quota, r.After)
}

// Context is the context limit in tokens: what prompt and answer may hold together.
func (m *Model) Context() int { return m.LLM.Can().Context }

// Can is what the model can do.
func (m *Model) Can() Abilities { return m.LLM.Can() }

// Admit takes a place for one call: the next Stream does not ask again. A call that is over the requests per second or
// over a quota is a fault.KindLimited that names model, bound and seconds, without RetryAfter (contract: Errors 6).
func (m *Model) Admit(ctx context.Context) error {
	if m.admitted.Load() {
		return nil
	}
	if m.counters != nil {
		used, err := m.counters.Check(ctx, m.scope(), m.LLM.Quota)
		if err != nil {
			return fmt.Errorf("check quotas of language model %s: %w", m.LLM.ID, err)
		}
		if used != nil {
			return fault.Limited("llm_quota_exhausted", "language model %q: %s", m.LLM.Name, used.Error()).
				Because(&Refusal{m.LLM.Name, used.Quota, time.Duration(used.Reset) * time.Second})
		}
	}
	if m.rate != nil {
		if a := m.rate.Take("", time.Now()); !a.OK {
			seconds := max(int64((a.Wait+time.Second-1)/time.Second), 1)
			return fault.Limited("llm_rate_limited", "language model %q: its limit requests_per_second of %d is reached; try again in %d seconds",
				m.LLM.Name, m.LLM.RPS, seconds).Because(&Refusal{m.LLM.Name, "requests_per_second", a.Wait})
		}
	}
	m.admitted.Store(true)
	return nil
}

// scope names the model where tokens are counted.
func (m *Model) scope() string { return "llm/" + string(m.LLM.ID) }

// Stream implements Provider. What a call used counts once it has ended, also where it broke off after the model had
// begun to answer; where the provider does not say, it is estimated.
func (m *Model) Stream(ctx context.Context, r Request, emit func(Event) error) (Answer, error) {
	if err := m.Admit(ctx); err != nil {
		return Answer{}, err
	}
	m.admitted.Store(false)
	if m.Can().Alternation {
		r.Messages = Alternate(r.Messages)
	}
	var begun bool
	var given size
	ctx, heard, done := m.waiting(ctx)
	answer, err := m.provider.Stream(ctx, r, func(e Event) error {
		if !begun {
			begun = true
			heard()
		}
		given.event(e)
		return emit(e)
	})
	err = done(err)
	if answer.Usage.Input == 0 && answer.Usage.Output == 0 && (err == nil || begun) {
		answer.Usage = Usage{Input: r.size().tokens(), Output: given.tokens(), Estimated: true}
	}
	if m.counters != nil {
		m.counters.Add(m.scope(), usage.Tokens{Input: answer.Usage.Input, Output: answer.Usage.Output})
	}
	return answer, m.named(err)
}

// named gives a failure the name of the model where the adapter has not.
func (m *Model) named(err error) error {
	var failure *Error
	if errors.As(err, &failure) && failure.Model == "" {
		failure.Model = m.LLM.Name
	}
	return err
}
