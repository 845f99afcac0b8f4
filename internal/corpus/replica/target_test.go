package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/replica"
	"quarry/internal/corpus/replica/targettest"
	"quarry/internal/index"
	"quarry/internal/search"
)

// TestElsewhere proves that a replica keeps a target in step that is reached through a pipe and keeps nothing over a restart: it
// follows changes, other attributes and resets, mends what is damaged, and drops what nobody needs.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	x := newTurning(t)
	damaged, dropped := false, 0
	open := targettest.Piped(func(cfg index.Config) (replica.Target, error) {
		cfg.Dir = ""
		to, err := replica.Local(cfg)
		return watched{to, &damaged, &dropped}, err
	})
	start := func() {
		x.set = replica.New(replica.Config{Documents: x.documents, Corpora: x.store, Encoders: x.encoders, Log: slog.New(slog.NewTextHandler(x.log, nil)), Open: open})
		x.fixture.set = x.set
	}
	start()
	for n := range 70 { // more than are read at a time
		x.put(string(rune('A'+n)), 1+n%3)
	}
	x.wants("doc.n = 2", 2*23)
	x.remove("B")
	x.wants("doc.n = 2", 2*22)
	next := x.corpus()
	next.SchemaVersion, next.Attributes = 1, attributes(1)
	if err := x.set.Retype(t.Context(), next, func() (corpus.Corpus, error) {
		x.store.version.Store(1)
		return x.corpus(), nil
	}); err != nil {
		t.Fatal(err)
	}
	x.wants("doc.n < 1.5", 24)
	damaged = true
	x.wants("doc.n < 1.5", 24)
	if damaged {
		t.Error("the damage was not met")
	}
	if err := x.set.Close(); err != nil {
		t.Fatal(err)
	}
	start()
	x.wants("doc.n < 1.5", 24)
	c := x.corpus()
	x.set.Dropped(c)
	x.set.Dropped(c) // one that is not open is opened for it
	if dropped != 2 {
		t.Errorf("dropped %d times, want 2", dropped)
	}
	x.wants("doc.n < 1.5", 24)
}

// watched is a target of which one search finds damage, and which counts what is dropped.
type watched struct {
	replica.Target
	damaged *bool
	dropped *int
}

func (w watched) View(ctx context.Context) (replica.View, error) {
	v, err := w.Target.View(ctx)
	return watchedView{v, w.damaged}, err
}

func (w watched) Drop(ctx context.Context) error {
	*w.dropped++
	return w.Target.Drop(ctx)
}

type watchedView struct {
	replica.View
	damaged *bool
}

func (v watchedView) Search(ctx context.Context, q search.Query) (search.Found, error) {
	if *v.damaged {
		*v.damaged = false
		return search.Found{}, errors.Join(search.ErrCorrupt, errors.New("a disk fails"))
	}
	return v.View.Search(ctx, q)
}
