package encode

import (
	"fmt"

	"quarry/internal/encode/kernel"
)

// States is what the model makes of each token of a text, without the [CLS] and [SEP] that frame it.
type States struct {
	Pieces []string  // as in the vocabulary: one that goes on with a word begins with "##"
	Rows   []float32 // a row of Dim values and length 1 per piece
	Vector []float32 // of the whole text, as Encode gives it
}

// States is Encode with the state of each token beside the vector. What exceeds MaxTokens is cut off.
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
