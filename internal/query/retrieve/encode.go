package retrieve

import (
	"context"
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/embed"
)

// few is up to how many texts of one query are encoded at once, as those of a person are. More are bulk work, to which the
// queries of others are preferred.
const few = 8

// role is how a text is encoded.
type role struct {
	encoder string // its name
	kind    embed.Kind
}

// sought is a text to encode.
type sought struct {
	role
	text string
}

// roleOf returns how the text of a source is encoded.
func roleOf(c corpus.Corpus, src Source) role {
	if c.QueriesAreAnswers && !src.Question || src.Response {
		return role{c.EncoderName, embed.Answer}
	}
	return role{c.EncoderName, embed.Question}
}

// encode returns the vectors of texts, each of which it encodes once, however often it occurs.
func (s *Service) encode(ctx context.Context, all []sought) (map[sought][]float32, error) {
	out, texts := map[sought][]float32{}, map[role][]string{}
	for _, x := range all {
		if _, known := out[x]; !known {
			out[x] = nil
			texts[x.role] = append(texts[x.role], x.text)
		}
	}
	for r, some := range texts {
		encoder, err := s.encoders.Get(r.encoder)
		if err != nil {
			return nil, err
		}
		together := len(some)
		if together <= few {
			together = 1
		}
		for batch := range slices.Chunk(some, together) {
			rows := make([][]float32, len(batch))
			for i, text := range batch {
				rows[i] = make([]float32, encoder.Dim())
				out[sought{r, text}] = rows[i]
			}
			if err := encoder.Encode(ctx, r.kind, batch, rows); err != nil {
				return nil, fmt.Errorf("encode query: %w", err)
			}
		}
	}
	return out, nil
}
