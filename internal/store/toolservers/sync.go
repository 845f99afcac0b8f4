package toolservers

import (
	"context"
	"time"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/server"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/tools"
)

// Claim begins a sync. See server.Store.
func (s *Store) Claim(ctx context.Context, now time.Time, l server.Lease, due bool) (c server.Claim, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(`UPDATE tool_servers SET status = $5, due = 1, holder = $2, held_until = $3, attempts = CASE WHEN due = 1 THEN attempts + 1 ELSE 1 END
			WHERE id = $1 AND held_until <= $4 AND due >= $6 RETURNING attempts`,
			string(l.Server), l.Holder, l.Until.UnixMicro(), now.UnixMicro(), string(server.Running), number(due)).Scan(&c.Attempts)
		if err != nil {
			return store.OrNone(err, server.ErrSyncing, "begin a sync")
		}
		c.Server, err = scan(tx.QueryRow(columns+`WHERE id = $1`, string(l.Server)))
		return store.Wrap(err, "read tool server")
	})
	if err == server.ErrSyncing { // unless it does not exist
		if _, gone := s.Get(ctx, l.Server); gone != nil {
			err = gone
		}
	}
	return c, err
}

// most is how many servers Due returns at once.
const most = 100

// Due returns servers that wait for a sync. See server.Store.
func (s *Store) Due(ctx context.Context, now time.Time) ([]id.ToolServer, error) {
	return store.Select(s.db.Reader(ctx), "look for syncs", store.One[id.ToolServer],
		`SELECT id FROM tool_servers WHERE due = 1 AND held_until <= $1 ORDER BY held_until, id LIMIT $2`, now.UnixMicro(), most)
}

// Finish ends a sync. See server.Store.
func (s *Store) Finish(ctx context.Context, l server.Lease, revision int64, now time.Time, plan func([]catalog.Tool) server.Changes) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var present int64
		err := tx.QueryRow(`UPDATE tool_servers SET due = 0, holder = '', held_until = 0, attempts = 0, status = $3, synced = $4
			WHERE id = $1 AND holder = $2 RETURNING revision`, string(l.Server), l.Holder, string(server.OK), now.UnixMicro()).Scan(&present)
		if err != nil {
			return store.OrNone(err, server.ErrLost, "end a sync")
		}
		if present != revision {
			return server.ErrChanged
		}
		if err := tx.Lock("tool_names"); err != nil { // two syncs that take the same names would wait for each other
			return err
		}
		have, err := tools.Of(tx, l.Server)
		if err != nil {
			return err
		}
		c := plan(have)
		if err := tools.Sync(tx, &c); err != nil {
			return err
		}
		return store.Wrap(tx.Exec(`UPDATE tool_servers SET message = $2 WHERE id = $1`, string(l.Server), store.Text(c.Message)), "end a sync")
	})
}

// end writes the end of a sync that a lease still holds.
func (s *Store) end(ctx context.Context, l server.Lease, change string, args ...any) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		err := tx.QueryRow(`UPDATE tool_servers SET holder = '', held_until = 0, `+change+` WHERE id = $1 AND holder = $2 RETURNING no`,
			append([]any{string(l.Server), l.Holder}, args...)...).Scan(&no)
		return store.OrNone(err, server.ErrLost, "end a sync")
	})
}

// Fail ends a sync that has failed. See server.Store.
func (s *Store) Fail(ctx context.Context, l server.Lease, message string) error {
	return s.end(ctx, l, `due = 0, attempts = 0, status = $3, message = $4`, string(server.Failed), store.Text(message))
}

// Release ends a lease. See server.Store.
func (s *Store) Release(ctx context.Context, l server.Lease) error {
	return s.end(ctx, l, `attempts = attempts - 1`)
}

// Free ends leases. See server.Store.
func (s *Store) Free(ctx context.Context, before time.Time) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		return store.Wrap(tx.Exec(`UPDATE tool_servers SET holder = '', held_until = 0 WHERE held_until > 0 AND held_until < $1`, before.UnixMicro()), "free syncs")
	})
}
