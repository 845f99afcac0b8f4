package replica

import (
	"context"
	"fmt"

	"quarry/internal/corpus"
	"quarry/internal/document"
	"quarry/internal/fault"
	"quarry/internal/index"
)

// batch bounds how many changes or documents are held in memory at a time.
const batch = 64

// advance opens the index of r if need be and applies the changes up to c.Seq, in order.
func (s *Set) advance(ctx context.Context, r *replica, c corpus.Corpus) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		x, err := s.openIndex(c)
		if err != nil {
			return err
		}
		r.index = x
	}
	if r.index.Applied() > c.Seq && r.index.Applied() > s.committed(ctx, c) {
		// An index ahead of the rows is not of these rows: a restored backup, say.
		s.cfg.Log.Warn("index is ahead of the database; rebuilding it", "corpus", c.Key, "index", r.index.Applied(), "database", c.Seq)
		return s.rebuild(ctx, r.index, c)
	}
	for r.index.Applied() < c.Seq {
		if err := s.step(ctx, r.index, c); err != nil {
			return fmt.Errorf("bring index of %s to change %d: %w", c.Key, c.Seq, err)
		}
	}
	return nil
}

// committed reads the sequence number again: c may be older than what the index has applied since.
func (s *Set) committed(ctx context.Context, c corpus.Corpus) int64 {
	now, err := s.cfg.Corpora.Get(ctx, c.Key)
	if err != nil || now[0].No != c.No {
		return c.Seq
	}
	return now[0].Seq
}

func (s *Set) openIndex(c corpus.Corpus) (*index.Index, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	encoder, err := s.cfg.Encoders.Get(c.EncoderName)
	if err != nil {
		return nil, fmt.Errorf("encoder of %s: %w", c.Key, err)
	}
	dir := ""
	if s.cfg.Dir != "" {
		dir = s.dir(c)
	}
	return index.Open(index.Config{
		Dir: dir, Epoch: c.Epoch, Encoder: c.EncoderFingerprint, Schema: schema,
		Dim: encoder.Dim(), Dimensions: len(c.Dimensions),
		Notify: func(event string, err error) { s.cfg.Log.Warn(event, "corpus", c.Key, "error", err) },
	})
}

// step applies the next batch of changes, or rebuilds when the changes needed are no longer kept or so many that
// reading the documents is cheaper.
func (s *Set) step(ctx context.Context, x *index.Index, c corpus.Corpus) error {
	if x.Applied() == 0 && c.Seq > batch {
		return s.rebuild(ctx, x, c)
	}
	changes, missing, err := s.cfg.Documents.Changes(ctx, c.No, x.Applied(), c.Seq, batch)
	if err != nil {
		return err
	}
	if missing {
		return s.rebuild(ctx, x, c)
	}
	if len(changes) == 0 {
		return fault.Conflict("corpus_changed", "corpus %s was deleted or reset while it was being read; try again", c.Key)
	}
	var nos []int64
	for _, ch := range changes {
		if ch.Op == document.OpPut || ch.Op == document.OpUpdate {
			nos = append(nos, ch.No)
		}
	}
	docs, err := s.project(ctx, c, nos)
	if err != nil {
		return err
	}
	out := make([]index.Change, len(changes))
	for i, ch := range changes {
		out[i] = index.Change{Seq: ch.Seq, Op: index.Delete, No: ch.No}
		switch {
		case ch.Op == document.OpReset:
			out[i].Op = index.Reset
		case docs[ch.No] != nil: // absent: a later change removed it, so there is nothing to show
			out[i].Op, out[i].Doc = index.Put, docs[ch.No]
		}
	}
	return x.Apply(out)
}

func (s *Set) project(ctx context.Context, c corpus.Corpus, nos []int64) (map[int64]*index.Document, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	docs, err := s.cfg.Documents.Load(ctx, c.No, nos)
	if err != nil {
		return nil, err
	}
	all, err := projectAll(c, docs)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]*index.Document, len(all))
	for i := range all {
		out[all[i].No] = &all[i]
	}
	return out, nil
}

// repair rebuilds an index whose files turned out damaged while they were searched.
func (s *Set) repair(ctx context.Context, r *replica, c corpus.Corpus, cause error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.cfg.Log.Warn("index is damaged; rebuilding it from the database", "corpus", c.Key, "error", cause)
	if err := s.rebuild(ctx, r.index, c); err != nil {
		return fmt.Errorf("rebuild index of %s: %w", c.Key, err)
	}
	for r.index.Applied() < c.Seq {
		if err := s.step(ctx, r.index, c); err != nil {
			return err
		}
	}
	return nil
}

// rebuild reads every document. The first page fixes the sequence number; what changed while reading is applied
// again afterwards, which is harmless: a put replaces the same row number and a delete of nothing is nothing.
func (s *Set) rebuild(ctx context.Context, x *index.Index, c corpus.Corpus) error {
	docs, seq, epoch, err := s.cfg.Documents.Scan(ctx, c.No, 0, batch)
	if err != nil {
		return err
	}
	if epoch != c.Epoch {
		return fault.Conflict("corpus_changed", "corpus %s was reset while it was being read; try again", c.Key)
	}
	first := true
	return x.Replace(seq, func() ([]index.Document, error) {
		if !first && len(docs) > 0 {
			docs, _, epoch, err = s.cfg.Documents.Scan(ctx, c.No, docs[len(docs)-1].No, batch)
			if err != nil {
				return nil, err
			}
			if epoch != c.Epoch {
				return nil, fault.Conflict("corpus_changed", "corpus %s was reset while it was being read; try again", c.Key)
			}
		}
		first = false
		return projectAll(c, docs)
	})
}
