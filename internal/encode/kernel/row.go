package kernel

import "quarry/internal/cpu"

// Gelu applies GELU in its exact form, x·Φ(x), in place; len(x) must be a multiple of 16.
func Gelu(x []float32) {
	if p := cpu.Current(); p != cpu.Portable {
		geluVec(p, x)
		return
	}
	geluPortable(x)
}

// Norm is a LayerNorm (Ba et al. 2016): gain and shift per column, and the epsilon that is added to the variance.
type Norm struct {
	Gain, Shift []float32
	Eps         float32
}

// Add writes the normalised sum of x and r to out, which may be x. The length must be a multiple of 16.
func (n *Norm) Add(x, r, out []float32) {
	if p := cpu.Current(); p != cpu.Portable {
		addNorm(p, n, x, r, out)
		return
	}
	n.addPortable(x, r, out)
}

// Head is an attention head for a sequence: Tokens rows of Dim columns in each of Q, K and V, which are parts of a matrix
// with row stride Stride. Dim must be a multiple of 32, and Q must include the factor 1/√Dim. The matrix must have 16 rows
// more than the sequence, with any content.
type Head struct {
	Q, K, V             []float32
	Tokens, Dim, Stride int
}

// AttentionBuffer holds buffers for Attend. It is not safe for concurrent use.
type AttentionBuffer struct{ keys, scores []float32 }

// mostRows is the largest maxRows of any path.
const mostRows = 14

// NewAttentionBuffer returns buffers for sequences of up to tokens tokens and heads of up to dim columns.
func NewAttentionBuffer(tokens, dim int) *AttentionBuffer {
	n := roundUp(tokens)
	return &AttentionBuffer{keys: make([]float32, dim*n), scores: make([]float32, mostRows*n)}
}

func roundUp(n int) int { return (n + panel - 1) / panel * panel }

var zeros [panel]float32

// Attend writes softmax(Q·Kᵀ)·V to out (Vaswani et al. 2017), whose rows are stride values apart.
func (h *Head) Attend(out []float32, stride int, buf *AttentionBuffer) {
	p := cpu.Current()
	if p == cpu.Portable {
		h.attendPortable(out, stride, buf.scores)
		return
	}
	np := roundUp(h.Tokens)
	transpose(p, h, buf.keys, np)
	block := rowBlock(h.Tokens, maxRows(p))
	for i := 0; i < h.Tokens; i += block {
		r := min(block, h.Tokens-i)
		for j := 0; j < h.Tokens; j += panel {
			sgemm(p, r, gemmF32{k: h.Dim, a: &h.Q[i*h.Stride], lda: h.Stride, b: &buf.keys[j], ldb: np, c: &buf.scores[j], ldc: np, bias: &zeros[0]})
		}
		softmax(p, buf.scores, r, h.Tokens, np)
		for j := 0; j < h.Dim; j += panel {
			sgemm(p, r, gemmF32{k: h.Tokens, a: &buf.scores[0], lda: np, b: &h.V[j], ldb: h.Stride, c: &out[i*stride+j], ldc: stride, bias: &zeros[0]})
		}
	}
}
