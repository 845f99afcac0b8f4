// Package chats keeps chats and their turns in SQL: the chat.Store of the service. Package app creates it.
package chats

import (
	"context"
	"fmt"
	"math"
	"slices"

	"quarry/internal/chat"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
)

// Store is the chat.Store over a database.
type Store struct{ db *store.DB }

var _ chat.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// Open writes a chat with its first turn. See chat.Store.
func (s *Store) Open(ctx context.Context, t chat.Turn, corpora []int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		err := tx.QueryRow(`INSERT INTO chats (id, turns, created) VALUES ($1, 1, $2) RETURNING no`,
			string(t.ChatID), t.Created.UnixMicro()).Scan(&no)
		if err != nil {
			return store.Wrap(err, "write chat")
		}
		return insert(tx, no, 1, &t, corpora)
	})
}

// Add writes a further turn. See chat.Store.
func (s *Store) Add(ctx context.Context, t chat.Turn, corpora []int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var no, ord int64
		err := tx.QueryRow(`UPDATE chats SET turns = turns + 1 WHERE id = $1 RETURNING no, turns`, string(t.ChatID)).Scan(&no, &ord)
		if err != nil {
			return store.OrNone(err, missing(t.ChatID), "write chat")
		}
		var enabled bool
		if err := tx.QueryRow(`SELECT enabled FROM turns WHERE chat_no = $1 AND ord = 1`, no).Scan(&enabled); err != nil {
			return store.Wrap(err, "read the first turn")
		}
		if !enabled {
			return disabled(t.ChatID)
		}
		return insert(tx, no, ord, &t, corpora)
	})
}

// insert writes a turn and the corpora that no turn before it searched.
func insert(tx *store.Tx, no, ord int64, t *chat.Turn, corpora []int64) error {
	err := tx.Exec(`INSERT INTO turns (chat_no, ord, id, enabled, created, question, answer) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		no, ord, string(t.ID), t.Enabled, t.Created.UnixMicro(), store.Text(t.Question), store.Text(t.Answer))
	if err != nil {
		return store.Wrap(err, "write turn")
	}
	for _, c := range corpora {
		err := tx.Exec(`INSERT INTO chat_corpora (chat_no, corpus_no, ord) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, no, c, ord)
		if err != nil {
			return store.Wrap(err, "write corpus of turn")
		}
	}
	return nil
}

func missing(c id.Chat) *fault.Fault {
	return fault.NotFound("chat_not_found", string(c), "chat %s does not exist", c)
}

func missingTurn(c id.Chat, t id.Turn) *fault.Fault {
	return fault.NotFound("turn_not_found", string(t), "chat %s has no turn %s", c, t)
}

func disabled(c id.Chat) *fault.Fault {
	f := fault.Invalid()
	f.Text = fmt.Sprintf("chat %s is disabled, since its first turn is, and takes no further turn; open another chat", c)
	return f
}

// readable returns the condition, with its arguments, that every corpus that the turns of a chat c searched exists under a
// key of the reader's. from is the number of its first parameter.
func readable(r chat.Reader, from int) (condition string, args []any) {
	switch {
	case r.All:
		return ``, nil
	case len(r.Keys) == 0:
		return ` AND 1 = 0`, nil
	}
	return ` AND EXISTS (SELECT 1 FROM chat_corpora cc WHERE cc.chat_no = c.no) AND NOT EXISTS (
		SELECT 1 FROM chat_corpora cc LEFT JOIN corpora x ON x.no = cc.corpus_no
		WHERE cc.chat_no = c.no AND (x.no IS NULL OR x.key NOT IN (` + store.List(from, len(r.Keys)) + `)))`, store.Args(nil, r.Keys)
}

// heads reads chats with their first turns.
const heads = `SELECT c.no, c.id, t.question, t.answer, t.enabled, c.created FROM chats c JOIN turns t ON t.chat_no = c.no AND t.ord = 1 `

func scanHead(r store.Row) (no int64, c chat.Chat, err error) {
	err = r.Scan(&no, &c.ID, &c.Question, &c.Answer, &c.Enabled, store.Micros(&c.Created))
	return no, c, err
}

func head(q store.Querier, c id.Chat, r chat.Reader) (int64, chat.Chat, error) {
	condition, args := readable(r, 2)
	no, found, err := scanHead(q.QueryRow(heads+`WHERE c.id = $1`+condition, append([]any{string(c)}, args...)...))
	if err != nil {
		return 0, chat.Chat{}, store.OrNone(err, missing(c), "read chat")
	}
	return no, found, nil
}

// Get returns a chat that the reader may see. See chat.Store.
func (s *Store) Get(ctx context.Context, c id.Chat, r chat.Reader) (chat.Chat, error) {
	_, found, err := head(s.db.Reader(ctx), c, r)
	return found, err
}

// List returns chats after a place, newest first. See chat.Store.
func (s *Store) List(ctx context.Context, after *page.Position, limit int) (found []chat.Chat, more bool, err error) {
	created, last := after.Bound()
	found, err = store.Select(s.db.Reader(ctx), "list chats", func(r store.Row) (chat.Chat, error) {
		_, c, err := scanHead(r)
		return c, err
	}, heads+`WHERE (c.created, c.id) < ($1, $2) ORDER BY c.created DESC, c.id DESC LIMIT $3`, created, last, limit+1)
	if err != nil {
		return nil, false, err
	}
	found, more = store.Cut(found, limit)
	return found, more, nil
}

