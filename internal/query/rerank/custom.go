package rerank

import (
	"context"

	"quarry/internal/expr/userfn"
)

// custom scores by a user function.
type custom struct{ program *userfn.Program }

// cancelCheckInterval is the number of results scored between two checks for cancellation.
const cancelCheckInterval = 256

func (s custom) start() scoring { return &evaluation{program: s.program} }

// evaluation is a user function at work on the results of one query.
type evaluation struct {
	program *userfn.Program
	batch   *userfn.Batch // nil before the first band
}

func (e *evaluation) score(ctx context.Context, in input) ([]score, error) {
	scores, indexes := make([]float64, len(in.items)), make([]int, len(in.items))
	for i, x := range in.items {
		scores[i], indexes[i] = x.Score, x.Index
	}
	passages := make([]Passage, len(in.items))
	if e.program.ReadsPassage() {
		var err error
		if passages, err = in.candidates.Passages(ctx, indexes); err != nil {
			return nil, err
		}
	}
	if e.batch == nil {
		e.batch = userfn.NewBatch(in.now, nil)
	}
	first, out := e.batch.Add(scores), make([]score, len(in.items))
	for i, p := range passages {
		if err := ctx.Err(); i%cancelCheckInterval == 0 && err != nil {
			return nil, err
		}
		value, ok := e.program.Score(e.batch, userfn.Result{
			Index: first + i, Text: p.Text, DocumentID: p.DocumentID, DocumentMetadata: p.DocumentMetadata, PartMetadata: p.PartMetadata,
		})
		out[i] = score{value: value, null: !ok}
	}
	return out, nil
}
