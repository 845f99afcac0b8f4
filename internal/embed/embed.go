// Package embed is the registry of the sentence encoders of this process: the interface through which every package
// encodes, the encoders by name, and the scheduling that keeps bulk work from starving queries. The models and their
// arithmetic are in package encode. It neither stores nor searches vectors.
package embed

import (
	"context"

	"quarry/internal/encode"
)

// Kind is the role of a text in a search. Symmetric encoders, such as the embedded one, ignore it.
type Kind int

// The kinds.
const (
	Passage  Kind = iota // a text of a document
	Question             // a query
	Answer               // what a query is compared with: passages, unless the corpus holds questions
)

// Encoder turns texts into vectors of unit length. It is safe for concurrent use.
type Encoder interface {
	// Name returns the name that it is registered under.
	Name() string
	// Dim returns the number of dimensions of a vector.
	Dim() int
	// MaxTokens returns the length, in the encoder's own tokens, to which Encode truncates a text.
	MaxTokens() int
	// Fingerprint returns a SHA-256 in hex of everything that a vector depends on. Vectors are comparable only when the
	// fingerprints of their encoders are equal.
	Fingerprint() string
	// Encode writes the vector of texts[i] to out[i], which must be Dim long. Every text has a vector, even the empty
	// one. It checks ctx between texts and returns its error once ctx is done; out is undefined after an error.
	Encode(ctx context.Context, kind Kind, texts []string, out [][]float32) error
}

// Splitter is an Encoder that can split a long text into windows, none of which it would truncate.
type Splitter interface {
	// Split returns consecutive pieces of text that fit MaxTokens, with their numbers of tokens. A text that fits is
	// one piece.
	Split(text string) (pieces []string, tokens []int)
}

// States holds an encoder's output for each token of a text and the vector of the whole text.
type States = encode.States

// Reader is an Encoder that can also return its output for each token, for comparing texts word by word.
type Reader interface {
	Encoder
	// States returns the states of each text, truncated to MaxTokens. It is bulk work, one text at a time, to which
	// queries are preferred. It checks ctx between texts and returns its error once ctx is done.
	States(ctx context.Context, texts []string) ([]States, error)
}
