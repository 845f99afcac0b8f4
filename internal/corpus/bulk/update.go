package bulk

import (
	"bytes"
	"context"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/job"
)

// update is the handler of job.BulkUpdateDocumentMetadata.
func (s *Service) update(ctx context.Context, w *job.Work) (string, error) {
	return s.run(ctx, w, "updated", func(r *run) (work, error) {
		a, err := metadata.NewAmendment(r.c, r.in.Metadata, r.in.Merge)
		return amendment{a}, err
	})
}

// amendment changes metadata.
type amendment struct{ to metadata.Amendment }

// changes reports whether the amendment would change a document, or why it can't be applied.
func (a amendment) changes(d *document.Document) (bool, error) {
	next, err := a.to.Apply(d.Metadata)
	return err == nil && !bytes.Equal(next, d.Metadata), err
}

func (a amendment) choose(d *document.Document, n *Counts) bool {
	changes, err := a.changes(d)
	switch {
	case err != nil:
		n.Failed++
	case !changes:
		n.Skipped++
	}
	return changes
}

func (a amendment) apply(ctx context.Context, r *run, docs []document.Document, n *Counts) (int64, error) {
	edits := make([]document.Edit, len(docs))
	for i := range docs {
		edits[i] = document.Edit{No: docs[i].No, Amendment: a.to, Cutoff: r.in.cutoff()}
	}
	seq, err := r.cfg.Store.Amend(ctx, r.c.No, r.c.Epoch, edits)
	if err != nil {
		return 0, err
	}
	for i := range edits {
		switch edits[i].Outcome {
		case document.Updated:
			n.Done++
		case document.Unchanged, document.Newer:
			n.Skipped++
		default:
			n.Failed++
		}
	}
	return seq, nil
}

// resume counts documents that have the new metadata as changed by the interrupted step: they did not when chosen.
func (a amendment) resume(nos []int64, there []document.Document, n *Counts) (left []document.Document) {
	n.Failed += int64(len(nos) - len(there))
	for i := range there {
		if changes, err := a.changes(&there[i]); err == nil && !changes {
			n.Done++
			continue
		}
		left = append(left, there[i])
	}
	return left
}
