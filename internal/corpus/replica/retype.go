package replica

import (
	"context"
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/index"
)

// Retype gives a corpus the attributes of next. It makes their columns beside those in use, while the corpus is
// searched and changed as before; then it runs commit, which writes the attributes and gives the corpus as it is from
// there on, and shows the new columns at once. Searches planned before commit find the old attributes until then and
// search.ErrSchema afterwards. When commit fails nothing has changed. Commit must not call the set: searches that know
// of the new attributes wait for it.
func (s *Set) Retype(ctx context.Context, next corpus.Corpus, commit func() (corpus.Corpus, error)) error {
	now, err := s.still(ctx, next)
	if err != nil {
		return err
	}
	r, now, err := s.hold(ctx, now) // the replica may be of a life before a reset
	if err != nil {
		return err
	}
	defer s.release(r)
	if _, err = s.advance(ctx, r, now); err != nil {
		return err
	}
	x := r.index.Load()
	t, err := s.begin(ctx, x, next)
	if err != nil {
		return err
	}
	if err := t.to.Prepare(); err != nil {
		return fmt.Errorf("retype index of %s: %w", next.Key, err)
	}
	// What was written meanwhile, first beside further writes, then with the door closed.
	if now, err = s.still(ctx, next); err != nil {
		return err
	}
	if err := t.follow(ctx, now.Seq); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now, err = s.still(ctx, next); err != nil {
		return err
	}
	if now, err = s.advanceLocked(ctx, r, now); err != nil {
		return err
	}
	if err := t.follow(ctx, now.Seq); err != nil {
		return err
	}
	if now, err = commit(); err != nil {
		return err
	}
	if err := t.to.Swap(now.SchemaVersion); err != nil {
		// The attributes are written; whoever comes next finds that the index has others and makes its columns.
		s.cfg.Log.Warn("columns of new attributes are not in use yet", "corpus", now.Key, "error", err)
	}
	return nil
}

// still reads c again and refuses it when it was deleted or reset.
func (s *Set) still(ctx context.Context, c corpus.Corpus) (corpus.Corpus, error) {
	now, err := s.cfg.Corpora.Get(ctx, c.Key)
	if err != nil {
		return c, err
	}
	if now[0].No != c.No || now[0].Epoch != c.Epoch {
		return c, fault.Conflict("corpus_changed", "corpus %s was deleted or reset meanwhile", c.Key)
	}
	return now[0], nil
}

// retyped gives x the columns of the attributes that the corpus has by now, if it has others: those of c may be older.
// Texts and vectors stay. The caller holds the replica's mu.
func (s *Set) retyped(ctx context.Context, x *index.Index, c corpus.Corpus) (corpus.Corpus, error) {
	now, err := s.still(ctx, c)
	if err != nil || now.SchemaVersion == x.SchemaVersion() {
		return now, err
	}
	s.cfg.Log.Info("index has other filter attributes than its corpus; making their columns", "corpus", now.Key, "version", now.SchemaVersion)
	t, err := s.begin(ctx, x, now)
	if err != nil {
		return now, err
	}
	if err := t.to.Swap(now.SchemaVersion); err != nil {
		return now, fmt.Errorf("retype index of %s: %w", now.Key, err)
	}
	return now, nil
}

// typing feeds the values of the rows to new columns.
type typing struct {
	s    *Set
	c    corpus.Corpus // with the new attributes
	to   *index.Retyping
	upto int64 // change that the values fed are of, at least
}

// begin feeds every document.
func (s *Set) begin(ctx context.Context, x *index.Index, c corpus.Corpus) (*typing, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	p, err := s.scan(ctx, c)
	if err != nil {
		return nil, err
	}
	t := &typing{s: s, c: c, to: x.Retype(schema), upto: p.seq}
	for {
		docs, err := p.next(ctx)
		if err != nil || len(docs) == 0 {
			return t, err
		}
		if err := t.add(docs); err != nil {
			return nil, err
		}
	}
}

func (t *typing) add(docs []document.Document) error {
	all, err := values(t.c, docs)
	if err != nil {
		return err
	}
	return t.to.Add(all)
}

// follow feeds what changed up to seq.
func (t *typing) follow(ctx context.Context, seq int64) error {
	for t.upto < seq {
		changes, missing, err := t.s.cfg.Documents.Changes(ctx, t.c.No, t.upto, seq, changesBatch)
		if err != nil {
			return err
		}
		if missing || len(changes) == 0 {
			return fault.Conflict("corpus_changed", "corpus %s changed too much meanwhile; try again", t.c.Key)
		}
		changes, puts, updates := split(changes)
		for nos := range slices.Chunk(append(puts, updates...), batch) {
			docs, err := t.s.cfg.Documents.Load(ctx, t.c.No, nos)
			if err != nil {
				return err
			}
			if err := t.add(docs); err != nil {
				return err
			}
		}
		t.upto = changes[len(changes)-1].Seq
	}
	return nil
}
