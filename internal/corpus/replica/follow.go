package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/search"
)

const (
	// batch bounds how many documents with their parts are held in memory at a time.
	batch = 64
	// changesBatch bounds how many changes are read at a time.
	changesBatch = 512
)

// current reports whether the target of r already shows c, so that there is no need to wait for later changes.
func (s *Set) current(ctx context.Context, r *replica, c corpus.Corpus) (bool, error) {
	t := r.target()
	if t == nil {
		return false, nil
	}
	state, err := t.Applied(ctx)
	if err != nil || state.Schema != c.SchemaVersion || state.Partial || state.Applied < r.whole.Load() {
		return false, err
	}
	return state.Applied == c.Seq || state.Applied > c.Seq && state.Applied <= s.latest(ctx, c).Seq, nil
}

// advance opens the target of r if need be and applies the changes up to c.Seq, in order. It returns c, or the
// corpus as read again if its attributes have been replaced.
func (s *Set) advance(ctx context.Context, r *replica, c corpus.Corpus) (corpus.Corpus, error) {
	if err := r.turn.take(ctx); err != nil {
		return c, err
	}
	defer r.turn.give()
	return s.advanceLocked(ctx, r, c)
}

// advanceLocked is advance for a caller that has the turn.
func (s *Set) advanceLocked(ctx context.Context, r *replica, c corpus.Corpus) (corpus.Corpus, error) {
	t, err := s.ready(ctx, r, c)
	if err != nil {
		return c, err
	}
	state, err := t.Applied(ctx)
	if err != nil {
		return c, fmt.Errorf("ask the index of %s how far it is: %w", c.Key, err)
	}
	if state.Schema != c.SchemaVersion {
		if c, err = s.catchUpSchema(ctx, r, c, state); err != nil {
			return c, err
		}
	}
	if state.Partial {
		err := s.restoreLost(ctx, r, c)
		if errors.Is(err, search.ErrCorrupt) {
			err = s.rebuild(ctx, r, c)
		}
		if err != nil {
			return c, fmt.Errorf("restore index of %s: %w", c.Key, err)
		}
	}
	ahead, err := s.ahead(ctx, state, c)
	if err != nil {
		return c, err
	}
	if ahead {
		s.cfg.Log.Warn("index is ahead of the database; rebuilding it", "corpus", c.Key, "index", state.Applied, "database", c.Seq)
		r.whole.Store(0)
		if err := s.rebuild(ctx, r, c); err != nil {
			return c, err
		}
	}
	return c, s.follow(ctx, r, c)
}

// follow applies the changes up to c.Seq, and on to a state that searches may see. The caller has the turn.
func (s *Set) follow(ctx context.Context, r *replica, c corpus.Corpus) error {
	for {
		state, err := r.target().Applied(ctx)
		if err != nil {
			return err
		}
		upto := max(c.Seq, r.whole.Load())
		if state.Applied >= upto {
			return nil
		}
		c.Seq = upto
		if err := s.step(ctx, r, c, state.Applied); err != nil {
			return fmt.Errorf("bring index of %s to change %d: %w", c.Key, c.Seq, err)
		}
	}
}

// ahead reports whether a target knows changes that the database does not: its rows are others, as after a restored backup.
func (s *Set) ahead(ctx context.Context, state search.State, c corpus.Corpus) (bool, error) {
	if state.Applied <= c.Seq {
		return false, nil
	}
	now, err := corpus.Find(ctx, s.cfg.Corpora, c.Key)
	if err != nil {
		return false, err
	}
	if now.No != c.No {
		return false, fault.NotFound("corpus_not_found", c.Key, "corpus %s was deleted meanwhile", c.Key)
	}
	return state.Applied > now.Seq, nil
}

// latest reads c again, as c may be older than the changes that the target has applied.
func (s *Set) latest(ctx context.Context, c corpus.Corpus) corpus.Corpus {
	now, err := corpus.Find(ctx, s.cfg.Corpora, c.Key)
	if err != nil || now.No != c.No {
		return c
	}
	return now
}

