package encode_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"quarry/internal/encode"
	"quarry/internal/encode/asset"
	"quarry/internal/encode/kernel"
)

func builtin(t testing.TB) *encode.Encoder {
	t.Helper()
	e, err := encode.Open(asset.MiniLM())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAssetOrigin proves that the file in the repository is the one that ORIGIN.md describes.
func TestAssetOrigin(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256(asset.MiniLM())
	origin, err := os.ReadFile("asset/ORIGIN.md")
	if err != nil {
		t.Fatal(err)
	}
	e := builtin(t)
	for what, want := range map[string]string{"file": hex.EncodeToString(sum[:]), "source": e.Meta().SourceSHA256, "licence": e.Meta().Licence} {
		if want == "" || !strings.Contains(string(origin), want) {
			t.Errorf("ORIGIN.md does not name the %s %q", what, want)
		}
	}
	if n := len(asset.MiniLM()); n > 30_000_000 {
		t.Errorf("the asset has %d bytes, at most 30 MB are allowed", n)
	}
}

// TestOpenRefusesDamage proves that a packed file that was cut, changed or is something else is refused, wherever the
// damage is.
func TestOpenRefusesDamage(t *testing.T) {
	t.Parallel()
	whole := asset.MiniLM()
	for _, n := range []int{0, 7, 15, 16, 40, 2000, len(whole) / 2, len(whole) - 1} {
		if _, err := encode.Open(whole[:n]); err == nil {
			t.Errorf("a file cut to %d bytes was accepted", n)
		}
	}
	for _, at := range []int{0, 9, 13, 20, 9000, len(whole) / 2, len(whole) - 1} {
		b := slices.Clone(whole)
		b[at] ^= 0x40
		if _, err := encode.Open(b); err == nil {
			t.Errorf("a file with byte %d changed was accepted", at)
		}
	}
}

// TestOpenAnywhere proves that a file gives the same vectors at any alignment.
func TestOpenAnywhere(t *testing.T) {
	t.Parallel()
	want := make([]float32, 384)
	if err := builtin(t).Encode("alignment", false, want); err != nil {
		t.Fatal(err)
	}
	for shift := range 4 {
		e, err := encode.Open(append(make([]byte, shift), asset.MiniLM()...)[shift:])
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, 384)
		if err := e.Encode("alignment", false, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("shift %d: other vectors", shift)
		}
	}
}

// TestEncodeTokensRefuses proves that ids outside the vocabulary, empty and overlong sequences are errors, not reads
// out of bounds.
func TestEncodeTokensRefuses(t *testing.T) {
	t.Parallel()
	e, out := builtin(t), make([]float32, 384)
	for name, ids := range map[string][]int32{
		"negative": {101, -1, 102}, "beyond": {101, 30522, 102}, "none": {}, "too many": make([]int32, 257),
	} {
		if err := e.EncodeTokens(ids, out); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := e.EncodeTokens([]int32{101, 30521, 102}, out); err != nil {
		t.Errorf("the last piece: %v", err)
	}
	if err := e.EncodeTokens([]int32{101, 102}, out[:383]); err == nil {
		t.Error("a vector of another length was accepted")
	}
}

// TestSplit proves that the windows of a text hold all its words in order, and that each fits.
func TestSplit(t *testing.T) {
	t.Parallel()
	e := builtin(t)
	for name, text := range map[string]string{
		"short": "one two", "empty": "", "words": strings.Repeat("alpha beta, gamma\n", 300),
		"chinese": strings.Repeat("中文没有空格", 200), "one word": strings.Repeat("x", 5000), "blank end": strings.Repeat(" y ", 400),
	} {
		var joined []string
		for _, w := range e.Split(text) {
			joined = append(joined, w.Text)
			if n := len(e.Tokens(w.Text)); n > e.MaxTokens() || n != w.Tokens+2 {
				t.Errorf("%s: a window of %d tokens, counted %d", name, n, w.Tokens)
			}
		}
		if got, want := squeeze(strings.Join(joined, " ")), squeeze(text); got != want {
			t.Errorf("%s: the windows hold %d letters, the text %d", name, len(got), len(want))
		}
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// TestLengths proves that a vector is finite and of unit length for inputs at the edges of the sequence length.
func TestLengths(t *testing.T) {
	t.Parallel()
	e, out := builtin(t), make([]float32, 384)
	for _, n := range []int{1, 2, 13, 127, 128, 129, 255, 256} {
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32(1000 + 37*i)
		}
		if err := e.EncodeTokens(ids, out); err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(float64(kernel.Dot(out, out)) - 1); !(d < 1e-5) {
			t.Errorf("%d tokens: squared length off by %g", n, d)
		}
	}
}

// Proves that words of one meaning have input vectors nearer to each other than to another word, so that they are those of
// the tokens asked for, and that what is no token is refused.
func TestEmbeddingIsOfTheToken(t *testing.T) {
	t.Parallel()
	e := builtin(t)
	of := func(word string) []float32 {
		out := make([]float32, e.Dim())
		if err := e.Embedding(e.Tokens(word)[1], out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	cosine := func(a, b []float32) float64 {
		var ab, aa, bb float64
		for i := range a {
			ab, aa, bb = ab+float64(a[i]*b[i]), aa+float64(a[i]*a[i]), bb+float64(b[i]*b[i])
		}
		return ab / math.Sqrt(aa*bb)
	}
	near, far := cosine(of("king"), of("queen")), cosine(of("king"), of("window"))
	if near < far+0.1 {
		t.Errorf("king is %.2f to queen and %.2f to window", near, far)
	}
	for _, id := range []int32{-1, int32(strings.Count(e.Vocabulary(), "\n") + 10)} {
		if err := e.Embedding(id, make([]float32, e.Dim())); err == nil {
			t.Errorf("token %d has an embedding", id)
		}
	}
	if err := e.Embedding(5, make([]float32, 3)); err == nil {
		t.Error("a vector of three values was accepted")
	}
}
