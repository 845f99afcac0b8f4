package encode

import (
	"errors"
	"fmt"
	"runtime"

	"quarry/internal/encode/kernel"
)

// dense is a linear layer, with weights q if quantised, else f.
type dense struct {
	f *kernel.MatF32
	q *kernel.MatI8
}

// layer is a layer of the transformer.
type layer struct {
	qkv, out, up, down dense // the query part of qkv includes the attention's factor 1/√d
	norm1, norm2       kernel.Norm
}

// model is a BERT model. It is immutable after loading and safe for concurrent use; each goroutine needs its own scratch.
type model struct {
	config Config

	word      []float32 // fp32 embedding table, or
	wordQ     []int8    // int8 rows with
	wordScale []float32 // one scale per row
	pos       []float32 // positions with token type 0 added
	norm      kernel.Norm
	layers    []layer
}

// rowBlock is the number of rows that pass through a linear layer together, so that the activations of the feed-forward
// layer fit the L2 cache.
const rowBlock = 128

// attentionPad is the number of rows after a sequence that attention may read.
const attentionPad = 16

// scratch holds the buffers of one forward pass.
type scratch struct {
	tokens         int
	x, qkv, att, y []float32
	up             []float32
	levels         *kernel.Levels
	attention      *kernel.AttentionBuffer
	polite         bool // yield to other goroutines between layers
}

func (m *model) newScratch(tokens int) *scratch {
	h, t := m.config.Hidden, tokens+attentionPad
	return &scratch{
		tokens: tokens,
		x:      make([]float32, t*h), qkv: make([]float32, t*3*h), att: make([]float32, t*h), y: make([]float32, t*h),
		up:        make([]float32, rowBlock*m.config.FFN),
		levels:    kernel.NewLevels(rowBlock, max(h, m.config.FFN)),
		attention: kernel.NewAttentionBuffer(tokens, h/m.config.Heads),
	}
}

var errNoDirection = errors.New("the vector is zero or not finite")

// states runs the model on a sequence and returns the last hidden state, a row per token, which is valid until s is used
// again.
func (m *model) states(s *scratch, ids []int32) ([]float32, error) {
	if err := m.embed(s, ids); err != nil {
		return nil, err
	}
	h, total := m.config.Hidden, len(ids)
	blocks := (total + rowBlock - 1) / rowBlock
	step := (total + blocks - 1) / blocks
	for i := range m.layers {
		l := &m.layers[i]
		for r := 0; r < total; r += step {
			l.qkv.run(s, min(step, total-r), s.x[r*h:], s.qkv[r*3*h:])
		}
		m.attend(s, total)
		for r := 0; r < total; r += step {
			m.feedForward(s, l, r, min(step, total-r))
		}
		if s.polite {
			runtime.Gosched()
		}
	}
	return s.x[:total*h], nil
}

func (m *model) embed(s *scratch, ids []int32) error {
	if len(ids) == 0 || len(ids) > s.tokens {
		return fmt.Errorf("a sequence of %d tokens, want 1 to %d", len(ids), s.tokens)
	}
	h := m.config.Hidden
	for p, id := range ids {
		if id < 0 || int(id) >= m.config.Vocab {
			return fmt.Errorf("token id %d is outside the vocabulary of %d", id, m.config.Vocab)
		}
		x := s.x[p*h : (p+1)*h]
		m.lookUp(id, x)
		m.norm.Add(x, m.pos[p*h:(p+1)*h], x)
	}
	return nil
}

// lookUp writes the row of the embedding table for a token id, which is in the vocabulary, to x.
func (m *model) lookUp(id int32, x []float32) {
	at := int(id) * m.config.Hidden
	if m.wordQ == nil {
		copy(x, m.word[at:])
		return
	}
	scale := m.wordScale[id]
	for i, v := range m.wordQ[at : at+len(x)] {
		x[i] = float32(v) * scale
	}
}

func (m *model) attend(s *scratch, tokens int) {
	h, d := m.config.Hidden, m.config.Hidden/m.config.Heads
	for c := 0; c < h; c += d {
		head := kernel.Head{Q: s.qkv[c:], K: s.qkv[h+c:], V: s.qkv[2*h+c:], Tokens: tokens, Dim: d, Stride: 3 * h}
		head.Attend(s.att[c:], h, s.attention)
	}
}

// feedForward computes the part of a layer after the attention, for n rows from row r on.
func (m *model) feedForward(s *scratch, l *layer, r, n int) {
	h, f := m.config.Hidden, m.config.FFN
	x, y := s.x[r*h:(r+n)*h], s.y[r*h:(r+n)*h]
	l.out.run(s, n, s.att[r*h:], y)
	for i := 0; i < len(x); i += h {
		l.norm1.Add(x[i:i+h], y[i:i+h], x[i:i+h])
	}
	l.up.run(s, n, x, s.up)
	if l.down.q != nil {
		s.levels.Reset(f)
		for i := range n {
			s.levels.QuantiseGelu(i, s.up[i*f:(i+1)*f])
		}
		l.down.q.Mul(n, s.levels, y, h)
	} else {
		kernel.Gelu(s.up[:n*f])
		l.down.f.Mul(n, s.up, y, h)
	}
	for i := 0; i < len(x); i += h {
		l.norm2.Add(x[i:i+h], y[i:i+h], x[i:i+h])
	}
}

// run writes x·Wᵀ + b to y for rows rows. If the weights are int8, the rows of x are quantised first.
func (d dense) run(s *scratch, rows int, x, y []float32) {
	if d.q == nil {
		d.f.Mul(rows, x, y, d.f.N)
		return
	}
	k := d.q.K
	s.levels.Reset(k)
	for i := range rows {
		s.levels.Quantise(i, x[i*k:(i+1)*k])
	}
	d.q.Mul(rows, s.levels, y, d.q.N)
}

// vector runs the model on a sequence and writes the mean of the token states, scaled to unit length, to out.
func (m *model) vector(s *scratch, ids []int32, out []float32) error {
	x, err := m.states(s, ids)
	if err != nil {
		return err
	}
	return m.pool(x, out)
}

// pool writes the mean of the rows of x, scaled to unit length, to out.
func (m *model) pool(x, out []float32) error {
	h := m.config.Hidden
	clear(out)
	for ; len(x) > 0; x = x[h:] {
		for i, v := range x[:h] {
			out[i] += v
		}
	}
	if !kernel.Normalize(out) {
		return errNoDirection
	}
	return nil
}