// ready returns the target of r, which it opens at the first use.
func (s *Set) ready(ctx context.Context, r *replica, c corpus.Corpus) (Target, error) {
	if err := r.opening.take(ctx); err != nil {
		return nil, err
	}
	defer r.opening.give()
	if t := r.target(); t != nil {
		return t, nil
	}
	t, build, err := s.openTarget(ctx, c)
	if err != nil {
		return nil, err
	}
	r.build.Store(build)
	r.opened.Store(&t)
	return t, nil
}

// step applies the next batch of changes behind one that is applied. It rebuilds the index if those changes have been
// trimmed, or if there are so many that reading all documents is cheaper.
func (s *Set) step(ctx context.Context, r *replica, c corpus.Corpus, applied int64) error {
	if applied == 0 && c.Seq > batch {
		return s.rebuild(ctx, r, c)
	}
	changes, missing, err := s.cfg.Documents.Changes(ctx, c.No, applied, c.Seq, changesBatch)
	if err != nil {
		return err
	}
	if missing {
		return s.rebuild(ctx, r, c)
	}
	if len(changes) == 0 {
		return fault.Conflict("corpus_changed", "corpus %s was deleted or reset while it was being read; try again", c.Key)
	}
	changes, puts, updates := split(changes)
	docs, err := entries(ctx, c, puts, s.cfg.Documents.Load)
	if err != nil {
		return err
	}
	heads, err := entries(ctx, c, updates, s.cfg.Documents.Heads)
	if err != nil {
		return err
	}
	if len(docs) < len(puts) || len(heads) < len(updates) {
		// The others have been removed or replaced by a later change. Until that is applied, too, the index would lack
		// documents that have a successor.
		r.hide(s.latest(ctx, c).Seq)
	}
	out := make([]search.Change, len(changes))
	for i, ch := range changes {
		out[i] = search.Change{Seq: ch.Seq, Op: search.Delete, No: ch.No, Old: ch.Old}
		switch {
		case ch.Op == document.OpReset:
			out[i].Op = search.Reset
		case ch.Op == document.OpUpdate:
			out[i].Op, out[i].Doc = search.Update, heads[ch.No]
		case ch.Op != document.OpDelete: // without a document if a later change removed it
			out[i].Op, out[i].Doc = search.Put, docs[ch.No]
		}
	}
	return r.target().Apply(ctx, out)
}

// split returns the first changes that need at most batch whole documents, with the numbers of these documents and of
// those whose values changed, each once.
func split(changes []document.Change) (some []document.Change, puts, updates []int64) {
	seen := map[document.Change]bool{}
	for i, ch := range changes {
		key := document.Change{Op: ch.Op, No: ch.No}
		if seen[key] {
			continue
		}
		seen[key] = true
		switch ch.Op {
		case document.OpPut, document.OpReplace:
			if len(puts) == batch {
				return changes[:i], puts, updates
			}
			puts = append(puts, ch.No)
		case document.OpUpdate:
			updates = append(updates, ch.No)
		}
	}
	return changes, puts, updates
}

// entries reads documents with load, whole or without parts, and returns their index entries by number.
func entries(
	ctx context.Context, c corpus.Corpus, nos []int64, load func(context.Context, int64, []int64) ([]document.Document, error),
) (map[int64]*search.Document, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	docs, err := load(ctx, c.No, nos)
	if err != nil {
		return nil, err
	}
	all, err := project(c, docs, whole)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]*search.Document, len(all))
	for i := range all {
		out[all[i].No] = &all[i]
	}
	return out, nil
}