// turn is what scanTurn reads of turns.
const turn = `id, question, answer, enabled, created`

func scanTurn(r store.Row, of id.Chat, more ...any) (t chat.Turn, err error) {
	t.ChatID = of
	return t, r.Scan(append([]any{&t.ID, &t.Question, &t.Answer, &t.Enabled, store.Micros(&t.Created)}, more...)...)
}

// Recent returns the newest enabled turns, the oldest of them first. See chat.Store.
func (s *Store) Recent(ctx context.Context, c id.Chat, r chat.Reader, b chat.Bound) (found []chat.Turn, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		no, of, err := head(q, c, r)
		if err != nil {
			return err
		}
		if !of.Enabled {
			return disabled(c)
		}
		found, err = recent(q, no, c, b)
		return err
	})
	return found, err
}

// firstBatch is how many turns recent reads at first; it is what most chats have.
const firstBatch = 32

// recent reads in batches, since PostgreSQL sends the whole result of a statement: turns beyond the bound would cost.
func recent(q store.Querier, no int64, of id.Chat, b chat.Bound) (found []chat.Turn, err error) {
	left, before := b.Bytes, int64(math.MaxInt64)
	for batch := firstBatch; ; batch *= 2 {
		batch = min(batch, b.Turns-len(found))
		more, err := store.Select(q, "read recent turns", func(r store.Row) (chat.Turn, error) {
			return scanTurn(r, of, &before)
		}, `SELECT `+turn+`, ord FROM turns WHERE chat_no = $1 AND ord < $2 AND enabled ORDER BY ord DESC LIMIT $3`, no, before, batch)
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			if left -= len(t.Question) + len(t.Answer); left < 0 && len(found) > 0 {
				slices.Reverse(found)
				return found, nil
			}
			found = append(found, t)
		}
		if len(more) < batch || len(found) == b.Turns {
			slices.Reverse(found)
			return found, nil
		}
	}
}

// Turns returns every turn of a chat. See chat.Store.
func (s *Store) Turns(ctx context.Context, c id.Chat) (found []chat.Turn, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		no, _, err := head(q, c, chat.Reader{All: true})
		if err != nil {
			return err
		}
		found, err = store.Select(q, "list turns", func(r store.Row) (chat.Turn, error) { return scanTurn(r, c) },
			`SELECT `+turn+` FROM turns WHERE chat_no = $1 ORDER BY ord`, no)
		return err
	})
	return found, err
}

// Turn returns a turn of a chat. See chat.Store.
func (s *Store) Turn(ctx context.Context, c id.Chat, t id.Turn) (found chat.Turn, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		no, _, err := head(q, c, chat.Reader{All: true})
		if err != nil {
			return err
		}
		found, err = scanTurn(q.QueryRow(`SELECT `+turn+` FROM turns WHERE chat_no = $1 AND id = $2`, no, string(t)), c)
		return store.OrNone(err, missingTurn(c, t), "read turn")
	})
	return found, err
}

// Delete removes a chat with its turns. See chat.Store.
func (s *Store) Delete(ctx context.Context, c id.Chat) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		err := tx.QueryRow(`DELETE FROM chats WHERE id = $1 RETURNING no`, string(c)).Scan(&no)
		return store.OrNone(err, missing(c), "delete chat")
	})
}

// DeleteFrom removes a turn and every later one. See chat.Store.
func (s *Store) DeleteFrom(ctx context.Context, c id.Chat, t id.Turn) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		no, ord, err := hold(tx, c, t)
		switch {
		case err != nil:
			return err
		case ord == 1:
			return store.Wrap(tx.Exec(`DELETE FROM chats WHERE no = $1`, no), "delete chat")
		}
		return store.Wrap(tx.Exec(`DELETE FROM turns WHERE chat_no = $1 AND ord >= $2`, no, ord), "delete turns")
	})
}

// DisableFrom disables a turn and every later one. See chat.Store.
func (s *Store) DisableFrom(ctx context.Context, c id.Chat, t id.Turn) (found chat.Turn, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		no, ord, err := hold(tx, c, t)
		if err != nil {
			return err
		}
		if err := tx.Exec(`UPDATE turns SET enabled = FALSE WHERE chat_no = $1 AND ord >= $2 AND enabled`, no, ord); err != nil {
			return store.Wrap(err, "disable turns")
		}
		found, err = scanTurn(tx.QueryRow(`SELECT `+turn+` FROM turns WHERE chat_no = $1 AND ord = $2`, no, ord), c)
		return store.Wrap(err, "read turn")
	})
	return found, err
}

// hold keeps others from changing the turns of a chat until tx ends, and returns its row and the place of a turn.
func hold(tx *store.Tx, c id.Chat, t id.Turn) (no, ord int64, err error) {
	err = tx.QueryRow(`UPDATE chats SET turns = turns WHERE id = $1 RETURNING no`, string(c)).Scan(&no)
	if err != nil {
		return 0, 0, store.OrNone(err, missing(c), "lock chat")
	}
	err = tx.QueryRow(`SELECT ord FROM turns WHERE chat_no = $1 AND id = $2`, no, string(t)).Scan(&ord)
	return no, ord, store.OrNone(err, missingTurn(c, t), "read turn")
}
