package document

import (
	"context"
	"fmt"

	"quarry/internal/corpus"
)

// Selection selects documents for a bulk operation, step by step.
type Selection struct {
	Filter string // over document metadata, "" = all
	After  string // last id of the step before, "" for the first
	Limit  int    // how many documents one step reads
}

// CheckSelection returns the fault of a filter over the documents of c: fault.KindInvalid under metadata_filter.
func CheckSelection(c corpus.Corpus, filter string) error {
	_, err := compile(&c, filter)
	return err
}

// Select takes one step through the documents of c, ascending by the bytes of their ids: it reads at most q.Limit of
// them and returns those that q selects, without parts. after is for the next step, "" when this was the last.
// It reads rows, so it sees every committed write.
func (s *Service) Select(ctx context.Context, c corpus.Corpus, q Selection) (found []Document, after string, err error) {
	want, err := compile(&c, q.Filter)
	if err != nil {
		return nil, "", err
	}
	docs, err := s.store.List(ctx, c.No, List{Limit: q.Limit, After: q.After})
	if err != nil {
		return nil, "", fmt.Errorf("list documents of %s: %w", c.Key, err)
	}
	for i := range docs {
		ok, err := want.match(&docs[i])
		if err != nil {
			return nil, "", err
		}
		if ok {
			found = append(found, docs[i])
		}
	}
	if len(docs) == q.Limit {
		after = docs[len(docs)-1].ID
	}
	return found, after, nil
}
