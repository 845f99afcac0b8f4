package data

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"quarry/internal/encode"
)

// Vectors are rows of floats, one after another.
type Vectors struct {
	Dim    int
	Values []float32
}

// New returns n rows of zeros.
func New(n, dim int) Vectors { return Vectors{dim, make([]float32, n*dim)} }

// Len returns the number of rows.
func (v Vectors) Len() int { return len(v.Values) / v.Dim }

// Row returns row i.
func (v Vectors) Row(i int) []float32 { return v.Values[i*v.Dim : (i+1)*v.Dim] }

// Pick returns some of the rows.
func (v Vectors) Pick(rows []int) Vectors {
	out := New(len(rows), v.Dim)
	for i, r := range rows {
		copy(out.Row(i), v.Row(r))
	}
	return out
}

// rarity is the parameter a of the weight a/(a+p) of a token whose share of all tokens is p: Arora, Liang and Ma, "A
// simple but tough-to-beat baseline for sentence embeddings" (ICLR 2017).
const rarity = 1e-3

// Static is the encoder without its layers: the vector of a text is the weighted mean of the input vectors of its tokens,
// less the mean of all passages, at unit length.
type Static struct {
	encoder *encode.Encoder
	weight  []float32 // by token
	mean    []float64
}

// NewStatic returns the vectors of texts, and what makes those of queries.
func NewStatic(e *encode.Encoder, texts []string) (*Static, Vectors, error) {
	s := &Static{encoder: e, mean: make([]float64, e.Dim())}
	tokens := make([][]int32, len(texts))
	_ = each(len(texts), func(i int) error { // tokens have no errors
		tokens[i] = e.Tokens(texts[i])
		return nil
	})
	s.weigh(tokens)
	out := New(len(texts), e.Dim())
	err := each(len(texts), func(i int) error { return s.add(tokens[i], out.Row(i)) })
	if err != nil {
		return nil, out, err
	}
	for i := range out.Len() { // in one order, so that every run has the same sums
		for j, x := range out.Row(i) {
			s.mean[j] += float64(x) / float64(out.Len())
		}
	}
	return s, out, each(out.Len(), func(i int) error { return s.finish(out.Row(i)) })
}

// weigh sets the weights of tokens by how frequent they are.
func (s *Static) weigh(tokens [][]int32) {
	var counts []int
	all := 0
	for _, some := range tokens {
		for _, t := range inner(some) {
			for int(t) >= len(counts) {
				counts = append(counts, make([]int, int(t)+1-len(counts))...)
			}
			counts[t]++
			all++
		}
	}
	s.weight = make([]float32, len(counts))
	for t, n := range counts {
		s.weight[t] = float32(rarity / (rarity + float64(n)/float64(max(1, all))))
	}
}

// inner returns tokens without the two that frame a text.
func inner(tokens []int32) []int32 { return tokens[1 : len(tokens)-1] }

// add adds the weighted mean of tokens to out, which is zero.
func (s *Static) add(tokens []int32, out []float32) error {
	row := make([]float32, len(out))
	some := inner(tokens)
	for _, t := range some {
		if err := s.encoder.Embedding(t, row); err != nil {
			return err
		}
		w := float32(1)
		if int(t) < len(s.weight) {
			w = s.weight[t]
		}
		w /= float32(len(some))
		for i, x := range row {
			out[i] += w * x
		}
	}
	return nil
}

// finish takes the mean away and brings the row to unit length.
func (s *Static) finish(row []float32) error {
	for i := range row {
		row[i] -= float32(s.mean[i])
	}
	return unit(row)
}

// Of returns the vectors of other texts, with weights and mean of the passages.
func (s *Static) Of(texts []string) (Vectors, error) {
	out := New(len(texts), s.encoder.Dim())
	return out, each(len(texts), func(i int) error {
		if err := s.add(s.encoder.Tokens(texts[i]), out.Row(i)); err != nil {
			return err
		}
		return s.finish(out.Row(i))
	})
}

// unit brings a row to unit length.
func unit(row []float32) error {
	var sum float64
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return fmt.Errorf("a vector is zero")
	}
	f := float32(1 / math.Sqrt(sum))
	for i := range row {
		row[i] *= f
	}
	return nil
}

// each calls do for all i below n, on all cores, and returns an error of one of them.
func each(n int, do func(i int) error) error {
	var next atomic.Int64
	var group errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
