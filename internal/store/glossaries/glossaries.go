// Package glossaries keeps glossaries and their entries in SQL: the glossary.Store of the service. Package app creates it.
package glossaries

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/glossary"
	"quarry/internal/store"
)

// Store is the glossary.Store over a database.
type Store struct{ db *store.DB }

var _ glossary.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// columns of a glossary, as scan reads them.
const columns = `no, key, name, description, entries, version, created, updated`

func scan(r store.Row) (g glossary.Glossary, err error) {
	return g, r.Scan(&g.No, &g.Key, &g.Name, &g.Description, &g.Entries, &g.Version, store.Micros(&g.Created), store.Micros(&g.Updated))
}

// Create writes a glossary. See glossary.Store.
func (s *Store) Create(ctx context.Context, g glossary.Glossary) (glossary.Glossary, error) {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(`INSERT INTO glossaries (key, name, description, entries, version, floor, created, updated, deleted)
			VALUES ($1, $2, $3, 0, 0, 0, $4, $5, 0) ON CONFLICT (key) DO NOTHING RETURNING no`,
			g.Key, g.Name, g.Description, g.Created.UnixMicro(), g.Updated.UnixMicro()).Scan(&g.No)
		return store.OrNone(err, glossary.Taken(g.Key), "write glossary")
	})
	if err != nil {
		return glossary.Glossary{}, err
	}
	return g, nil
}

// Get returns a glossary. See glossary.Store.
func (s *Store) Get(ctx context.Context, key string) (glossary.Glossary, error) {
	g, err := scan(s.db.Reader(ctx).QueryRow(`SELECT `+columns+` FROM glossaries WHERE key = $1`, key))
	if err != nil {
		return glossary.Glossary{}, store.OrNone(err, glossary.Missing(key), "read glossary")
	}
	return g, nil
}

// atOnce is how many keys or terms one statement has.
const atOnce = 500

// Find returns those glossaries that there are. See glossary.Store.
func (s *Store) Find(ctx context.Context, keys []string) (out []glossary.Glossary, err error) {
	for some := range slices.Chunk(keys, atOnce) {
		found, err := store.Select(s.db.Reader(ctx), "read glossaries", scan,
			`SELECT `+columns+` FROM glossaries WHERE key IN (`+store.List(1, len(some))+`)`, store.Args(nil, some)...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// List returns glossaries after a place, newest first. See glossary.Store.
func (s *Store) List(ctx context.Context, l glossary.List) (page []glossary.Glossary, more bool, err error) {
	return store.Matching(l.Limit, l.Match, func(last *glossary.Glossary, n int) ([]glossary.Glossary, error) {
		created, key := l.After.Bound()
		if last != nil {
			created, key = last.Created.UnixMicro(), last.Key
		}
		return store.Select(s.db.Reader(ctx), "list glossaries", scan, `SELECT `+columns+` FROM glossaries
			WHERE deleted = 0 AND (created, key) < ($1, $2) ORDER BY created DESC, key DESC LIMIT $3`, created, key, n)
	})
}

// later sets when a glossary was changed; changes at once may come in another order than their instants.
const later = `updated = CASE WHEN updated < $2 THEN $2 ELSE updated END`

// Update changes name and description. See glossary.Store.
func (s *Store) Update(ctx context.Context, g glossary.Glossary, name, description *string, at time.Time) (out glossary.Glossary, err error) {
	set, args := later, []any{g.No, at.UnixMicro()}
	for column, v := range map[string]*string{"name": name, "description": description} {
		if v != nil {
			args = append(args, *v)
			set += fmt.Sprintf(`, %s = $%d`, column, len(args))
		}
	}
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		out, err = scan(tx.QueryRow(`UPDATE glossaries SET `+set+` WHERE no = $1 AND deleted = 0 RETURNING `+columns, args...))
		return store.OrNone(err, glossary.Missing(g.Key), "write glossary")
	})
	return out, err
}

// Delete removes a glossary. See glossary.Store.
func (s *Store) Delete(ctx context.Context, g glossary.Glossary, at time.Time) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		var was int64
		err := tx.QueryRow(`UPDATE glossaries SET key = NULL, deleted = $2 WHERE no = $1 AND deleted = 0 RETURNING no`, g.No, at.UnixMicro()).Scan(&was)
		return store.OrNone(err, glossary.Missing(g.Key), "delete glossary")
	})
	if err == nil {
		s.db.WakeSweeper()
	}
	return err
}

// change locks a glossary, so that changes of its entries follow one another, and returns how many it has and the version that they
// are written with.
func change(tx *store.Tx, g *glossary.Glossary) (has, version int64, err error) {
	err = tx.QueryRow(`UPDATE glossaries SET version = version + 1 WHERE no = $1 AND deleted = 0 RETURNING entries, version`, g.No).Scan(&has, &version)
	return has, version, store.OrNone(err, glossary.Missing(g.Key), "lock glossary")
}

