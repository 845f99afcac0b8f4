package embed

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"quarry/internal/encode"
)

// urgentBytes is the length up to which a single text is taken for a query and bypasses the gate: about 100 tokens,
// a few milliseconds on one core.
const urgentBytes = 512

// Gate is a semaphore for the bulk work of all encoders that share it. Bulk work yields between layers, so a query
// waits for a core no longer than one layer takes.
type Gate chan struct{}

// NewGate returns a gate that admits as many texts at a time as this process has cores (GOMAXPROCS).
func NewGate() Gate { return make(Gate, runtime.GOMAXPROCS(0)) }

func (g Gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g Gate) leave() { <-g }

// Local is an encoder that runs in this process.
type Local struct {
	name string
	enc  *encode.Encoder
	gate Gate
}

// NewLocal returns e as an Encoder with the given name. Encoders that share a gate share the cores.
func NewLocal(name string, e *encode.Encoder, g Gate) *Local { return &Local{name, e, g} }

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

// Encode encodes a single short text immediately. Anything else is bulk work: it is spread over the cores, passes the
// gate one text at a time, and yields to other goroutines.
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
	return l.each(ctx, len(texts), func(i int) error { return l.enc.Encode(texts[i], true, out[i]) })
}

// States implements Reader. It spreads the texts over the cores as Encode does.
func (l *Local) States(ctx context.Context, texts []string) ([]States, error) {
	out := make([]States, len(texts))
	err := l.each(ctx, len(texts), func(i int) (err error) {
		out[i], err = l.enc.States(texts[i], true)
		return err
	})
	return out, err
}

// each calls do for 0 to n-1 as bulk work on as many goroutines as the gate admits. It stops at the first error and
// returns it.
func (l *Local) each(ctx context.Context, n int, do func(i int) error) error {
	var (
		next    atomic.Int64
		first   = make(chan error, 1)
		workers sync.WaitGroup
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range min(n, cap(l.gate)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := l.bulk(ctx, func() error { return do(int(i)) }); err != nil {
					select {
					case first <- err:
					default: // another text failed first
					}
					cancel()
					return
				}
			}
		})
	}
	workers.Wait()
	select {
	case err := <-first:
		return err
	default:
		return nil
	}
}

func (l *Local) bulk(ctx context.Context, do func() error) error {
	if err := l.gate.enter(ctx); err != nil {
		return err
	}
	defer l.gate.leave()
	if err := ctx.Err(); err != nil { // select may prefer the gate although ctx is done
		return err
	}
	return do()
}
