package embed

import (
	"context"
	"fmt"
	"math"
)

// maxWindows is the number of windows that the vector of a text is made of: about 64 kB of prose. The mean of more
// hardly moves, and each takes as long as a short text.
const maxWindows = 64

// EncodeLong is Encode for texts of any length, without truncation. A text longer than MaxTokens is split into windows;
// its vector is the mean of their vectors, weighted by their numbers of tokens and scaled to unit length. Of more than
// maxWindows, as many are taken at even distances. A text that fits has the same vector as with Encode. If e is not a
// Splitter, EncodeLong is Encode.
func EncodeLong(ctx context.Context, e Encoder, kind Kind, texts []string, out [][]float32) error {
	s, ok := e.(Splitter)
	if !ok || (len(texts) == 1 && len(texts[0]) < e.MaxTokens()-2) { // a token covers at least one byte, so it fits
		return e.Encode(ctx, kind, texts, out)
	}
	if len(out) < len(texts) {
		return fmt.Errorf("encode %d texts: room for %d vectors", len(texts), len(out))
	}
	var (
		pieces []string
		into   [][]float32
		long   []window
	)
	for i, text := range texts {
		split, tokens := spread(s.Split(text))
		for j, p := range split {
			v := out[i]
			if len(split) > 1 {
				v = make([]float32, e.Dim())
				long = append(long, window{text: i, tokens: tokens[j], vector: v})
			}
			pieces, into = append(pieces, p), append(into, v)
		}
	}
	if err := e.Encode(ctx, kind, pieces, into); err != nil {
		return err
	}
	return pool(long, out)
}

// spread returns maxWindows of the pieces of a text, at even distances; all if there are no more.
func spread(pieces []string, tokens []int) ([]string, []int) {
	n := len(pieces)
	if n <= maxWindows {
		return pieces, tokens
	}
	for i := range maxWindows {
		pieces[i], tokens[i] = pieces[i*n/maxWindows], tokens[i*n/maxWindows]
	}
	return pieces[:maxWindows], tokens[:maxWindows]
}

// window is the vector of a piece of a text; text is the index of that text.
type window struct {
	text, tokens int
	vector       []float32
}

// pool writes the weighted mean of the windows of each text to out. The windows of a text must be adjacent.
func pool(windows []window, out [][]float32) error {
	for i := 0; i < len(windows); {
		v := out[windows[i].text]
		clear(v)
		text := windows[i].text
		for ; i < len(windows) && windows[i].text == text; i++ {
			weight := float32(max(1, windows[i].tokens))
			for j, x := range windows[i].vector {
				v[j] += weight * x
			}
		}
		if !normalize(v) {
			return fmt.Errorf("encode text %d: its windows cancel out", text)
		}
	}
	return nil
}

// normalize scales v to unit length. It reports false, and leaves v as it is, if v is (nearly) zero or not finite and
// so has no direction.
func normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 1e-30) || math.IsInf(sum, 0) {
		return false
	}
	k := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= k
	}
	return true
}