// Put writes entries. See glossary.Store.
func (s *Store) Put(ctx context.Context, g glossary.Glossary, entries []glossary.Entry, at time.Time) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		has, version, err := change(tx, &g)
		if err != nil {
			return err
		}
		fresh := int64(0)
		for some := range slices.Chunk(entries, atOnce) {
			n, err := insert(tx, g.No, version, some)
			if err != nil {
				return err
			}
			fresh += n
		}
		if has+fresh > glossary.MaxEntries {
			return glossary.Full(has, fresh)
		}
		return store.Wrap(tx.Exec(`UPDATE glossaries SET `+later+`, entries = entries + $3 WHERE no = $1`, g.No, at.UnixMicro(), fresh), "write glossary")
	})
}

// insert writes entries with one statement, and returns how many of them are new. It reads nothing before: PostgreSQL may plan a search
// for many terms when the table has none, and keep the plan until it has many.
func insert(tx *store.Tx, no, version int64, entries []glossary.Entry) (fresh int64, err error) {
	var values strings.Builder
	args := []any{no, version}
	for i, e := range entries {
		if i > 0 {
			values.WriteByte(',')
		}
		args = append(args, e.Term, e.Expansion)
		fmt.Fprintf(&values, "($1,$%d,$%d,$2,$2)", len(args)-1, len(args))
	}
	err = store.Each(tx, "write entries of glossary", func(r store.Row) error {
		var made int64
		err := r.Scan(&made)
		if made == version {
			fresh++
		}
		return err
	}, `INSERT INTO glossary_entries (glossary_no, term, expansion, made, changed) VALUES `+values.String()+`
		ON CONFLICT (glossary_no, term) DO UPDATE SET expansion = excluded.expansion, changed = excluded.changed RETURNING made`, args...)
	return fresh, err
}

// errNothing ends a transaction that has nothing to change.
var errNothing = errors.New("nothing is to be removed")

// Remove removes entries. See glossary.Store.
func (s *Store) Remove(ctx context.Context, g glossary.Glossary, terms []string, at time.Time) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		_, version, err := change(tx, &g)
		if err != nil {
			return err
		}
		removed := 0
		for some := range slices.Chunk(terms, atOnce) {
			gone, err := store.Select(tx, "remove entries of glossary", store.One[int64], `DELETE FROM glossary_entries WHERE glossary_no = $1
				AND term IN (VALUES `+rows(len(some))+`) RETURNING 1`, store.Args([]any{g.No}, some)...) // joined, and not compared one by one
			if err != nil {
				return err
			}
			removed += len(gone)
		}
		if removed == 0 {
			return errNothing
		}
		return store.Wrap(tx.Exec(`UPDATE glossaries SET `+later+`, entries = entries - $3, floor = $4 WHERE no = $1`,
			g.No, at.UnixMicro(), removed, version), "write glossary")
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// rows returns "($2),($3),…" for n rows of a VALUES list.
func rows(n int) string { return "(" + strings.ReplaceAll(store.List(2, n), ",", "),(") + ")" }

func scanEntry(r store.Row) (e glossary.Entry, err error) { return e, r.Scan(&e.Term, &e.Expansion) }

// Entries returns entries behind a term. See glossary.Store.
func (s *Store) Entries(ctx context.Context, g glossary.Glossary, after string, limit int) ([]glossary.Entry, bool, error) {
	found, err := store.Select(s.db.Reader(ctx), "list entries of glossary", scanEntry,
		`SELECT term, expansion FROM glossary_entries WHERE glossary_no = $1 AND term > $2 ORDER BY term LIMIT $3`, g.No, after, limit+1)
	page, more := store.Cut(found, limit)
	return page, more, err
}

// Since returns what was written behind a version. See glossary.Store.
func (s *Store) Since(ctx context.Context, g glossary.Glossary, version int64) (c glossary.Changes, err error) {
	err = s.db.Read(ctx, func(q store.Querier) (err error) {
		var floor int64
		if err := q.QueryRow(`SELECT version, floor FROM glossaries WHERE no = $1 AND deleted = 0`, g.No).Scan(&c.Version, &floor); err != nil {
			return store.OrNone(err, glossary.Missing(g.Key), "read glossary")
		}
		if c.Whole = version < floor; c.Whole {
			version = 0
		}
		c.Entries, err = store.Select(q, "read entries of glossary", scanEntry,
			`SELECT term, expansion FROM glossary_entries WHERE glossary_no = $1 AND changed > $2`, g.No, version)
		return err
	})
	return c, err
}

// Sweeper removes the entries of glossaries that were deleted, and then these.
type Sweeper struct{}

// maxSwept is how many rows one step removes at most.
const maxSwept = 500

// Sweep implements store.Sweeper.
func (Sweeper) Sweep(tx *store.Tx) (more bool, err error) {
	for _, query := range []string{
		`DELETE FROM glossary_entries WHERE (glossary_no, term) IN (SELECT e.glossary_no, e.term FROM glossaries g
			JOIN glossary_entries e ON e.glossary_no = g.no WHERE g.deleted > 0 LIMIT $1) RETURNING 1`,
		`DELETE FROM glossaries WHERE no IN (SELECT g.no FROM glossaries g WHERE g.deleted > 0
			AND NOT EXISTS (SELECT 1 FROM glossary_entries e WHERE e.glossary_no = g.no) LIMIT $1) RETURNING 1`,
	} {
		found, err := store.Select(tx, "sweep glossaries", store.One[int64], query, maxSwept)
		if err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
