package retrieve

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/embed"
	"quarry/internal/opt"
)

// several are the corpora of a query, by key.
type several map[string]corpus.Corpus

func (s several) Get(_ context.Context, keys ...string) (out []corpus.Corpus, err error) {
	for _, k := range keys {
		out = append(out, s[k])
	}
	return out, nil
}

// calls counts how often an encoder was called. Every text has a vector of its own.
type calls struct {
	documenttest.Encoder
	n int
}

func (c *calls) Encode(ctx context.Context, kind embed.Kind, texts []string, out [][]float32) error {
	c.n++
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, text := range texts {
		h := fnv.New32()
		fmt.Fprint(h, kind, text)
		out[i][1] = float32(h.Sum32())
	}
	return c.Encoder.Encode(ctx, kind, texts, out)
}

// TestEncodedOnce proves that each text of a query is encoded once for each role, whatever the number of sources that have
// it; many of them in one call, which a client that has gone ends; and that every source gets the vector of its own text.
func TestEncodedOnce(t *testing.T) {
	t.Parallel()
	encoders, err := embed.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	asked := &calls{}
	encoders.Decorate(func(embed.Encoder) embed.Encoder { return asked })
	s := &Service{encoders: encoders, engine: fixed{}, corpora: several{
		"a": {No: 1, EncoderName: embed.DefaultName}, "b": {No: 2, EncoderName: embed.DefaultName, QueriesAreAnswers: true},
	}}
	for _, texts := range []int{1, few, 200} {
		q := Query{Text: "the question"}
		var want []string
		for i := range 3 * texts {
			text := fmt.Sprint("text ", i%texts)
			q.Sources = append(q.Sources, Source{Corpus: "a", Text: text, Lambda: opt.Some(0.0)}, Source{Corpus: "b", Text: text, Lambda: opt.Some(0.0)}, Source{Corpus: "a", Text: text, Lambda: opt.Some(1.0)})
			if i < texts {
				want = append(want, text, text) // as a question and as an answer
			}
		}
		before, _, _ := asked.Asked()
		asked.n = 0
		sources, err := s.plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		now, _, _ := asked.Asked()
		got := slices.Clone(now[len(before):])
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d texts: %d were encoded, want %d", texts, len(got), len(want))
		}
		if texts > few && asked.n != 2 || texts <= few && asked.n != 2*texts {
			t.Errorf("%d texts in two roles: %d calls", texts, asked.n)
		}
		for i, src := range sources {
			alone, err := s.plan(t.Context(), Query{Text: "the question", Sources: q.Sources[i : i+1]})
			if err != nil {
				t.Fatal(err)
			}
			known, err := alone[0].search.Known()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(src.search.Vector, known.Vector) || (src.lambda == 1) != (src.search.Vector == nil) {
				t.Fatalf("%d texts: source %d has another vector than alone", texts, i)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.plan(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has gone: %v", err)
		}
	}
}
