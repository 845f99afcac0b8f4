package documenttest

import (
	"context"
	"sync"

	"quarry/internal/embed"
)

// Encoder is an encoder and its registry: it encodes every text as the same vector and records the calls. Err and
// Then may be set before use. Safe for concurrent use.
type Encoder struct {
	embed.Encoder // nil: the rest is not asked for
	Err           error
	Then          func() // called after every call of Encode, when not nil

	mu      sync.Mutex
	texts   []string
	kinds   []embed.Kind
	largest int
}

// Get returns the encoder under every name.
func (e *Encoder) Get(string) (embed.Encoder, error) { return e, nil }

// Dim implements embed.Encoder.
func (e *Encoder) Dim() int { return 4 }

// MaxTokens implements embed.Encoder.
func (e *Encoder) MaxTokens() int { return 256 }

// Fingerprint implements embed.Encoder.
func (e *Encoder) Fingerprint() string { return "" }

// Encode implements embed.Encoder.
func (e *Encoder) Encode(ctx context.Context, kind embed.Kind, texts []string, out [][]float32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.texts = append(e.texts, texts...)
	e.kinds = append(e.kinds, kind)
	e.largest = max(e.largest, len(texts))
	if e.Then != nil {
		defer e.Then()
	}
	for i := range texts {
		copy(out[i], []float32{1, 0, 0, 0})
	}
	if e.Err != nil {
		return e.Err
	}
	return ctx.Err()
}

// Asked returns the texts encoded so far, the kind of the last call and the size of the largest.
func (e *Encoder) Asked() (texts []string, kind embed.Kind, largest int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.kinds); n > 0 {
		kind = e.kinds[n-1]
	}
	return append([]string(nil), e.texts...), kind, e.largest
}
