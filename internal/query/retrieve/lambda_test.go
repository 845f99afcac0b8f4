package retrieve

import (
	"context"
	"errors"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/embed"
	"quarry/internal/opt"
	"quarry/internal/text/lang"
)

// spoken searches corpora in which most parts are in a language.
type spoken struct {
	fixed // for the rest of an Engine
	most  map[int64]string
}

func (s spoken) Languages(_ context.Context, c corpus.Corpus) ([]lang.Count, error) {
	switch code := s.most[c.No]; code {
	case "":
		return nil, nil
	case "?":
		return nil, errors.New("damaged")
	default:
		return []lang.Count{{Code: code, Texts: 2}, {Code: "fra", Texts: 1}}, nil
	}
}

// speaking returns a service over such corpora, and the fingerprint of the encoder inside the program.
func speaking(t *testing.T, most map[int64]string) (*Service, string) {
	t.Helper()
	encoders, err := embed.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	_, fingerprint, _ := encoders.Resolve("")
	return &Service{encoders: encoders, engine: spoken{most: most}}, fingerprint
}

// TestDefaultLambda proves that the lexical share of a query that gives none follows from the language of most parts, and that
// only the encoder inside the program is taken to know English alone.
func TestDefaultLambda(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		code  string
		other bool // another encoder
		want  float64
	}{
		{"", false, 0.025}, {"eng", false, 0.025},
		{"spa", false, 0.1}, {"deu", false, 0.1}, {"tur", false, 0.1}, {"vie", false, 0.1}, {"ron", false, 0.1},
		{"rus", false, 0.1}, {"zho", false, 0.1}, {"ara", false, 0.1}, {"hin", false, 0.1}, {"ell", false, 0.1}, {"tha", false, 0.1},
		{"jpn", false, 0.1}, {"kor", false, 0.1}, {"heb", false, 0.1},
		{"rus", true, 0.025}, {"spa", true, 0.025}, {"?", true, 0.025},
	} {
		s, fingerprint := speaking(t, map[int64]string{1: tc.code})
		if tc.other {
			fingerprint = "multilingual"
		}
		if got, err := s.DefaultLambda(t.Context(), corpus.Corpus{No: 1, EncoderFingerprint: fingerprint}); err != nil || got != tc.want {
			t.Errorf("%q, another encoder %v: got %v and %v, want %v", tc.code, tc.other, got, err, tc.want)
		}
	}
	s, fingerprint := speaking(t, map[int64]string{1: "?"})
	if _, err := s.DefaultLambda(t.Context(), corpus.Corpus{No: 1, Key: "k", EncoderFingerprint: fingerprint}); err == nil {
		t.Error("an index that fails has a share")
	}
}

// TestMix proves that a share that the caller gives is what it is, also 0, and that corpora without one have the smallest of
// their defaults in common, which those with one don't touch.
func TestMix(t *testing.T) {
	t.Parallel()
	absent := opt.Field[float64]{}
	for _, tc := range []struct {
		name  string
		codes []string
		given []opt.Field[float64]
		want  []float64
	}{
		{"one", []string{"rus"}, []opt.Field[float64]{absent}, []float64{0.1}},
		{"one given", []string{"rus"}, []opt.Field[float64]{opt.Some(0.025)}, []float64{0.025}},
		{"none given is not nothing", []string{"rus"}, []opt.Field[float64]{opt.Some(0.0)}, []float64{0}},
		{"two", []string{"rus", "spa"}, []opt.Field[float64]{absent, absent}, []float64{0.1, 0.1}},
		{"one of English", []string{"rus", "spa", "eng"}, []opt.Field[float64]{absent, absent, absent}, []float64{0.025, 0.025, 0.025}},
		{"English given", []string{"rus", "eng"}, []opt.Field[float64]{absent, opt.Some(1.0)}, []float64{0.1, 1}},
		{"an index that is not asked", []string{"?", "spa"}, []opt.Field[float64]{opt.Some(0.5), absent}, []float64{0.5, 0.1}},
	} {
		most := map[int64]string{}
		for i, code := range tc.codes {
			most[int64(i)] = code
		}
		s, fingerprint := speaking(t, most)
		var sources []source
		var given []Source
		for i := range tc.codes {
			sources = append(sources, source{corpus: corpus.Corpus{No: int64(i), EncoderFingerprint: fingerprint}})
			given = append(given, Source{Lambda: tc.given[i]})
		}
		if err := s.mix(t.Context(), sources, given); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		for i, want := range tc.want {
			if sources[i].lambda != want {
				t.Errorf("%s: corpus %d has %v, want %v", tc.name, i, sources[i].lambda, want)
			}
		}
	}
}
