// Package complete continues a conversation with the model that the caller names: the rules that a conversation has to keep
// before any model is called, several answers at once, and each piece of them as it comes. It is behind the endpoint that
// speaks OpenAI's interface. Models are found through llm.Models and keep the bounds of their registration.
package complete

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// MaxAnswers is how many answers one request may ask for.
const MaxAnswers = 8

// Request is a conversation to be continued.
type Request struct {
	Model   string // registered name
	Answers int    // how many; 1 to MaxAnswers
	llm.Request
	// Await, if not nil, is called before a model outside this process is called: from then on the request uses no
	// processor of ours.
	Await func(ctx context.Context) error
}

// Event is a piece of one of the answers, or its end.
type Event struct {
	N     int // of the answer, from 0
	Piece llm.Event
	Whole *llm.Answer // the answer is complete, and Piece is empty
}

// Service runs completions. It is safe for concurrent use.
type Service struct{ models llm.Models }

// New returns a service.
func New(m llm.Models) *Service { return &Service{m} }

// Run returns the answers, in the order of their numbers. emit gets what arrives, one call at a time; those of different
// answers are mixed. The first failure ends all. A model over one of its bounds is fault.KindLimited before any of the
// answers has begun: each counts as a call. Fields of faults are named as OpenAI's interface names them.
func (s *Service) Run(ctx context.Context, r Request, emit func(Event) error) ([]llm.Answer, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	models, err := s.admit(ctx, &r)
	if err != nil {
		return nil, err
	}
	r.Partial = true
	answers := make([]llm.Answer, len(models))
	var mu sync.Mutex
	one := func(ctx context.Context, n int) error {
		pass := func(e Event) error {
			mu.Lock()
			defer mu.Unlock()
			return emit(e)
		}
		answer, err := models[n].Stream(ctx, r.Request, func(p llm.Event) error { return pass(Event{N: n, Piece: p}) })
		if err != nil {
			return explained(err)
		}
		answers[n] = answer
		return pass(Event{N: n, Whole: &answer})
	}
	if len(models) == 1 {
		return answers, one(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	for n := range models {
		group.Go(func() error { return one(ctx, n) })
	}
	return answers, group.Wait()
}

// explained returns the fault of a model's failure.
func explained(err error) error {
	var failure *llm.Error
	if errors.As(err, &failure) {
		return failure.Fault()
	}
	return err
}

// admit finds the model, checks that it can do what is asked, and takes a place for each answer.
func (s *Service) admit(ctx context.Context, r *Request) ([]*llm.Model, error) {
	models := make([]*llm.Model, r.Answers)
	for i := range models { // each is for one call
		m, err := s.models.Model(ctx, r.Model)
		if err != nil {
			return nil, llm.Named(err, "model")
		}
		models[i] = m
	}
	if err := r.able(models[0]); err != nil {
		return nil, err
	}
	if !models[0].Embedded && r.Await != nil {
		if err := r.Await(ctx); err != nil {
			return nil, err
		}
	}
	for _, m := range models {
		if err := m.Admit(ctx); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// able checks that the model can do what is asked of it.
func (r *Request) able(m *llm.Model) error {
	bad := fault.Invalid()
	if len(r.Tools) > 0 && !m.Can.Tools {
		bad.Field("tools", "are not for the language model %q, which calls no tools; leave them out, or state capabilities.tool_calling where it is registered", m.Name)
	}
	if i, j, ok := r.picture(); ok && !m.Can.Images {
		bad.Field(at("messages[%d].content[%d]", i, j), "is an image, and the language model %q reads none; leave it out, or state capabilities.image_support where it is registered", m.Name)
	}
	return bad.Err()
}

// picture returns the place of the first image.
func (r *Request) picture() (message, part int, ok bool) {
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			if p.Image != nil {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}
