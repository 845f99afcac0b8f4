package replica

import (
	"context"
	"slices"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// Target is where the changes of one life of a corpus go: a search index that is kept in step with the rows. A replica
// reads the change sequence and the rows, and writes to its target one call at a time; searches run beside that. All that
// goes in and out is plain data, so a target may be elsewhere and may be shared. Package targettest says what one must do.
type Target interface {
	// Applied returns how far the target has come.
	Applied(ctx context.Context) (search.State, error)
	// Apply shows changes to searches, all at once. They come in order and without gaps from State.Applied+1 on. After an
	// error nothing has changed.
	Apply(ctx context.Context, changes []search.Change) error
	// Replace takes documents in batches until next returns none, each once, and then shows them in place of everything
	// before, as of change seq. Searches see the old content until then. After an error nothing has changed.
	Replace(ctx context.Context, seq int64, next func() ([]search.Document, error)) error
	// Lose leaves out what the damage in cause, an error that is search.ErrCorrupt, has made unreadable, and reports whether the
	// target is partial then.
	Lose(ctx context.Context, cause error) (lost bool, err error)
	// Lost returns those of the documents with these numbers of which the target has no part.
	Lost(ctx context.Context, nos []int64) ([]int64, error)
	// Repair takes documents that the target has lost, as Replace does, and adds them; State.Applied stays.
	Repair(ctx context.Context, next func() ([]search.Document, error)) error
	// Retype begins the change to other attributes.
	Retype(ctx context.Context, to *filter.Schema) (search.Retyping, error)
	// View returns the present state. It must be released.
	View(ctx context.Context) (View, error)
	// Drop removes what the target keeps. It is the last call, also where views are held.
	Drop(ctx context.Context) error
	// Close ends the use of the target. What it has applied it may forget: the next one says so by its Applied.
	Close() error
}

// View is one state of a target, which stays as it is while others are written. Safe for concurrent use.
type View interface {
	// Seq returns the number of the last change that the view shows.
	Seq() int64
	// Partial reports that the view lacks documents that were lost: it is not to be searched.
	Partial() bool
	Search(ctx context.Context, q search.Query) (search.Found, error)
	// Languages returns the languages of the parts, the most frequent first, then by code.
	Languages(ctx context.Context) ([]lang.Count, error)
	// Vectors returns the vectors of parts, of unit length up to rounding; nil for one that is gone or has none.
	Vectors(ctx context.Context, parts []search.Hit) ([][]float32, error)
	Release()
}

// Local opens our own index as a target: in memory, or in files that may be thrown away at any time.
func Local(cfg index.Config) (Target, error) {
	x, err := index.Open(cfg)
	if err != nil {
		return nil, err
	}
	return local{x}, nil
}

// local is our index, which is near enough to need no context.
type local struct{ *index.Index }

var _ Target = local{}

func (l local) Applied(context.Context) (search.State, error) { return l.State(), nil }

func (l local) Apply(_ context.Context, changes []search.Change) error { return l.Index.Apply(changes) }

func (l local) Replace(_ context.Context, seq int64, next func() ([]search.Document, error)) error {
	return l.Index.Replace(seq, next)
}

func (l local) Lose(_ context.Context, cause error) (bool, error) { return l.Index.Lose(cause) }

func (l local) Lost(_ context.Context, nos []int64) ([]int64, error) {
	return slices.DeleteFunc(slices.Clone(nos), l.Has), nil
}

func (l local) Repair(_ context.Context, next func() ([]search.Document, error)) error {
	return l.Index.Repair(next)
}

func (l local) Retype(_ context.Context, to *filter.Schema) (search.Retyping, error) {
	return retyping{l.Index.Retype(to)}, nil
}

func (l local) View(context.Context) (View, error) { return view{l.Snapshot()}, nil }

func (l local) Drop(context.Context) error { return l.Index.Drop() }

type retyping struct{ *index.Retyping }

func (r retyping) Add(_ context.Context, docs []search.Document) error { return r.Retyping.Add(docs) }

func (r retyping) Prepare(context.Context) error { return r.Retyping.Prepare() }

func (r retyping) Swap(_ context.Context, version int64) error { return r.Retyping.Swap(version) }

func (retyping) Discard() {} // nothing in the index knows of it

type view struct{ *index.Snapshot }

func (v view) Languages(context.Context) ([]lang.Count, error) { return v.Snapshot.Languages() }

func (v view) Vectors(_ context.Context, parts []search.Hit) ([][]float32, error) {
	return v.Snapshot.Vectors(parts)
}
