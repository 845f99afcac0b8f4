package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
)

// reuse sets the vectors of those parts of doc whose passages were encoded before: those of the document that has its id, and
// those of one that was made of the same file, as after a renaming. It returns the former if it is doc in every
// particular. Encoder and role are those of the corpus, which keeps them for life.
func (s *Service) reuse(ctx context.Context, c corpus.Corpus, doc *document.Document) (stands *document.Document, err error) {
	encoder, err := s.cfg.Encoders.Get(c.EncoderName)
	if err != nil {
		return nil, fmt.Errorf("encoder of %s: %w", c.Key, err)
	}
	k := known{doc: doc, comparable: encoder.Fingerprint() == c.EncoderFingerprint, alike: map[int64]int{}}
	former, err := s.cfg.Documents.Kin(ctx, c.No, doc.ID, doc.Digest, k.take)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for passages that are encoded: %w", err)
	case former == nil || former.Digest != doc.Digest || former.Title != doc.Title || k.alike[former.No] != len(doc.Parts) ||
		!bytes.Equal(former.Metadata, doc.Metadata):
		return nil, nil
	}
	return former, nil
}

// known compares a new document with the parts of others.
type known struct {
	doc        *document.Document
	comparable bool             // vectors of the others are of the encoder in use
	places     map[digest][]int // passage → parts of doc; made when the first part comes
	alike      map[int64]int    // document → how many of its parts are in doc at the same place; less than 0 when one is not
}

type digest [sha256.Size]byte

func (k *known) take(no int64, p *document.Part) error {
	if k.places == nil {
		k.places = make(map[digest][]int, len(k.doc.Parts))
		for i := range k.doc.Parts {
			d := sha256.Sum256([]byte(passage(&k.doc.Parts[i])))
			k.places[d] = append(k.places[d], i)
		}
	}
	if k.comparable && len(p.Vector) > 0 {
		for _, i := range k.places[sha256.Sum256([]byte(passage(p)))] {
			k.doc.Parts[i].Vector = p.Vector
		}
	}
	if p.Ord < len(k.doc.Parts) && same(&k.doc.Parts[p.Ord], p) {
		k.alike[no]++
	} else {
		k.alike[no] = -len(k.doc.Parts) - 1
	}
	return nil
}

// same reports whether two parts are equal but for their vectors.
func same(a, b *document.Part) bool {
	return a.Text == b.Text && a.Heading == b.Heading && a.Context == b.Context && bytes.Equal(a.Metadata, b.Metadata) &&
		a.Lang == b.Lang && a.IsTitle == b.IsTitle && slices.Equal(a.Dimensions, b.Dimensions) &&
		a.TableID == b.TableID && a.ImageID == b.ImageID && a.Gap == b.Gap
}
