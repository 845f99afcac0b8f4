package rerank

import (
	"context"

	"quarry/internal/expr/userfn"
)

// custom scores by a user function.
type custom struct{ program *userfn.Program }

// cancelCheckInterval is the number of results scored between two checks for cancellation.
const cancelCheckInterval = 256

func (s custom) score(ctx context.Context, in input) ([]score, error) {
	scores, indexes := make([]float64, len(in.items)), make([]int, len(in.items))
	for i, x := range in.items {
		scores[i], indexes[i] = x.Score, x.Index
	}
	passages := make([]Passage, len(in.items))
	if s.program.ReadsPassage() {
		var err error
		if passages, err = in.candidates.Passages(ctx, indexes); err != nil {
			return nil, err
		}
	}
	batch, out := userfn.NewBatch(in.now, scores), make([]score, len(in.items))
	for i, p := range passages {
		if err := ctx.Err(); i%cancelCheckInterval == 0 && err != nil {
			return nil, err
		}
		value, ok := s.program.Score(batch, userfn.Result{
			Index: i, Text: p.Text, DocumentID: p.DocumentID, DocumentMetadata: p.DocumentMetadata, PartMetadata: p.PartMetadata,
		})
		out[i] = score{value: value, null: !ok}
	}
	return out, nil
}
