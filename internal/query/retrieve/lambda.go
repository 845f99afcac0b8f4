package retrieve

import (
	"context"
	"fmt"

	"quarry/internal/corpus"
)

// The lexical shares of queries without one (contract: queries.md section 2): where the encoder inside the program knows the
// language that most parts of the corpus are in, which is English, and where it does not. There, a greater share of meaning costs more
// good results than it finds, as measured on the languages of XQuAD (docs/benchmarks.md, Ranking).
const (
	DefaultLambda = 0.025
	foreignLambda = 0.1
)

const english = "eng"

// DefaultLambda returns the lexical share of a query of this corpus that gives none.
func (s *Service) DefaultLambda(ctx context.Context, c corpus.Corpus) (float64, error) {
	if !s.encoders.Embedded(c.EncoderFingerprint) { // other encoders may know more languages
		return DefaultLambda, nil
	}
	have, err := s.engine.Languages(ctx, c)
	if err != nil {
		return 0, fmt.Errorf("languages of %s: %w", c.Key, err)
	}
	if len(have) == 0 || have[0].Code == english {
		return DefaultLambda, nil
	}
	return foreignLambda, nil
}

// mix sets the lexical share of each source. Those that leave it to their corpora have one share, since the scores of different
// shares don't compare: where the corpora differ, it is the smallest.
func (s *Service) mix(ctx context.Context, sources []source, given []Source) error {
	least := 1.0
	for i := range sources {
		if given[i].Lambda.IsAbsent() {
			lambda, err := s.DefaultLambda(ctx, sources[i].corpus)
			if err != nil {
				return err
			}
			least = min(least, lambda)
		}
	}
	for i := range sources {
		sources[i].lambda = given[i].Lambda.Or(least)
	}
	return nil
}
