// Package encode is a sentence encoder: text in, unit vector out. It reads a checkpoint folder in the hub's layout or
// a packed int8 file (see packed.go), tokenizes, runs a BERT-family model and pools. It is not a registry, does not
// schedule work and knows no corpus: package embed does that and calls it; so does the command that converts a folder.
package encode

import (
	"fmt"
	"runtime"
	"unicode/utf8"

	"quarry/internal/encode/tokenizer"
)

// Encoder is a model with its tokenizer. It is safe for concurrent use.
type Encoder struct {
	model       *model
	words       *tokenizer.WordPiece
	vocabulary  string
	maxTokens   int
	fingerprint string
	meta        Meta
	idle        chan *worker // kept between calls: one has about 4 MB
}

// worker is what one goroutine needs to encode.
type worker struct {
	scratch *scratch
	words   *tokenizer.Words
	ids     []int32
}

func newEncoder(m *model, vocabulary string, maxTokens int) (*Encoder, error) {
	words, err := tokenizer.New(vocabulary)
	if err != nil {
		return nil, err
	}
	if words.Size() > m.config.Vocab {
		return nil, fmt.Errorf("the vocabulary holds %d pieces, the model %d", words.Size(), m.config.Vocab)
	}
	if maxTokens < 2 || maxTokens > m.config.Positions {
		return nil, fmt.Errorf("a maximum of %d tokens, want 2 to %d", maxTokens, m.config.Positions)
	}
	idle := make(chan *worker, runtime.GOMAXPROCS(0))
	return &Encoder{model: m, words: words, vocabulary: vocabulary, maxTokens: maxTokens, idle: idle}, nil
}

func (e *Encoder) acquire() *worker {
	select {
	case w := <-e.idle:
		return w
	default:
		return &worker{scratch: e.model.newScratch(e.maxTokens), words: e.words.NewWords()}
	}
}

func (e *Encoder) release(w *worker) {
	select {
	case e.idle <- w:
	default: // as many as cores are kept already
	}
}

// Dim is the length of a vector.
func (e *Encoder) Dim() int { return e.model.config.Hidden }

// MaxTokens is the number of tokens, [CLS] and [SEP] included, beyond which a text is cut off.
func (e *Encoder) MaxTokens() int { return e.maxTokens }

// Fingerprint is a sha256 in hex over all that a vector depends on: weights, tokenizer, pooling and precision. A
// folder opened in int8 has the fingerprint of the file that Convert makes of it.
func (e *Encoder) Fingerprint() string { return e.fingerprint }

// Meta says where the model came from; it is zero for a folder.
func (e *Encoder) Meta() Meta { return e.meta }

// Vocabulary is the tokenizer's pieces, one per line.
func (e *Encoder) Vocabulary() string { return e.vocabulary }

// Tokens gives the ids that Encode runs for text, [CLS] and [SEP] included.
func (e *Encoder) Tokens(text string) []int32 {
	w := e.acquire()
	defer e.release(w)
	return w.words.Encode(nil, text, e.maxTokens)
}

// Encode writes the unit vector of text to out, which is Dim long; what exceeds MaxTokens is cut off. Every text has
// a vector, the empty one too. A polite call gives way to other goroutines between layers: bulk work asks for that.
func (e *Encoder) Encode(text string, polite bool, out []float32) error {
	w := e.acquire()
	defer e.release(w)
	w.ids = w.words.Encode(w.ids[:0], text, e.maxTokens)
	return e.run(w, polite, out)
}

// EncodeTokens is Encode for ids instead of a text. Ids outside the vocabulary are an error.
func (e *Encoder) EncodeTokens(ids []int32, out []float32) error {
	w := e.acquire()
	defer e.release(w)
	w.ids = append(w.ids[:0], ids...)
	return e.run(w, false, out)
}

func (e *Encoder) run(w *worker, polite bool, out []float32) error {
	if len(out) != e.Dim() {
		return fmt.Errorf("encode: a vector of %d values, want %d", len(out), e.Dim())
	}
	w.scratch.polite = polite
	if err := e.model.vector(w.scratch, w.ids, out); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return nil
}

// Window is a piece of a text that fits MaxTokens.
type Window struct {
	Text   string
	Tokens int // without [CLS] and [SEP]
}

// Split cuts text into consecutive windows that fit MaxTokens, at white space where there is any within reach. A text
// that fits is one window. Together the windows hold all of text but white space.
func (e *Encoder) Split(text string) []Window {
	w := e.acquire()
	defer e.release(w)
	room := e.maxTokens - 2
	if n := w.words.Count(text, room+1); n <= room {
		return []Window{{text, n}}
	}
	s := splitter{text: text, room: room, words: w.words}
	for start, i := -1, 0; i <= len(text); i++ {
		blank := i == len(text) || text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r'
		switch {
		case blank && start >= 0:
			s.field(start, i)
			start = -1
		case !blank && start < 0:
			start = i
		}
	}
	return s.close()
}

// splitter gathers fields into windows.
type splitter struct {
	text       string
	room       int
	words      *tokenizer.Words
	start, end int // of the open window
	tokens     int // in it
	done       []Window
}

// field takes in text[from:to], which holds no blank, halving it while it is too long for a window by itself.
func (s *splitter) field(from, to int) {
	n := s.words.Count(s.text[from:to], s.room+1)
	if n > s.room {
		mid := from + (to-from)/2
		for mid > from && !utf8.RuneStart(s.text[mid]) {
			mid--
		}
		if mid > from {
			s.field(from, mid)
			s.field(mid, to)
			return
		}
		n = s.room // a single rune of more tokens than a window: Encode cuts it off
	}
	if s.tokens+n > s.room {
		s.done = append(s.done, Window{s.text[s.start:s.end], s.tokens})
		s.start, s.tokens = from, 0
	}
	s.end, s.tokens = to, s.tokens+n
}

func (s *splitter) close() []Window {
	return append(s.done, Window{s.text[s.start:s.end], s.tokens})
}
