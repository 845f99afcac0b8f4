package embed

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"quarry/internal/background"
	"quarry/internal/encode"
)

// urgentBytes is the length up to which a single text is taken for a query, and is encoded by whoever asks: about 100 tokens, a few
// milliseconds on one core.
const urgentBytes = 512

// Local is an encoder that runs in this process.
type Local struct {
	name string
	enc  *encode.Encoder
	bulk *background.Pool
}

// NewLocal returns e as an Encoder with the given name. Encoders that share a pool for their bulk work share the cores.
func NewLocal(name string, e *encode.Encoder, bulk *background.Pool) *Local {
	return &Local{name, e, bulk}
}

// Name returns the name given to NewLocal.
func (l *Local) Name() string { return l.name }

// Dim returns the number of dimensions of a vector.
func (l *Local) Dim() int { return l.enc.Dim() }

// MaxTokens returns the maximum length of a text, including the two tokens that frame it ([CLS] and [SEP]).
func (l *Local) MaxTokens() int { return l.enc.MaxTokens() }

// Fingerprint returns the fingerprint of the weights, the tokenizer and the pooling.
func (l *Local) Fingerprint() string { return l.enc.Fingerprint() }

// Split implements Splitter. It cuts at white space where it can.
func (l *Local) Split(text string) (pieces []string, tokens []int) {
	for _, w := range l.enc.Split(text) {
		pieces, tokens = append(pieces, w.Text), append(tokens, w.Tokens)
	}
	return pieces, tokens
}

// Encode encodes a single short text immediately. Anything else is bulk work: it is spread over the cores and takes them text by text,
// in turn with that of others, wherever nothing else wants them.
func (l *Local) Encode(ctx context.Context, _ Kind, texts []string, out [][]float32) error {
	if len(out) < len(texts) {
		return fmt.Errorf("encode %d texts: room for %d vectors", len(texts), len(out))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(texts) == 1 && len(texts[0]) <= urgentBytes {
		return l.enc.Encode(texts[0], false, out[0])
	}
	return l.each(ctx, len(texts), func(i int, yield bool) error { return l.enc.Encode(texts[i], yield, out[i]) })
}

// States implements Reader. It spreads the texts over the cores as Encode does.
func (l *Local) States(ctx context.Context, texts []string) ([]States, error) {
	out := make([]States, len(texts))
	err := l.each(ctx, len(texts), func(i int, yield bool) (err error) {
		out[i], err = l.enc.States(texts[i], yield)
		return err
	})
	return out, err
}

// each calls do for 0 to n-1 as bulk work. It stops at the first error and returns it.
func (l *Local) each(ctx context.Context, n int, do func(i int, yield bool) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, background.Cores()) {
		group.Go(func() (err error) {
			for i := next.Add(1) - 1; i < int64(n) && err == nil; i = next.Add(1) - 1 {
				waited := l.bulk.Do(ctx, func(yield bool) { err = do(int(i), yield) })
				err = cmp.Or(err, waited)
			}
			return err
		})
	}
	return group.Wait()
}
