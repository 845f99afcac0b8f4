package corpora

import (
	"context"
	"math"

	"quarry/internal/corpus"
	"quarry/internal/store"
)

// List returns up to l.Limit corpora, newest first, and whether more follow.
func (s *Store) List(ctx context.Context, l corpus.List) (page []corpus.Corpus, more bool, err error) {
	if l.Limit <= 0 {
		return nil, false, nil
	}
	var match func(*corpus.Corpus) bool
	if l.Match != nil {
		match = func(c *corpus.Corpus) bool {
			return l.Match.MatchString(c.Name) || c.Description != nil && l.Match.MatchString(*c.Description)
		}
	}
	return store.Matching(l.Limit, match, func(last *corpus.Corpus, n int) ([]corpus.Corpus, error) {
		after := corpus.Position{Created: math.MaxInt64, No: math.MaxInt64}
		switch {
		case last != nil:
			after = corpus.Position{Created: last.Created.UnixMicro(), No: last.No}
		case l.After != nil:
			after = *l.After
		}
		args := []any{after.Created, after.No, n, l.Since}
		only := ""
		if len(l.IDs) > 0 {
			only = ` AND id IN (` + store.List(5, len(l.IDs)) + `)`
			args = store.Args(args, l.IDs)
		}
		return store.Select(s.db.Reader(ctx), "list corpora", scan, `SELECT `+columns+` FROM corpora
			WHERE (created, no) < ($1, $2) AND seq >= $4`+only+` ORDER BY created DESC, no DESC LIMIT $3`, args...)
	})
}
