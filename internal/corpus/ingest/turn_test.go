package ingest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
	"quarry/internal/embed"
)

// slow takes an hour to encode anything.
type slow struct{ *documenttest.Encoder }

func (s slow) Get(string) (embed.Encoder, error) { return s, nil }

func (s slow) Encode(ctx context.Context, k embed.Kind, texts []string, out [][]float32) error {
	time.Sleep(time.Hour)
	return s.Encoder.Encode(ctx, k, texts, out)
}

func TestUploadInTurn(t *testing.T) {
	// Proves that a file that is sent again while it is being encoded is encoded once, that a deadline ends the wait, and
	// that a turn ends with a failure, too.
	synctest.Test(t, func(t *testing.T) {
		b := newBench(corpus.Corpus{Enabled: true})
		b.Service = ingest.New(ingest.Config{Corpora: b.store.Corpora(), Documents: b.store, Encoders: slow{b.enc}, Index: b.store})
		file := ingest.Upload{ID: "a.txt", Name: "a.txt", Data: []byte("They move water.")}
		b.enc.Err = errors.New("no power")
		if _, err := b.Upload(t.Context(), "manuals", file); !errors.Is(err, b.enc.Err) {
			t.Fatal(err)
		}
		b.enc.Err = nil
		before := len(b.encoded())
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if d, err := b.Upload(t.Context(), "manuals", file); err != nil || d.ID != "a.txt" {
					t.Errorf("upload: %+v, %v", d, err)
				}
			})
		}
		synctest.Wait()
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Upload(hasty, "manuals", file); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a deadline: %v", err)
		}
		group.Wait()
		if n := len(b.encoded()) - before; n != 1 {
			t.Errorf("%d texts were encoded, want 1", n)
		}
	})
}
