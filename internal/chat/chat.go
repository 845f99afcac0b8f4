// Package chat keeps conversations about documents: chats, each a sequence of turns, and a turn is one question with its
// answer. Clients list, read, disable and delete them; a deleted chat leaves the history of its queries.
package chat

import (
	"context"
	"time"

	"quarry/internal/id"
	"quarry/internal/page"
)

// Chat is a conversation as lists show it: its opening exchange.
type Chat struct {
	ID       id.Chat
	Question string // of the first turn, like the next two
	Answer   string
	Enabled  bool      // whether the chat takes turns
	Created  time.Time // microseconds, UTC
}

// Position returns the place of c in a list by age.
func (c *Chat) Position() *page.Position { return page.At(c.Created, c.ID) }

// Turn is one exchange of a chat.
type Turn struct {
	ID       id.Turn
	ChatID   id.Chat
	Question string // as it was asked
	Answer   string
	Enabled  bool      // whether later turns build on it
	Created  time.Time // microseconds, UTC
}

// Reader is which chats a caller may see: every one, or those whose turns searched only corpora that still exist under one
// of Keys. A later corpus with the same key does not count, and turns that are disabled do.
type Reader struct {
	All  bool
	Keys []string
}

// Bound is how much of a chat a turn reads of it.
type Bound struct {
	Turns int // at most, at least 1
	Bytes int // of questions and answers; the newest turn is read however long it is
}

// Store keeps chats. A chat that does not exist is fault.KindNotFound "chat_not_found", a turn that the chat does not have
// "turn_not_found". Question and answer come back as they were, but for the character NUL and invalid UTF-8, which are
// replaced by U+FFFD.
type Store interface {
	// Open writes a chat, which has the id t.ChatID, with its first turn. corpora are the row numbers of those that the turn
	// searched; an empty list makes a chat that only a reader of everything sees. The chat is durable when Open returns.
	Open(ctx context.Context, t Turn, corpora []int64) error
	// Add writes a turn after all that the chat has by then, however many are added at once. A chat whose first turn is
	// disabled takes none: fault.KindInvalid. The turn is durable when Add returns.
	Add(ctx context.Context, t Turn, corpora []int64) error
	// Recent returns the enabled turns of a chat that the reader may see, the oldest first, as many of the newest as b
	// allows. A chat that takes no turns is fault.KindInvalid.
	Recent(ctx context.Context, chat id.Chat, r Reader, b Bound) ([]Turn, error)

	// Get returns a chat that the reader may see.
	Get(ctx context.Context, chat id.Chat, r Reader) (Chat, error)
	// List returns up to limit chats after a place, newest first, and whether more follow.
	List(ctx context.Context, after *page.Position, limit int) (found []Chat, more bool, err error)
	// Delete removes a chat with its turns.
	Delete(ctx context.Context, chat id.Chat) error
	// Turns returns every turn of a chat, the oldest first.
	Turns(ctx context.Context, chat id.Chat) ([]Turn, error)
	// Turn returns a turn of a chat.
	Turn(ctx context.Context, chat id.Chat, turn id.Turn) (Turn, error)
	// DeleteFrom removes a turn and every later one; with the first turn the chat goes.
	DeleteFrom(ctx context.Context, chat id.Chat, turn id.Turn) error
	// DisableFrom disables a turn and every later one that the chat has by then, and returns the turn.
	DisableFrom(ctx context.Context, chat id.Chat, turn id.Turn) (Turn, error)
}
