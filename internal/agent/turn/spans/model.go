package spans

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"quarry/internal/agent/turn/failure"
	"quarry/internal/llm"
	"quarry/internal/trace"
)

// interval is when something went on; the zero one is nothing.
type interval struct{ from, to time.Time }

func (i *interval) add(at time.Time) {
	if i.from.IsZero() {
		i.from = at
	}
	i.to = at
}

// chat is a call of a model that has ended.
type chat struct {
	interval
	id                   string
	thought, text, later interval // later is thought behind the beginning of the text
	attributes           trace.ChatAttributes
	err                  error
}

// recorded is a model whose calls are recorded.
type recorded struct {
	llm.Provider
	model *llm.Model
	to    *recording
}

// Model returns m, whose calls are spans.
func (r *recording) Model(m *llm.Model) *llm.Model {
	out := *m
	out.Provider = &recorded{m.Provider, m, r}
	return &out
}

// Admit implements llm.Admitter.
func (m *recorded) Admit(ctx context.Context) error { return m.model.Admit(ctx) }

// Stream implements llm.Provider.
func (m *recorded) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	c := chat{interval: interval{from: trace.Now()}, id: trace.NewSpanID()}
	answer, err := m.Provider.Stream(ctx, r, func(e llm.Event) error {
		switch at := trace.Now(); {
		case e.Reasoning != "" && !c.text.from.IsZero():
			c.later.add(at)
		case e.Reasoning != "":
			c.thought.add(at)
		case e.Text != "":
			c.text.add(at)
		}
		return emit(e)
	})
	c.to, c.err = trace.Now(), err
	c.attributes = trace.ChatAttributes{
		Model: m.model.Name, Provider: m.model.Wire, Response: answer.ID,
		InputTokens: answer.Usage.Input, OutputTokens: answer.Usage.Output, CachedTokens: answer.Usage.Cached,
	}
	parameters(&c.attributes, &r.Parameters)
	switch {
	case errors.Is(err, failure.ErrInterrupted):
		c.attributes.FinishReasons, c.err = []string{"interrupted"}, nil
	case answer.Reason != "":
		c.attributes.FinishReasons = []string{string(answer.Reason)}
	}
	m.to.mu.Lock()
	defer m.to.mu.Unlock()
	m.to.chats = append(m.to.chats, c)
	return answer, err
}

// parameters sets those of the attributes that a call was sent with, also under the names that some providers have for them.
func parameters(a *trace.ChatAttributes, p *llm.Parameters) {
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		var n int64
		if raw := p.Extra[name]; string(raw) != "null" && json.Unmarshal(raw, &n) == nil {
			a.MaxTokens = &n
		}
	}
	var t float64
	if raw := p.Extra["temperature"]; string(raw) != "null" && json.Unmarshal(raw, &t) == nil {
		a.Temperature = &t
	}
	if p.MaxTokens != nil {
		n := int64(*p.MaxTokens)
		a.MaxTokens = &n
	}
	if p.Temperature != nil {
		a.Temperature = p.Temperature
	}
}
