package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
)

// Batch is documents for one corpus.
type Batch struct {
	Size int
	// Draft returns document i. It is called once for each, for several at once, and its error is what came of that document.
	Draft   func(ctx context.Context, i int) (document.Draft, error)
	Replace bool // a document that has the id of one is replaced by it, even by an equal one
}

// Outcome is what came of a document of a batch.
type Outcome uint8

// The outcomes.
const (
	Refused   Outcome = iota // nothing was changed; Result.Err is the reason
	Indexed                  // no document had the id
	Replaced                 // it stands in the place of the one that had the id
	Unchanged                // it stood there already, in every particular
)

// Result is what came of one document.
type Result struct {
	*document.Document // as it is stored, without vectors; nil if it was refused
	Outcome            Outcome
	Err                error
}

// atOnce is how many documents of a batch are on their way at a time: enough for commits to be shared and for every core to
// encode, few enough to be held in memory.
const atOnce = 16

// CreateAll adds the documents of a batch, each for itself: one that is refused doesn't keep out the others. The results
// are in the order of the batch. It returns when searches show all of them, which it waits for once. A corpus that is
// not there or disabled refuses the whole.
func (s *Service) CreateAll(ctx context.Context, corpusKey string, b Batch) ([]Result, error) {
	c, err := s.open(ctx, corpusKey)
	if err != nil {
		return nil, err
	}
	out := make([]Result, b.Size)
	seqs := make([]int64, b.Size)
	places := make(chan int)
	var all sync.WaitGroup
	for range min(atOnce, b.Size) {
		all.Go(func() {
			for i := range places {
				out[i], seqs[i] = s.createOne(ctx, c, &b, i)
			}
		})
	}
	for i := range b.Size {
		places <- i
	}
	close(places)
	all.Wait()
	for _, seq := range seqs {
		c.Seq = max(c.Seq, seq)
	}
	_ = s.cfg.Index.CatchUp(ctx, c) // logged there; see commit
	return out, nil
}

// createOne adds document i of a batch and returns the number of the change, 0 for none.
func (s *Service) createOne(ctx context.Context, c corpus.Corpus, b *Batch, i int) (r Result, seq int64) {
	defer func() {
		if p := recover(); p != nil { // nobody above this goroutine would catch it
			r, seq = Result{Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}, 0
		}
	}()
	if err := ctx.Err(); err != nil {
		return Result{Err: err}, 0
	}
	d, err := b.Draft(ctx, i)
	if err != nil {
		return Result{Err: err}, 0
	}
	doc, err := d.Build(c)
	if err != nil {
		return Result{Err: err}, 0
	}
	added, err := s.commit(ctx, c, doc, Options{Wait: Durable, Replace: b.Replace, Anew: true})
	var taken *document.Exists
	switch {
	case errors.As(err, &taken):
		return s.taken(ctx, c, doc, taken), 0
	case err != nil:
		return Result{Err: err}, 0
	case added.Created.Before(added.Updated):
		return Result{Document: added.Document, Outcome: Replaced}, added.seq
	}
	return Result{Document: added.Document, Outcome: Indexed}, added.seq
}

// taken returns what came of a document whose id another one has: nothing, or it stands there already.
func (s *Service) taken(ctx context.Context, c corpus.Corpus, doc *document.Document, by *document.Exists) Result {
	stored, err := s.cfg.Documents.Get(ctx, c.No, doc.ID, false)
	switch {
	case err != nil && !fault.Is(err, fault.KindNotFound):
		return Result{Err: err}
	case err == nil && stored.Digest == doc.Digest && bytes.Equal(stored.Metadata, doc.Metadata):
		return Result{Document: stored, Outcome: Unchanged}
	}
	return Result{Err: conflict(by, "")}
}