// restoreLost adds the documents that the target lacks because something of it was damaged. The columns exist already.
func (s *Set) restoreLost(ctx context.Context, r *replica, c corpus.Corpus) error {
	p, err := s.scan(ctx, c)
	if err != nil {
		return err
	}
	t := r.target()
	return t.Repair(ctx, func() ([]search.Document, error) {
		for {
			docs, err := p.next(ctx)
			if err != nil || len(docs) == 0 {
				r.hide(p.last)
				return nil, err
			}
			nos := make([]int64, len(docs))
			for i := range docs {
				nos[i] = docs[i].No
			}
			lost, err := t.Lost(ctx, nos)
			if err != nil {
				return nil, err
			}
			docs = slices.DeleteFunc(slices.Clone(docs), func(d document.Document) bool { return !slices.Contains(lost, d.No) })
			if len(docs) > 0 {
				return project(c, docs, whole)
			}
		}
	})
}

// lose leaves out of the index of r what lies in a file that was found to be damaged while it was in use.
func (s *Set) lose(ctx context.Context, r *replica, c corpus.Corpus, cause error) error {
	if err := r.turn.take(ctx); err != nil {
		return err
	}
	defer r.turn.give()
	lost, err := r.target().Lose(ctx, cause)
	if lost {
		s.cfg.Log.Warn("index is damaged; reading what it lost from the database", "corpus", c.Key, "error", cause)
	}
	return err
}

// repair rebuilds an index whose files were found to be damaged while it was in use.
func (s *Set) repair(ctx context.Context, r *replica, c corpus.Corpus, cause error) error {
	if err := r.turn.take(ctx); err != nil {
		return err
	}
	defer r.turn.give()
	s.cfg.Log.Warn("index is damaged; rebuilding it from the database", "corpus", c.Key, "error", cause)
	if state, err := r.target().Applied(ctx); err == nil && state.Schema != c.SchemaVersion {
		c = s.latest(ctx, c)
	}
	if err := s.rebuild(ctx, r, c); err != nil {
		return fmt.Errorf("rebuild index of %s: %w", c.Key, err)
	}
	return s.follow(ctx, r, c)
}

// rebuild indexes every document. The sequence number is that of the first page; changes made while reading are applied
// again afterwards, which is harmless: a put replaces the same row number and a delete of a missing row has no effect.
// Searches see nothing before that, as pages read one after another show a document that was replaced meanwhile twice or
// not at all.
func (s *Set) rebuild(ctx context.Context, r *replica, c corpus.Corpus) error {
	r.filling.Store(true)
	defer r.filling.Store(false)
	p, err := s.scan(ctx, c)
	if err != nil {
		return err
	}
	return r.target().Replace(ctx, p.seq, func() ([]search.Document, error) {
		docs, err := p.next(ctx)
		if err != nil {
			return nil, err
		}
		if len(docs) == 0 {
			r.hide(p.last)
		}
		if r.pause != nil {
			return projectPausing(c, docs, whole, r.pause)
		}
		return project(c, docs, whole)
	})
}

// pages reads every document of a corpus.
type pages struct {
	s     *Set
	c     corpus.Corpus
	seq   int64 // change that the first page shows
	last  int64 // change that the last page read shows
	docs  []document.Document
	begun bool
}

func (s *Set) scan(ctx context.Context, c corpus.Corpus) (*pages, error) {
	p := &pages{s: s, c: c}
	err := p.read(ctx, 0)
	return p, err
}

func (p *pages) read(ctx context.Context, after int64) error {
	docs, seq, epoch, err := p.s.cfg.Documents.Scan(ctx, p.c.No, after, batch)
	if err != nil {
		return err
	}
	if epoch != p.c.Epoch {
		return fault.Conflict("corpus_changed", "corpus %s was reset while it was being read; try again", p.c.Key)
	}
	p.docs, p.last = docs, seq
	if after == 0 {
		p.seq = seq
	}
	return nil
}

// next returns the next page, which is empty at the end.
func (p *pages) next(ctx context.Context) ([]document.Document, error) {
	if p.begun && len(p.docs) > 0 {
		if err := p.read(ctx, p.docs[len(p.docs)-1].No); err != nil {
			return nil, err
		}
	}
	p.begun = true
	return p.docs, nil
}
