package tokenizer_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/encode"
	"quarry/internal/encode/asset"
	"quarry/internal/encode/tokenizer"
)

const small = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nhotel\n,\n中\n##s\na\n"

const noLimit = 1 << 30

func vocabulary(t testing.TB, text string) *tokenizer.WordPiece {
	t.Helper()
	w, err := tokenizer.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestPublishedCases proves that ids equal those of the published tokenizer, on cases recorded from it.
func TestPublishedCases(t *testing.T) {
	t.Parallel()
	packed, err := encode.Open(asset.MiniLM())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("testdata/wordpiece.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text string
		IDs  []int32
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 366 {
		t.Fatalf("%d cases, want 366", len(cases))
	}
	words := vocabulary(t, packed.Vocabulary()).NewWords()
	for _, c := range cases {
		if diff := cmp.Diff(c.IDs, words.Encode(nil, c.Text, noLimit)); diff != "" {
			t.Errorf("%+q (-want +got)\n%s", c.Text, diff)
		}
	}
}

// TestRules proves each rule on a vocabulary small enough to read.
func TestRules(t *testing.T) {
	t.Parallel()
	w := vocabulary(t, small)
	for text, want := range map[string][]int32{
		"unaffable":                  {5, 6, 7},
		"UNAFFABLE,":                 {5, 6, 7, 9},
		"Hôtels":                     {8, 11},
		"ho\u0302tel":                {8},
		"hotel中hotel":                {8, 10, 8},
		"a[MASK]a":                   {12, 4, 12},
		"a[MASKa":                    {12, 1, 1},
		"[[SEP][SEP]":                {1, 3, 3},
		"hot\u00adel":                {8},
		"a\u3000a\u2028a":            {12, 12, 12},
		"unx":                        {1},
		"":                           nil,
		" \t\n":                      nil,
		"\xff\xfe":                   nil,
		strings.Repeat("a", 101):     {1},
		"a\x00a " + "\ufffd\u200d":   {1},
		strings.Repeat("x", 5000):    {1},
		strings.Repeat("中", 3):       {10, 10, 10},
		strings.Repeat(" hotel ", 2): {8, 8},
	} {
		want = append(append([]int32{2}, want...), 3)
		if diff := cmp.Diff(want, w.NewWords().Encode(nil, text, noLimit)); diff != "" {
			t.Errorf("%+q (-want +got)\n%s", text, diff)
		}
	}
}

// TestLimit proves that a limit cuts at the end only, whatever it is, and that Count agrees with Encode.
func TestLimit(t *testing.T) {
	t.Parallel()
	words := vocabulary(t, small).NewWords()
	const text = "unaffable hotels, 中[MASK]unaffable"
	full := words.Encode(nil, text, noLimit)
	for limit := 2; limit <= len(full)+1; limit++ {
		want := full
		if limit < len(full) {
			want = append(slices.Clone(full[:limit-1]), 3)
		}
		if diff := cmp.Diff(want, words.Encode(nil, text, limit)); diff != "" {
			t.Errorf("limit %d (-want +got)\n%s", limit, diff)
		}
	}
	if got, want := words.Count(text, noLimit), len(full)-2; got != want {
		t.Errorf("Count = %d, want %d", got, want)
	}
	if got := words.Count(text, 3); got != 3 {
		t.Errorf("Count up to 3 = %d", got)
	}
}

// TestLongInput proves that long input without any place to cut is legal: 100 KB of emoji, of one word, of special
// tokens.
func TestLongInput(t *testing.T) {
	t.Parallel()
	w := vocabulary(t, small)
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"emoji":   {strings.Repeat("😀", 25_000), 1},
		"letters": {strings.Repeat("a", 100_000), 1},
		"marks":   {strings.Repeat("\u0301", 50_000), 0},
		"special": {strings.Repeat("[SEP]", 20_000), 20_000},
		"open":    {strings.Repeat("[", 100_000), 100_000},
	} {
		if got := w.NewWords().Count(c.text, noLimit); got != c.want {
			t.Errorf("%s: %d ids, want %d", name, got, c.want)
		}
	}
}

// TestNewRefuses proves that a vocabulary without the tokens that every sequence needs is refused by name.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := tokenizer.New("[PAD]\n[UNK]\n[CLS]\na\n"); err == nil || !strings.Contains(err.Error(), "[SEP]") {
		t.Errorf("error is %v, want one that names [SEP]", err)
	}
}

// FuzzWordPiece proves for any input: no panic, ids in range, at most limit of them, and no dependence on the cache.
func FuzzWordPiece(f *testing.F) {
	w := vocabulary(f, small)
	f.Add("unaffable[MASK] 中 é\xff", 5)
	f.Add("İ\u0345ﬀ㍿", 99)
	warm := w.NewWords()
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = 2 + (limit&0xffff)%300
		a, b := warm.Encode(nil, s, limit), w.NewWords().Encode(nil, s, limit)
		if !slices.Equal(a, b) {
			t.Errorf("%q: %v with a warm cache, %v with a cold one", s, a, b)
		}
		if len(a) < 2 || len(a) > limit || a[0] != 2 || a[len(a)-1] != 3 {
			t.Errorf("%q, limit %d: ill-formed %v", s, limit, a)
		}
		for _, id := range a {
			if id < 0 || int(id) >= w.Size() {
				t.Errorf("%q: id %d out of range", s, id)
			}
		}
	})
}
