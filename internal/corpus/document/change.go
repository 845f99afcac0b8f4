package document

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
)

// tryAgain is after how long a client may repeat a request that was refused because of others under way.
const tryAgain = time.Second

// gate bounds how many operations may be under way at once for each name.
type gate struct {
	most int

	mu    sync.Mutex
	under map[string]int // guarded by mu; without those that are 0
}

// enter reports whether one more may begin; leave must follow when it may.
func (g *gate) enter(what string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.under[what] >= g.most {
		return false
	}
	if g.under == nil {
		g.under = map[string]int{}
	}
	g.under[what]++
	return true
}

func (g *gate) leave(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.under[what]--; g.under[what] == 0 {
		delete(g.under, what)
	}
}

// Delete removes a document. When it returns nil, no read, list or query shows the document again. The other outcomes
// (contract: Document delete outcomes): fault.KindNotFound; fault.KindConflict when the document was changed or the
// corpus reset meanwhile; fault.KindLimited when too many deletions are under way in the corpus; fault.KindUnavailable;
// fault.KindTimeout when the deadline of ctx passed before the removal was certain.
func (s *Service) Delete(ctx context.Context, corpusKey, id string) error {
	c, err := s.corpusOf(ctx, corpusKey, id)
	if err != nil {
		return err
	}
	lane := strconv.FormatInt(c.No, 10)
	if !s.deletes.enter(lane) {
		return fault.Limited("too_many_deletes", "%d documents of corpus %s are being deleted at this moment, which is the most at once; try again",
			s.deletes.most, c.Key).After(tryAgain)
	}
	defer s.deletes.leave(lane)
	err = s.remove(ctx, c.No, c.Epoch, id, func(seq int64) {
		c.Seq = seq
		_ = s.indexer.CatchUp(ctx, c) // the document is deleted; Indexer explains why no query shows it
	})
	if errors.Is(err, context.DeadlineExceeded) || err == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Timeout("the removal of document %s was not confirmed in time and may still complete; read the document first and delete it again only if it is still there", id).Because(err)
	}
	return err
}

// remove deletes the document in its present state and passes the number of the change to removed.
func (s *Service) remove(ctx context.Context, corpusNo, epoch int64, id string, removed func(seq int64)) error {
	seen, err := s.store.Get(ctx, corpusNo, id, false)
	if err != nil {
		return err
	}
	seq, err := s.store.Delete(ctx, corpusNo, epoch, seen)
	if err == nil {
		removed(seq)
	}
	return err
}

// Amend changes the metadata of a document, as metadata.NewAmendment describes, and returns the document without parts.
// When it returns, filters see the change. fault.KindInvalid for metadata that does not fit; fault.KindLimited when the same
// document is being changed at this moment.
func (s *Service) Amend(ctx context.Context, corpusKey, id string, given json.RawMessage, merge bool) (*Document, error) {
	c, err := s.corpusOf(ctx, corpusKey, id)
	if err != nil {
		return nil, err
	}
	lane := strconv.FormatInt(c.No, 10) + "/" + id
	if !s.updates.enter(lane) {
		return nil, fault.Limited("document_busy", "the metadata of document %s is being changed by another request at this moment; try again", id).After(tryAgain)
	}
	defer s.updates.leave(lane)
	// A missing document is reported before faults of the body.
	if _, err := s.store.Get(ctx, c.No, id, false); err != nil {
		return nil, err
	}
	a, err := metadata.NewAmendment(c, given, merge)
	if err != nil {
		return nil, err
	}
	edits := []Edit{{ID: id, Amendment: a}}
	seq, err := s.store.Amend(ctx, c.No, c.Epoch, edits)
	switch {
	case err != nil:
		return nil, err
	case edits[0].Outcome == Missing:
		return nil, notFound(c, id)
	case edits[0].Outcome == Refused:
		return nil, edits[0].Err
	}
	c.Seq = seq
	_ = s.indexer.CatchUp(ctx, c) // every query brings the index up to the change first
	return s.store.Get(ctx, c.No, id, false)
}
