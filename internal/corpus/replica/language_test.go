package replica_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/replica"
	"quarry/internal/store"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
)

// said commits a document of the given number of parts in a language.
func (w *fixture) said(name, code string, parts int) {
	w.t.Helper()
	d := w.document(name, "word"+name, parts)
	for i := range d.Parts {
		d.Parts[i].Lang, d.Parts[i].Metadata = code, []byte(`{"lang":"`+code+`"}`)
	}
	w.insert(w.corpus(), d)
}

// TestLanguages proves that the languages of a corpus follow its documents, also those that came while the service was down, and
// also where the index is made anew from the rows.
func TestLanguages(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		w := newWorldOn(t, config(t))
		want := func(want string) {
			t.Helper()
			all, err := w.set.Languages(t.Context(), w.corpus())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range all {
				got = append(got, fmt.Sprint(l.Code, l.Texts))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got %v, want %q", got, want)
			}
		}
		want("")
		w.said("a", "rus", 2)
		w.said("b", "eng", 1)
		w.said("c", "", 4) // no language that is known
		want("rus2 eng1")
		w.restart()
		want("rus2 eng1")
		w.said("d", "eng", 2)
		w.restart()
		want("eng3 rus2")
		w.remove("d")
		want("rus2 eng1")
		w.remove("a")
		w.restart()
		want("eng1")
		w.dir = t.TempDir() // the files are lost
		w.restart()
		want("eng1")
	})
}

// blocked reads no change before it is let go.
type blocked struct {
	*documents.Store
	reading, let chan struct{}
}

func (b *blocked) Changes(ctx context.Context, corpusNo, after, upto int64, limit int) ([]document.Change, bool, error) {
	close(b.reading)
	<-b.let
	return b.Store.Changes(ctx, corpusNo, after, upto, limit)
}

// TestImpatient proves that who waits for an index that somebody else brings up to date waits no longer than wanted.
func TestImpatient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", 1)
	b := &blocked{Store: w.documents, reading: make(chan struct{}), let: make(chan struct{})}
	set := replica.New(replica.Config{Documents: b, Corpora: w.corpora, Encoders: w.encoders, Log: slog.New(slog.DiscardHandler)})
	c, done := w.corpus(), make(chan error)
	go func() { done <- set.CatchUp(t.Context(), c) }()
	<-b.reading
	ctx, gone := context.WithCancel(t.Context())
	gone()
	if _, err := set.Languages(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(b.let)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if have, err := set.Languages(t.Context(), c); err != nil || len(have) != 1 || have[0].Code != "eng" {
		t.Errorf("got %v and %v", have, err)
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
}
