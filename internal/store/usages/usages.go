// Package usages keeps counts of tokens in SQL: the usage.Store of the service. Package app creates it.
package usages

import (
	"context"
	"fmt"
	"time"

	"quarry/internal/store"
	"quarry/internal/usage"
)

// Store is the usage.Store over a database.
type Store struct{ db *store.DB }

var _ usage.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// Add adds to the stored sums, all in one transaction.
func (s *Store) Add(ctx context.Context, sums []usage.Sum) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		for _, u := range sums {
			if err := tx.Exec(`
				INSERT INTO token_usage (scope, span, began, input, output) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (scope, span, began) DO UPDATE SET input = token_usage.input + $4, output = token_usage.output + $5`,
				u.Scope, int(u.Span), u.Begin.UnixMicro(), u.Input, u.Output); err != nil {
				return fmt.Errorf("count tokens: %w", err)
			}
		}
		return nil
	})
}

// Sums returns the sums of a scope in the windows that contain a moment.
func (s *Store) Sums(ctx context.Context, scope string, at time.Time) ([]usage.Sum, error) {
	args := []any{scope}
	for _, span := range usage.Spans {
		begin, _ := span.Window(at)
		args = append(args, int(span), begin.UnixMicro())
	}
	scan := func(r store.Row) (u usage.Sum, err error) {
		u.Scope = scope
		return u, r.Scan(&u.Span, store.Micros(&u.Begin), &u.Input, &u.Output)
	}
	return store.Select(s.db.Reader(ctx), "read counts of tokens", scan, `
		SELECT span, began, input, output FROM token_usage WHERE scope = $1 AND
			((span = $2 AND began = $3) OR (span = $4 AND began = $5) OR (span = $6 AND began = $7))`, args...)
}

// Forget removes the sums of windows of a span that began before a moment.
func (s *Store) Forget(ctx context.Context, span usage.Span, before time.Time) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		return tx.Exec(`DELETE FROM token_usage WHERE span = $1 AND began < $2`, int(span), before.UnixMicro())
	})
}
