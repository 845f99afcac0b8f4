package bulk

import (
	"context"

	"quarry/internal/corpus/document"
	"quarry/internal/job"
)

// delete is the handler of job.BulkDeleteDocuments.
func (s *Service) delete(ctx context.Context, w *job.Work) (string, error) {
	return s.run(ctx, w, "deleted", func(*run) (work, error) { return deletion{}, nil })
}

// deletion removes documents.
type deletion struct{}

func (deletion) choose(*document.Document, *Counts) bool { return true }

func (deletion) apply(ctx context.Context, r *run, docs []document.Document, n *Counts) (int64, error) {
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	seq, deleted, err := r.cfg.Store.DeleteMany(ctx, r.c.No, r.c.Epoch, ids, r.in.cutoff())
	if err != nil {
		return 0, err
	}
	n.Done += int64(deleted)
	if left := int64(len(docs) - deleted); r.in.filtered() {
		n.Skipped += left // changed or deleted by others since they were chosen
	} else {
		n.Failed += left
	}
	return seq, nil
}

// resume counts missing documents as deleted by the interrupted step.
func (deletion) resume(nos []int64, there []document.Document, n *Counts) []document.Document {
	n.Done += int64(len(nos) - len(there))
	return there
}
