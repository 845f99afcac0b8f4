package encode

import (
	"fmt"

	"quarry/internal/encode/kernel"
)

// States holds the output of the model for each token of a text, without [CLS] and [SEP].
type States struct {
	Pieces []string  // as in the vocabulary, where a piece that continues a word begins with "##"
	Rows   []float32 // a unit vector of Dim values per piece
	Vector []float32 // of the whole text, as Encode returns it
}

// States returns the states of text, truncated to MaxTokens. For polite see Encode.
func (e *Encoder) States(text string, polite bool) (States, error) {
	w := e.acquire()
	defer e.release(w)
	w.ids = w.words.Encode(w.ids[:0], text, e.maxTokens)
	w.scratch.polite = polite
	x, err := e.model.states(w.scratch, w.ids)
	if err != nil {
		return States{}, fmt.Errorf("encode: %w", err)
	}
	h, n := e.Dim(), len(w.ids)-2
	s := States{Pieces: make([]string, n), Rows: make([]float32, n*h), Vector: make([]float32, h)}
	if err := e.model.pool(x, s.Vector); err != nil {
		return States{}, fmt.Errorf("encode: %w", err)
	}
	copy(s.Rows, x[h:(n+1)*h])
	for i, id := range w.ids[1 : n+1] {
		s.Pieces[i] = e.words.Piece(id)
		if !kernel.Normalize(s.Rows[i*h : (i+1)*h]) {
			return States{}, fmt.Errorf("encode: %w", errNoDirection)
		}
	}
	return s, nil
}
