package targettest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/corpus/replica"
	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// Piped returns an opener of targets that are reached as one elsewhere is: whatever goes in and comes out is text on its way.
func Piped(open func(index.Config) (replica.Target, error)) func(index.Config) (replica.Target, error) {
	return func(cfg index.Config) (replica.Target, error) {
		of, err := sent(cfg.Schema)
		if err != nil {
			return nil, err
		}
		cfg.Schema = of
		t, err := open(cfg)
		return piped{t}, arrived(err)
	}
}

// sent returns v as it is at the other end.
func sent[T any](v T) (out T, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}

// arrived returns an error as it is at the other end: its words, and which of the errors of the seam it is.
func arrived(err error) error {
	for _, known := range []error{search.ErrSchema, search.ErrCorrupt, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return fmt.Errorf("%w: elsewhere: %s", known, err)
		}
	}
	if err != nil {
		return errors.New(err.Error())
	}
	return nil
}

// through calls f with a value that was sent, and sends what it returns.
func through[A, B any](in A, f func(A) (B, error)) (out B, err error) {
	if in, err = sent(in); err != nil {
		return out, err
	}
	if out, err = f(in); err != nil {
		return out, arrived(err)
	}
	return sent(out)
}

// nothing is the answer of a call that has none.
type nothing struct{}

type piped struct{ to replica.Target }

func (p piped) Applied(ctx context.Context) (search.State, error) {
	return through(nothing{}, func(nothing) (search.State, error) { return p.to.Applied(ctx) })
}

func (p piped) Apply(ctx context.Context, changes []search.Change) error {
	_, err := through(changes, func(in []search.Change) (nothing, error) { return nothing{}, p.to.Apply(ctx, in) })
	return err
}

// batches returns next as the other end sees it. An error of this end is not one of the target.
func batches(next func() ([]search.Document, error), own *error) func() ([]search.Document, error) {
	return func() ([]search.Document, error) {
		docs, err := next()
		if err != nil {
			*own = err
			return nil, arrived(err)
		}
		return sent(docs)
	}
}

func (p piped) Replace(ctx context.Context, seq int64, next func() ([]search.Document, error)) error {
	var own error
	err := arrived(p.to.Replace(ctx, seq, batches(next, &own)))
	return errors.Join(err, own)
}

func (p piped) Lose(ctx context.Context, cause error) (bool, error) {
	return through(nothing{}, func(nothing) (bool, error) { return p.to.Lose(ctx, arrived(cause)) })
}

func (p piped) Lost(ctx context.Context, nos []int64) ([]int64, error) {
	return through(nos, func(in []int64) ([]int64, error) { return p.to.Lost(ctx, in) })
}

func (p piped) Repair(ctx context.Context, next func() ([]search.Document, error)) error {
	var own error
	err := arrived(p.to.Repair(ctx, batches(next, &own)))
	return errors.Join(err, own)
}

func (p piped) Retype(ctx context.Context, to *filter.Schema) (search.Retyping, error) {
	in, err := sent(to)
	if err != nil {
		return nil, err
	}
	r, err := p.to.Retype(ctx, in)
	return pipedRetyping{r}, arrived(err)
}

func (p piped) View(ctx context.Context) (replica.View, error) {
	v, err := p.to.View(ctx)
	return pipedView{v}, arrived(err)
}

func (p piped) Drop(ctx context.Context) error { return arrived(p.to.Drop(ctx)) }

func (p piped) Close() error { return arrived(p.to.Close()) }

type pipedRetyping struct{ to search.Retyping }

func (p pipedRetyping) Add(ctx context.Context, docs []search.Document) error {
	_, err := through(docs, func(in []search.Document) (nothing, error) { return nothing{}, p.to.Add(ctx, in) })
	return err
}

func (p pipedRetyping) Prepare(ctx context.Context) error { return arrived(p.to.Prepare(ctx)) }

func (p pipedRetyping) Swap(ctx context.Context, version int64) error {
	return arrived(p.to.Swap(ctx, version))
}

func (p pipedRetyping) Discard() { p.to.Discard() }

type pipedView struct{ of replica.View }

func (p pipedView) Seq() int64 { return p.of.Seq() }

func (p pipedView) Partial() bool { return p.of.Partial() }

func (p pipedView) Search(ctx context.Context, q search.Query) (search.Found, error) {
	q, err := q.Known()
	if err != nil {
		return search.Found{}, err
	}
	return through(q, func(in search.Query) (search.Found, error) { return p.of.Search(ctx, in) })
}

func (p pipedView) Languages(ctx context.Context) ([]lang.Count, error) {
	return through(nothing{}, func(nothing) ([]lang.Count, error) { return p.of.Languages(ctx) })
}

func (p pipedView) Vectors(ctx context.Context, parts []search.Hit) ([][]float32, error) {
	return through(parts, func(in []search.Hit) ([][]float32, error) { return p.of.Vectors(ctx, in) })
}

func (p pipedView) Release() { p.of.Release() }
