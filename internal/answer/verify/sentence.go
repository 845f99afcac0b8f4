package verify

import (
	"context"
	"fmt"
)

// Sentence is what the embedded means found for a sentence of a text.
type Sentence struct {
	Start, End  int // bytes of the text
	Text        string
	Words       int
	Evidence    Evidence
	Differences Differences
	Nearest     string // sentence of the sources, "" without sources
	Score       float64
}

// Examine is what the embedded score of c rests on, sentence by sentence, whatever the judge. Errors are those of
// Score.
func (s *Service) Examine(ctx context.Context, c Claim) ([]Sentence, error) {
	lang, err := languageOf(c)
	if err != nil {
		return nil, err
	}
	if s.tooLong(c) {
		return nil, ErrTooLong
	}
	found, err := s.examine(ctx, c, lang)
	if err != nil {
		return nil, fmt.Errorf("examine consistency: %w", err)
	}
	out := make([]Sentence, len(found))
	for i, f := range found {
		out[i] = Sentence{Start: f.start, End: f.end, Text: c.Text[f.start:f.end], Words: len(f.words), Evidence: f.evidence, Differences: f.wrong}
		if len(f.near) > 0 {
			out[i].Nearest, out[i].Score = f.near[0].text, Shipped.Score(f.evidence, f.wrong)
		}
	}
	return out, nil
}
