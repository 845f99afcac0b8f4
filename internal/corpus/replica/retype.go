package replica

import (
	"context"
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/search"
)

// Retype replaces the attributes of a corpus by those of next. It builds their columns beside those in use, while the
// corpus can be searched and changed as before. Then it runs commit, which writes the attributes and returns the changed
// corpus, and switches to the new columns. Searches planned before commit use the old attributes until then and fail with
// search.ErrSchema afterwards. If commit fails, nothing has changed. commit must not call the set, as searches that know
// of the new attributes wait for it.
func (s *Set) Retype(ctx context.Context, next corpus.Corpus, commit func() (corpus.Corpus, error)) error {
	now, err := s.reread(ctx, next)
	if err != nil {
		return err
	}
	r, now, err := s.hold(ctx, now) // the replica may be of a generation before a reset
	if err != nil {
		return err
	}
	defer s.release(r)
	if _, err = s.advance(ctx, r, now); err != nil {
		return err
	}
	from := r.opened.Load()
	t, err := s.begin(ctx, r, next)
	if err != nil {
		return err
	}
	defer t.to.Discard()
	if err := t.to.Prepare(ctx); err != nil {
		return fmt.Errorf("retype index of %s: %w", next.Key, err)
	}
	// Apply what was written meanwhile, first while writes continue, then with writes locked out.
	if now, err = s.reread(ctx, next); err != nil {
		return err
	}
	if err := t.follow(ctx, now.Seq); err != nil {
		return err
	}
	if err := r.turn.take(ctx); err != nil {
		return err
	}
	defer r.turn.give()
	if now, err = s.reread(ctx, next); err != nil {
		return err
	}
	if now, err = s.advanceLocked(ctx, r, now); err != nil {
		return err
	}
	if r.opened.Load() != from {
		return fault.Conflict("corpus_changed", "the index of corpus %s was made anew meanwhile; try again", now.Key)
	}
	// The index may be further than that, at the next state that searches may see. Its documents need values, too.
	state, err := r.target().Applied(ctx)
	if err != nil {
		return err
	}
	if err := t.follow(ctx, state.Applied); err != nil {
		return err
	}
	if now, err = commit(); err != nil {
		return err
	}
	r.hide(t.last)
	if err := t.to.Swap(ctx, now.SchemaVersion); err != nil {
		// The attributes are written. The next search finds that the index has others and builds the columns.
		s.cfg.Log.Warn("columns of new attributes are not in use yet", "corpus", now.Key, "error", err)
	}
	return nil
}

// reread returns the present state of c, an error if it was deleted or reset.
func (s *Set) reread(ctx context.Context, c corpus.Corpus) (corpus.Corpus, error) {
	now, err := corpus.Find(ctx, s.cfg.Corpora, c.Key)
	if err != nil {
		return c, err
	}
	if now.No != c.No || now.Epoch != c.Epoch {
		return c, fault.Conflict("corpus_changed", "corpus %s was deleted or reset meanwhile", c.Key)
	}
	return now, nil
}

// catchUpSchema builds the columns of a target anew if the corpus has other attributes by now, which may be newer than those of c,
// or if its files were written by a version with other columns. Texts and vectors stay. The caller has the turn.
func (s *Set) catchUpSchema(ctx context.Context, r *replica, c corpus.Corpus, state search.State) (corpus.Corpus, error) {
	now, err := s.reread(ctx, c)
	if err != nil || now.SchemaVersion == state.Schema {
		return now, err
	}
	s.cfg.Log.Info("index files have other columns than the corpus needs; making their columns anew", "corpus", now.Key, "version", now.SchemaVersion)
	t, err := s.begin(ctx, r, now)
	if err != nil {
		return now, err
	}
	defer t.to.Discard()
	r.hide(t.last)
	if err := t.to.Swap(ctx, now.SchemaVersion); err != nil {
		return now, fmt.Errorf("retype index of %s: %w", now.Key, err)
	}
	return now, nil
}

// typing passes the values of the rows to new columns.
type typing struct {
	s    *Set
	c    corpus.Corpus // with the new attributes
	to   search.Retyping
	upto int64 // the values are at least of this change
	last int64 // a document without values was removed or replaced by this one
}

// begin passes on every document.
func (s *Set) begin(ctx context.Context, r *replica, c corpus.Corpus) (*typing, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	p, err := s.scan(ctx, c)
	if err != nil {
		return nil, err
	}
	to, err := r.target().Retype(ctx, schema)
	if err != nil {
		return nil, fmt.Errorf("retype index of %s: %w", c.Key, err)
	}
	t := &typing{s: s, c: c, to: to, upto: p.seq}
	for {
		docs, err := p.next(ctx)
		t.last = p.last
		if err == nil && len(docs) == 0 {
			return t, nil
		}
		if err == nil {
			err = t.add(ctx, docs)
		}
		if err != nil {
			to.Discard()
			return nil, err
		}
	}
}

func (t *typing) add(ctx context.Context, docs []document.Document) error {
	all, err := project(t.c, docs, valuesAlone)
	if err != nil {
		return err
	}
	return t.to.Add(ctx, all)
}

// follow passes on the changes up to seq.
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
			if len(docs) < len(nos) {
				t.last = t.s.latest(ctx, t.c).Seq // the others have no values; by then they are gone
			}
			if err := t.add(ctx, docs); err != nil {
				return err
			}
		}
		t.upto = changes[len(changes)-1].Seq
	}
	return nil
}
