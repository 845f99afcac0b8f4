package chat

import (
	"context"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Config is what a Service needs.
type Config struct {
	Store   Store
	Queries Querier // for Ask
}

// Service keeps chats and answers their questions. Safe for concurrent use.
type Service struct {
	store   Store
	queries Querier
}

// New returns a service.
func New(c Config) *Service { return &Service{c.Store, c.Queries} }

// Get returns a chat that the reader may see.
func (s *Service) Get(ctx context.Context, chat id.Chat, r Reader) (Chat, error) {
	return s.store.Get(ctx, chat, r)
}

// List returns a page of at most limit chats after a place, newest first, and where the next page begins, nil on the last
// one.
func (s *Service) List(ctx context.Context, after *page.Position, limit int) (found []Chat, next *page.Position, err error) {
	found, more, err := s.store.List(ctx, after, limit)
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = found[len(found)-1].Position()
	}
	return found, next, nil
}

// Delete removes a chat with its turns. The history of its queries stays.
func (s *Service) Delete(ctx context.Context, chat id.Chat) error { return s.store.Delete(ctx, chat) }

// Turns returns every turn of a chat, the oldest first.
func (s *Service) Turns(ctx context.Context, chat id.Chat) ([]Turn, error) {
	return s.store.Turns(ctx, chat)
}

// Turn returns a turn of a chat.
func (s *Service) Turn(ctx context.Context, chat id.Chat, turn id.Turn) (Turn, error) {
	return s.store.Turn(ctx, chat, turn)
}

// DeleteTurn removes a turn and every later one; with the first turn the chat goes.
func (s *Service) DeleteTurn(ctx context.Context, chat id.Chat, turn id.Turn) error {
	return s.store.DeleteFrom(ctx, chat, turn)
}

// Change is what may be changed of a turn; what is absent stays.
type Change struct{ Enabled opt.Field[bool] }

// UpdateTurn changes a turn and returns it. A turn that is disabled takes every later one along, and neither comes back:
// what was answered after it may build on it.
func (s *Service) UpdateTurn(ctx context.Context, chat id.Chat, turn id.Turn, c Change) (Turn, error) {
	switch enabled, given := c.Enabled.Get(); {
	case !given:
		return s.store.Turn(ctx, chat, turn)
	case enabled:
		return Turn{}, fault.InvalidField("enabled", "must be false: turns can be disabled and not enabled; leave it out to keep the turn as it is")
	}
	return s.store.DisableFrom(ctx, chat, turn)
}
