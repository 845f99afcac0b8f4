// Package encode implements sentence encoders that map a text to a unit vector: a BERT model (Devlin et al. 2019) whose
// token outputs are averaged (Reimers and Gurevych, "Sentence-BERT", 2019). It reads checkpoint folders in the layout of
// the Hugging Face hub and packed int8 files (packed.go). Package embed is the registry of encoders and schedules their
// work.
package encode

import (
	"fmt"
	"runtime"
	"unicode/utf8"

	"quarry/internal/encode/tokenizer"
)

// Encoder is a model and its tokenizer. It is safe for concurrent use.
type Encoder struct {
	model       *model
	words       *tokenizer.WordPiece
	vocabulary  string
	maxTokens   int
	fingerprint string
	meta        Meta
	idle        chan *worker // kept for later calls, since each has about 4 MB of buffers
}

// worker holds the buffers for encoding on one goroutine.
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
	idle := make(chan *worker, 2*runtime.GOMAXPROCS(0)) // a question may be encoded on each core that bulk work has
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
	default: // as many as may run at once are kept already
	}
}

// Dim returns the number of dimensions of a vector.
func (e *Encoder) Dim() int { return e.model.config.Hidden }

// MaxTokens returns the number of tokens, including [CLS] and [SEP], to which a text is truncated.
func (e *Encoder) MaxTokens() int { return e.maxTokens }

// Fingerprint returns a SHA-256 in hex of everything that a vector depends on: weights, tokenizer, pooling and precision. A
// folder opened with Int8 has the same fingerprint as the file that Convert writes for it.
func (e *Encoder) Fingerprint() string { return e.fingerprint }

// Meta returns the origin of the model, which is zero for a folder.
func (e *Encoder) Meta() Meta { return e.meta }

// Vocabulary returns the tokenizer's pieces, one per line.
func (e *Encoder) Vocabulary() string { return e.vocabulary }

// Tokens returns the token ids of text, truncated to MaxTokens, including [CLS] and [SEP].
func (e *Encoder) Tokens(text string) []int32 {
	w := e.acquire()
	defer e.release(w)
	return w.words.Encode(nil, text, e.maxTokens)
}

// Encode writes the unit vector of text, truncated to MaxTokens, to out, which must be Dim long. Every text has a vector,
// even the empty one. A polite call, for bulk work, yields to other goroutines between layers.
func (e *Encoder) Encode(text string, polite bool, out []float32) error {
	w := e.acquire()
	defer e.release(w)
	w.ids = w.words.Encode(w.ids[:0], text, e.maxTokens)
	return e.run(w, polite, out)
}

// EncodeTokens is Encode for token ids. Ids outside the vocabulary are an error.
func (e *Encoder) EncodeTokens(ids []int32, out []float32) error {
	w := e.acquire()
	defer e.release(w)
	w.ids = append(w.ids[:0], ids...)
	return e.run(w, false, out)
}

// Embedding writes the input vector of a token id, without a position, to out, which must be Dim long. An id outside the
// vocabulary is an error.
func (e *Encoder) Embedding(id int32, out []float32) error {
	if id < 0 || int(id) >= e.model.config.Vocab || len(out) != e.Dim() {
		return fmt.Errorf("embedding of token %d in %d values: want an id below %d, %d values", id, len(out), e.model.config.Vocab, e.Dim())
	}
	e.model.lookUp(id, out)
	return nil
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

// Split splits text into consecutive windows that fit MaxTokens, at white space unless a single word is too long. A text
// that fits is one window. Only white space is left out between windows.
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

// splitter joins the words of a text to windows.
type splitter struct {
	text       string
	room       int
	words      *tokenizer.Words
	start, end int // of the open window, in bytes
	tokens     int // of the open window
	done       []Window
}

// field adds text[from:to], which has no white space, halving it as long as it does not fit a window by itself.
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
		n = s.room // a single rune with more tokens than a window, which Encode truncates
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
