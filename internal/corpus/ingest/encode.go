package ingest

import (
	"context"
	"fmt"
	"strings"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/index/vector"
)

// batch is how many parts are encoded at a time: enough to keep every core busy, few enough that the float
// vectors of a document with 100,000 parts never exist together.
const batch = 256

// encode sets the vectors of the parts that have none and counts these.
func (s *Service) encode(ctx context.Context, c corpus.Corpus, doc *document.Document) (encoded int, err error) {
	var todo []*document.Part
	for i := range doc.Parts {
		if p := &doc.Parts[i]; p.Vector == nil {
			todo = append(todo, p)
		}
	}
	encoder, err := s.cfg.Encoders.Get(c.EncoderName)
	if err != nil {
		return 0, fmt.Errorf("encoder of %s: %w", c.Key, err)
	}
	kind := embed.Passage
	if c.DocumentsAreQuestions {
		kind = embed.Question
	}
	n := min(batch, len(todo))
	texts := make([]string, n)
	rows := make([][]float32, n)
	flat := make([]float32, n*encoder.Dim())
	for i := range rows {
		rows[i] = flat[i*encoder.Dim() : (i+1)*encoder.Dim()]
	}
	for parts := todo; len(parts) > 0; parts = parts[n:] {
		n = min(n, len(parts))
		for i := range n {
			texts[i] = passage(parts[i])
		}
		if err := embed.EncodeLong(ctx, encoder, kind, texts[:n], rows[:n]); err != nil {
			return 0, fmt.Errorf("encode document %q: %w", doc.ID, err)
		}
		for i := range n {
			if parts[i].Vector, err = vector.Pack(rows[i]); err != nil {
				return 0, fmt.Errorf("encode part %d of document %q: %w", parts[i].Ord, doc.ID, err)
			}
		}
	}
	return len(todo), nil
}

// passage returns the text to encode for a part: the heading in front of its text, which measurably improves retrieval
// (design: encoders.md section 8.3).
func passage(p *document.Part) string {
	switch {
	case p.Heading == "":
		return p.Text
	case strings.ContainsAny(p.Heading[len(p.Heading)-1:], ".!?:"):
		return p.Heading + " " + p.Text
	}
	return p.Heading + ". " + p.Text
}
