// Package embed holds the sentence encoders of this process: the interface everyone encodes through, a registry by
// name, and the scheduling that keeps bulk work from starving queries. Packages corpus, ingest, replica and retrieve
// call it; the arithmetic is in package encode. It stores no vectors and searches none.
package embed

import (
	"context"

	"quarry/internal/encode"
)

// Kind says what a text is to the search. Symmetric encoders, such as the embedded one, ignore it.
type Kind int

// The kinds.
const (
	Passage  Kind = iota // a text as it stands in a document
	Question             // what is asked
	Answer               // what answers: passages, unless the corpus holds questions
)

// Encoder turns texts into vectors of unit length. It is safe for concurrent use.
type Encoder interface {
	// Name is the name it is registered under.
	Name() string
	// Dim is the length of a vector.
	Dim() int
	// MaxTokens is the length, in the encoder's own tokens, beyond which Encode cuts a text off.
	MaxTokens() int
	// Fingerprint is a sha256 in hex over all that a vector depends on. Vectors are comparable only when the
	// fingerprints of their encoders are equal.
	Fingerprint() string
	// Encode writes the vector of texts[i] to out[i], which is Dim long. Every text has a vector, the empty one too.
	// It looks at ctx between texts and gives its error when it is done; out is undefined then.
	Encode(ctx context.Context, kind Kind, texts []string, out [][]float32) error
}

// Splitter is an Encoder that can say where a long text must be cut so that nothing of it is cut off.
type Splitter interface {
	// Split gives consecutive pieces of text that fit MaxTokens, with their numbers of tokens; a text that fits is
	// one piece.
	Split(text string) (pieces []string, tokens []int)
}

// States is what an encoder makes of each token of a text, with the vector of the whole.
type States = encode.States

// Reader is an Encoder that can give the states of the tokens, for those that compare texts word by word.
type Reader interface {
	Encoder
	// States gives what it makes of each text. What a text has beyond MaxTokens is cut off. All of it is bulk work: a
	// text at a time, behind queries. It looks at ctx between texts and gives its error when it is done.
	States(ctx context.Context, texts []string) ([]States, error)
}
