package replica

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"quarry/internal/background"
	"quarry/internal/corpus"
	"quarry/internal/fault"
)

const (
	// far is how many changes files may be behind and still wait for the first query, which then takes them in a moment.
	far = 1000
	// raised bounds how many indexes are brought up at a time; the parts of each are projected on all cores.
	raised = 4
)

// laggard is a corpus whose files lack that many of its changes.
type laggard struct {
	corpus.Corpus
	lacks int64
}

type laggards []laggard

// add notes c if its files, which reach to the change saved, are far behind.
func (l *laggards) add(c corpus.Corpus, saved int64) {
	if lacks := c.Seq - saved; lacks > far {
		*l = append(*l, laggard{c, lacks})
	}
}

// nearest returns the corpora that lack the fewest changes first, so that one that lacks very many keeps few others waiting. Of more
// than limit it keeps those that lack the most: opening more would close others again.
func (l laggards) nearest(limit int) []corpus.Corpus {
	slices.SortStableFunc(l, func(a, b laggard) int { return cmp.Compare(a.lacks, b.lacks) })
	var out []corpus.Corpus
	for _, one := range l[max(0, len(l)-limit):] {
		out = append(out, one.Corpus)
	}
	return out
}

// CatchUpAll brings the indexes of several corpora up to what their rows are by now, some at a time, in order. One that fails is
// logged: the first query tries again.
func (s *Set) CatchUpAll(ctx context.Context, all []corpus.Corpus) {
	var group errgroup.Group
	group.SetLimit(min(raised, background.Cores()))
	for _, c := range all {
		group.Go(func() error {
			s.raise(ctx, c)
			return nil
		})
	}
	_ = group.Wait()
}

// raise brings up the index of one corpus, unless it was deleted.
func (s *Set) raise(ctx context.Context, c corpus.Corpus) {
	now, err := corpus.Find(ctx, s.cfg.Corpora, c.Key)
	if f, ok := fault.As(err); ok && f.Kind == fault.KindNotFound {
		return
	}
	var shown int64
	if err == nil {
		err = s.with(ctx, now, func(x View) error {
			shown = x.Seq()
			return nil
		})
	}
	switch {
	case err == nil:
		s.cfg.Log.Info("index brought up to its rows", "corpus", c.Key, "index", shown)
	case ctx.Err() == nil:
		s.cfg.Log.Warn("an index that is far behind could not be brought up; the first query tries again", "corpus", c.Key, "error", err)
	}
}
