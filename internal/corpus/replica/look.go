package replica

import (
	"context"

	"quarry/internal/corpus"
	"quarry/internal/index"
	"quarry/internal/index/recall"
)

// State is what is being done to an index beside searches and changes.
type State string

// The states.
const (
	Resting    State = "resting"
	Merging    State = "merging"    // segments become larger ones
	Rebuilding State = "rebuilding" // it is made anew from the rows, or is to be
)

// Look is an index as it stands on this node.
type Look struct {
	index.Stats
	Sequence int64 // last change of the corpus
	State    State
	Recall   []recall.Recall // since the index was opened
}

// Look describes the index of c. It opens it and does not bring it up to date, so that it answers while that takes long. Of a
// target that is elsewhere it knows how far that has come alone.
func (s *Set) Look(ctx context.Context, c corpus.Corpus) (out Look, err error) {
	r, c, err := s.hold(ctx, c)
	if err != nil {
		return out, err
	}
	defer s.release(r)
	if _, err := s.ready(ctx, r, c); err != nil {
		return out, err
	}
	s.renewLater(r, c)
	for from := r.opened.Load(); ; from = r.opened.Load() {
		if out, err = look(ctx, *from); err != nil {
			return out, err
		}
		if r.opened.Load() == from { // else it may have been closed before
			break
		}
	}
	out.Sequence, out.State = max(c.Seq, out.Applied), Resting // changes may have come since c was read
	if out.Merging {
		out.State = Merging
	}
	if r.filling.Load() || r.build.Load() < c.IndexBuild {
		out.State = Rebuilding
	}
	return out, nil
}

func look(ctx context.Context, t Target) (out Look, err error) {
	if x, ok := t.(local); ok {
		return Look{Stats: x.Stats(), Recall: x.Recall()}, nil
	}
	state, err := t.Applied(ctx)
	out.Applied = state.Applied
	return out, err
}
