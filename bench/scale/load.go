package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"quarry/bench/scale/data"
	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/id"
	"quarry/internal/index/vector"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
)

// The corpora of the service: all passages, and a tenth of them.
const (
	allKey   = "all"
	tenthKey = "tenth"
)

// writers is how many documents are written at once; they share commits.
const writers = 32

// load returns a data folder of the program with both corpora, whose rows it writes with their vectors: no door of the
// service takes any. It is kept from run to run.
func (b *bench) load() (dir string, err error) {
	dir = b.file("service-%d", min(b.real, len(b.order)))
	done := filepath.Join(dir, "loaded")
	if _, err := os.Stat(done); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	s, err := b.like()
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	db, err := store.Open(b.ctx, store.Config{Dir: dir})
	if err != nil {
		return "", err
	}
	tenth := b.order[:max(1, len(b.order)/10)]
	err = errors.Join(
		loadCorpus(b.ctx, db, allKey, s),
		loadCorpus(b.ctx, db, tenthKey, &set{passages: s.passages, rows: tenth, vectors: s.vectors.Pick(tenth)}),
		db.Close())
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(done, nil, 0o600)
}

// loadCorpus writes a corpus with the rows of s.
func loadCorpus(ctx context.Context, db *store.DB, key string, s *set) error {
	encoders, err := embed.NewRegistry()
	if err != nil {
		return err
	}
	shown, fingerprint, _ := encoders.Resolve("") // the default is always there
	declared := make([]corpus.Attribute, len(attributes))
	for i, a := range attributes {
		declared[i] = corpus.Attribute{Name: a.Name, Level: a.Level.String(), Type: a.Type.String(), Indexed: true}
	}
	c, err := corpora.New(db).Create(ctx, corpus.Corpus{ID: id.NewCorpus(), Key: key, Name: key, Enabled: true, EncoderName: shown,
		EncoderFingerprint: fingerprint, Attributes: declared, Created: clock.Now()})
	if err != nil {
		return err
	}
	texts, bar := documents.New(db), data.NewProgress("loading "+key, 0)
	var written atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for next := 0; next < len(s.rows) && ctx.Err() == nil; {
		from, to := next, next+1
		for to < len(s.rows) && s.passages.Of[s.rows[to]] == s.passages.Of[s.rows[from]] {
			to++
		}
		next = to
		group.Go(func() error {
			d, err := s.document(from, to)
			if err == nil {
				_, err = texts.Insert(ctx, c.No, c.Epoch, d)
			}
			written.Add(int64(to - from))
			return err
		})
		bar.At(int(written.Load()), len(s.rows))
	}
	err = group.Wait()
	bar.At(int(written.Load()), len(s.rows))
	return err
}

// document returns the stored form of the rows of one document.
func (s *set) document(from, to int) (*document.Document, error) {
	at := int(s.passages.Of[s.rows[from]])
	of := s.passages.Documents[at]
	d := &document.Document{ID: of.ID, Title: of.Title}
	var err error
	if d.Metadata, err = json.Marshal(map[string]any{"share": shares(at), "area": of.Area, "topic": of.Topic}); err != nil {
		return nil, err
	}
	for row := from; row < to; row++ {
		p := document.Part{Ord: row - from, Text: s.passages.Texts[s.rows[row]], Lang: "eng", Gap: " "}
		p.Metadata = json.RawMessage(fmt.Sprintf(`{"lang":"eng","draw":%d}`, thousandths("passage", row)))
		if p.Vector, err = vector.Pack(s.vectors.Row(row)); err != nil {
			return nil, err
		}
		d.Parts = append(d.Parts, p)
		d.Usage.Bytes += int64(len(p.Text) + len(p.Metadata))
		d.Usage.MetadataBytes += int64(len(p.Metadata))
	}
	d.Usage.Bytes += int64(len(d.Metadata))
	d.Usage.MetadataBytes += int64(len(d.Metadata))
	return d, nil
}
