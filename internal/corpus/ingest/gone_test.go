package ingest_test

import (
	"context"
	"errors"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
)

// last is a store whose client goes when a document is about to be stored.
type last struct {
	*documenttest.Memory
	leave func()
}

func (s last) Insert(ctx context.Context, corpusNo, epoch int64, d *document.Document) (int64, error) {
	if s.leave(); ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return s.Memory.Insert(ctx, corpusNo, epoch, d)
}

// TestClientGone proves that a client that goes while its document is encoded leaves nothing of it, and that one that goes
// later leaves all of it.
func TestClientGone(t *testing.T) {
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	ctx, leave := context.WithCancel(t.Context())
	b.enc.Then = leave
	if _, err := b.Create(ctx, "manuals", core("d", `{}`, "A text."), ingest.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("while it is encoded: %v", err)
	}
	if _, ok := b.store.Document("d"); ok || b.store.Corpus.Seq != 10 {
		t.Errorf("something was stored: %v, change %d", ok, b.store.Corpus.Seq)
	}
	b.enc.Then = nil
	ctx, leave = context.WithCancel(t.Context())
	service := ingest.New(ingest.Config{Corpora: b.store.Corpora(), Documents: last{b.store, leave}, Encoders: b.enc, Index: b.store})
	if _, err := service.Create(ctx, "manuals", core("d", `{}`, "A text."), ingest.Options{}); err != nil {
		t.Errorf("while it is stored: %v", err)
	}
	if _, ok := b.store.Document("d"); !ok {
		t.Error("it is not there")
	}
}
