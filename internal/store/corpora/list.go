package corpora

import (
	"context"
	"math"
	"regexp"

	"quarry/internal/corpus"
	"quarry/internal/store"
)

// matchBatch is how many corpora are read at a time when a pattern chooses among them.
const matchBatch = 500

// List returns up to l.Limit corpora, newest first, and whether more follow.
func (s *Store) List(ctx context.Context, l corpus.List) (page []corpus.Corpus, more bool, err error) {
	if l.Limit <= 0 {
		return nil, false, nil
	}
	batch := l.Limit + 1
	if l.Match != nil {
		batch = max(batch, matchBatch)
	}
	after := corpus.Position{Created: math.MaxInt64, No: math.MaxInt64}
	if l.After != nil {
		after = *l.After
	}
	for {
		found, err := s.batch(ctx, l, after, batch)
		if err != nil {
			return nil, false, err
		}
		for _, c := range found {
			if !matches(l.Match, c) {
				continue
			}
			if len(page) == l.Limit {
				return page, true, nil
			}
			page = append(page, c)
		}
		if len(found) < batch {
			return page, false, nil
		}
		last := found[len(found)-1]
		after = corpus.Position{Created: last.Created.UnixMicro(), No: last.No}
	}
}

func (s *Store) batch(ctx context.Context, l corpus.List, after corpus.Position, limit int) ([]corpus.Corpus, error) {
	args := []any{after.Created, after.No, limit}
	only := ""
	if len(l.IDs) > 0 {
		only = ` AND id IN (` + store.List(4, len(l.IDs)) + `)`
		for _, id := range l.IDs {
			args = append(args, id)
		}
	}
	return store.Select(s.db.Reader(ctx), "list corpora", scan,
		`SELECT `+columns+` FROM corpora WHERE (created, no) < ($1, $2)`+only+`
		ORDER BY created DESC, no DESC LIMIT $3`, args...)
}

func matches(p *regexp.Regexp, c corpus.Corpus) bool {
	return p == nil || p.MatchString(c.Name) || c.Description != nil && p.MatchString(*c.Description)
}
