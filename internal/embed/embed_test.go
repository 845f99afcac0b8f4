package embed_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/background"
	"quarry/internal/embed"
	"quarry/internal/encode"
	"quarry/internal/encode/asset"
	"quarry/internal/fault"
)

var registry = sync.OnceValues(embed.NewRegistry)

func builtin(t testing.TB) embed.Encoder {
	t.Helper()
	r, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get("")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func room(n, dim int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, dim)
	}
	return out
}

func vectors(t testing.TB, e embed.Encoder, texts ...string) [][]float32 {
	t.Helper()
	out := room(len(texts), e.Dim())
	if err := e.Encode(t.Context(), embed.Passage, texts, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func dot(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// TestRegistryNames proves that both names of the contract and the empty name resolve to the embedded encoder, and the
// name to display for each.
func TestRegistryNames(t *testing.T) {
	t.Parallel()
	r, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	e := builtin(t)
	for asked, want := range map[string]string{"": "boomerang-2023-q3", "boomerang-2023-q3": "boomerang-2023-q3", "default-text-encoder": "default-text-encoder"} {
		shown, fingerprint, ok := r.Resolve(asked)
		if !ok || shown != want || fingerprint != e.Fingerprint() {
			t.Errorf("Resolve(%q) = %q, %q, %v", asked, shown, fingerprint, ok)
		}
	}
	if _, _, ok := r.Resolve("other"); ok {
		t.Error("Resolve found an encoder that is not there")
	}
	if _, err := r.Get("other"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("Get of an unknown name gave %v, want not found", err)
	}
	if e.Dim() != 384 || e.MaxTokens() != 256 || len(e.Fingerprint()) != 64 {
		t.Errorf("dim %d, max tokens %d, fingerprint %q", e.Dim(), e.MaxTokens(), e.Fingerprint())
	}
}

// TestRegistryAdd proves that a taken name and a folder without a model add nothing.
func TestRegistryAdd(t *testing.T) {
	t.Parallel()
	r, err := embed.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	enc, err := encode.Open(asset.MiniLM())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(embed.NewLocal("mine", enc, background.NewPool()), "default-text-encoder"); err == nil {
		t.Error("a taken alias was accepted")
	}
	if err := r.Add(embed.NewLocal("mine", enc, background.NewPool())); err != nil {
		t.Error(err)
	}
	want := []string{"boomerang-2023-q3", "default-text-encoder", "mine"}
	if diff := cmp.Diff(want, r.Names()); diff != "" {
		t.Errorf("Names (-want +got)\n%s", diff)
	}
}

// TestStates proves that the states come with the vector that Encode gives, a row of unit length for each piece of the
// text's words, and that a done context stops them.
func TestStates(t *testing.T) {
	t.Parallel()
	e := builtin(t).(embed.Reader)
	texts := []string{"The valve reopens.", "", strings.Repeat("word ", 600)}
	got, err := e.States(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"the", "valve", "reopens", "."}; !slices.Equal(join(got[0].Pieces), want) {
		t.Errorf("pieces are %v, want those of %v", got[0].Pieces, want)
	}
	for i, v := range vectors(t, e, texts...) {
		if !slices.Equal(v, got[i].Vector) {
			t.Errorf("text %d: another vector than Encode gives", i)
		}
		if len(got[i].Rows) != len(got[i].Pieces)*e.Dim() || len(got[i].Pieces) > e.MaxTokens()-2 {
			t.Errorf("text %d: %d values for %d pieces", i, len(got[i].Rows), len(got[i].Pieces))
		}
		for row := range slices.Chunk(got[i].Rows, e.Dim()) {
			if math.Abs(dot(row, row)-1) > 1e-4 {
				t.Fatalf("text %d: a row of squared length %g", i, dot(row, row))
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.States(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want canceled", err)
	}
}

// join joins pieces to words.
func join(pieces []string) (words []string) {
	for _, p := range pieces {
		if rest, ok := strings.CutPrefix(p, "##"); ok {
			words[len(words)-1] += rest
			continue
		}
		words = append(words, p)
	}
	return words
}

// TestMeaning proves that the passage that answers a question is the nearest to it.
func TestMeaning(t *testing.T) {
	t.Parallel()
	e := builtin(t)
	v := vectors(t, e, "How many people live in Berlin?",
		"Berlin has a population of 3.7 million registered inhabitants.",
		"Bread is baked from flour, water and yeast.",
		"The function returns a handle to the window.")
	for i := 2; i < len(v); i++ {
		if dot(v[0], v[1]) < dot(v[0], v[i])+0.3 {
			t.Errorf("the answer scores %.3f, passage %d %.3f", dot(v[0], v[1]), i, dot(v[0], v[i]))
		}
	}
}

// TestEveryTextHasAVector proves that a text's vector does not depend on what is encoded beside it, and that every text
// has a finite unit vector: empty, blank, control characters, emoji, one word of 5,000 letters.
func TestEveryTextHasAVector(t *testing.T) {
	t.Parallel()
	e := builtin(t)
	texts := []string{"", " \t\n", "\x00\x01", "a", "中", strings.Repeat("x", 5000), strings.Repeat("😀 ", 20_000), "\xff\xfe", strings.Repeat("word ", 600)}
	together := vectors(t, e, texts...)
	for i, text := range texts {
		if length := dot(together[i], together[i]); math.Abs(length-1) > 1e-4 {
			t.Errorf("text %d: squared length %g", i, length)
		}
		if alone := vectors(t, e, text)[0]; !slices.Equal(alone, together[i]) {
			t.Errorf("text %d: another vector alone than among others", i)
		}
	}
}

// TestEncodeLong proves that EncodeLong equals Encode for what fits, sees the end of what does not, and cuts where
// there is no blank.
func TestEncodeLong(t *testing.T) {
	t.Parallel()
	e := builtin(t)
	filler := strings.Repeat("The committee met again to discuss the same report. ", 60)
	texts := []string{"short", filler + "Penguins breed in Antarctica.", filler + "Tax law was reformed in 1986.", strings.Repeat("語", 700), ""}
	got := room(len(texts), e.Dim())
	if err := embed.EncodeLong(t.Context(), e, embed.Passage, texts, got); err != nil {
		t.Fatal(err)
	}
	cut := vectors(t, e, texts...)
	if !slices.Equal(got[0], cut[0]) || !slices.Equal(got[4], cut[4]) {
		t.Error("a text that fits has another vector")
	}
	if !slices.Equal(cut[1], cut[2]) {
		t.Fatal("the texts do not exceed the encoder's length: the test proves nothing")
	}
	if dot(got[1], got[2]) > 0.999 {
		t.Errorf("the ends of long texts were not seen: cosine %g", dot(got[1], got[2]))
	}
	for i, v := range got {
		if math.Abs(dot(v, v)-1) > 1e-4 {
			t.Errorf("text %d: squared length %g", i, dot(v, v))
		}
	}
}

// TestEncodeLongWeights proves the pooling rule of EncodeLong: windows weighted by their tokens.
func TestEncodeLongWeights(t *testing.T) {
	t.Parallel()
	e := halves{builtin(t)}
	got := room(2, 2)
	if err := embed.EncodeLong(t.Context(), e, embed.Passage, []string{"xxxy", "y"}, got); err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(got[0][0]/got[0][1])-3) > 1e-5 || got[1][1] != 1 {
		t.Errorf("pooled to %v, want 3 parts x and 1 part y, then y alone", got)
	}
}

// halves is an encoder whose windows are runs of one letter, one token per letter.
type halves struct{ embed.Encoder }

func (halves) Dim() int { return 2 }

func (halves) Split(text string) (pieces []string, tokens []int) {
	n := strings.Count(text, "x")
	if n == 0 {
		return []string{text}, []int{len(text)}
	}
	return []string{text[:n], text[n:]}, []int{n, len(text) - n}
}

func (halves) Encode(_ context.Context, _ embed.Kind, texts []string, out [][]float32) error {
	for i, text := range texts {
		clear(out[i])
		out[i][strings.Index("xy", text[:1])] = 1
	}
	return nil
}

// TestEncodeRefuses proves that a done context stops bulk work and single texts, and that too little room is an error,
// not a panic.
func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	e := builtin(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, texts := range [][]string{{"a"}, slices.Repeat([]string{"a b c"}, 50)} {
		if err := e.Encode(ctx, embed.Passage, texts, room(len(texts), e.Dim())); !errors.Is(err, context.Canceled) {
			t.Errorf("%d texts: error is %v, want canceled", len(texts), err)
		}
	}
	if err := e.Encode(t.Context(), embed.Passage, []string{"a", "b"}, room(1, e.Dim())); err == nil {
		t.Error("two texts were encoded into one vector")
	}
	if err := e.Encode(t.Context(), embed.Passage, []string{"a", "b"}, room(2, 7)); err == nil {
		t.Error("a vector of another length was accepted")
	}
}

// TestQueriesPass proves that a query passes while bulk work holds every thread.
func TestQueriesPass(t *testing.T) {
	t.Parallel()
	enc, err := encode.Open(asset.MiniLM())
	if err != nil {
		t.Fatal(err)
	}
	bulk := background.NewPool()
	var holding sync.WaitGroup
	release := make(chan struct{})
	defer close(release)
	for range background.Cores() {
		holding.Add(1)
		go func() {
			_ = bulk.Do(context.Background(), func(bool) {
				holding.Done()
				<-release
			})
		}()
	}
	holding.Wait()
	e := embed.NewLocal("test", enc, bulk)
	vectors(t, e, "a query") // would block for ever
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Encode(ctx, embed.Passage, []string{"a", "b"}, room(2, e.Dim())) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("bulk work without a thread gave %v, want to wait until canceled", err)
	}
}

// letters is an encoder whose windows are single letters.
type letters struct {
	embed.Encoder
	encoded *[]string
}

func (letters) Dim() int { return 2 }

func (letters) MaxTokens() int { return 1 }

func (letters) Split(text string) (pieces []string, tokens []int) {
	for _, r := range text {
		pieces, tokens = append(pieces, string(r)), append(tokens, 1)
	}
	return pieces, tokens
}

func (l letters) Encode(_ context.Context, _ embed.Kind, texts []string, out [][]float32) error {
	for i := range texts {
		out[i][0], out[i][1] = 1, 0
	}
	*l.encoded = append(*l.encoded, texts...)
	return nil
}

// TestEncodeLongBounded proves that a text takes 64 windows at most, spread over all of it, and one of 64 takes all.
func TestEncodeLongBounded(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("a", 64)
	for _, c := range []struct{ text, want string }{
		{most, most}, {strings.Repeat("abcd", 64), most}, {most + "bc", most[:63] + "b"},
		{strings.Repeat("x", 6400) + strings.Repeat("y", 6400), strings.Repeat("x", 32) + strings.Repeat("y", 32)},
	} {
		var encoded []string
		if err := embed.EncodeLong(t.Context(), letters{builtin(t), &encoded}, embed.Passage, []string{c.text}, room(1, 2)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(encoded, ""); got != c.want {
			t.Errorf("of %d windows: %q, want %q", len(c.text), got, c.want)
		}
	}
}
