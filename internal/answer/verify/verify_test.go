package verify_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"quarry/internal/answer/verify"
	"quarry/internal/embed"
)

var registry = sync.OnceValues(embed.NewRegistry)

func service(t testing.TB, c verify.Config) *verify.Service {
	t.Helper()
	r, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	if c.Encoder == nil {
		if c.Encoder, err = r.Get(""); err != nil {
			t.Fatal(err)
		}
	}
	return verify.New(c)
}

func score(t testing.TB, s *verify.Service, text string, sources ...string) float64 {
	t.Helper()
	got, err := s.Score(t.Context(), verify.Claim{Text: text, Sources: sources, Language: "eng"})
	if err != nil {
		t.Fatal(err)
	}
	return got.Value
}

var valve = []string{
	"The relief valve opens at 3 bar and closes again at 2.5 bar. It was designed in 1987 by Erika Lund. The housing does not contain lead.",
	"Maintenance is due every twelve months. Use only original seals.",
}

// Proves the order of what users see: quotes on top, the same in other words next, wrong numbers, names and negations
// below, other topics at the bottom.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := service(t, verify.Config{})
	quote := score(t, s, "The relief valve opens at 3 bar and closes again at 2.5 bar.", valve...)
	if quote < 0.9 {
		t.Errorf("a quote scores %.3f", quote)
	}
	for text, most := range map[string]float64{
		"The relief valve opens at 5 bar and closes again at 2.5 bar.": 0.9,
		"The relief valve does not open at 3 bar.":                     0.8,
		"It was designed in 1987 by Erika Lundgren-Meyer.":             0.9,
		"The housing does contain lead.":                               0.9,
		"Bread is baked from flour, water and yeast in a hot oven.":    0.2,
	} {
		if got := score(t, s, text, valve...); got >= most || got >= quote {
			t.Errorf("%q scores %.3f, want less than %.2f and than a quote, %.3f", text, got, most, quote)
		}
	}
}

// Proves that marks of citations, markup and code change nothing.
func TestNoise(t *testing.T) {
	t.Parallel()
	s := service(t, verify.Config{})
	plain := score(t, s, "The housing does not contain lead. Maintenance is due every twelve months.", valve...)
	for _, text := range []string{
		"The housing does not contain lead [1]. Maintenance is due every twelve months [2, 3].",
		"The housing does **not** contain lead [1](https://example.com/a). Maintenance is due every twelve months.",
		"The housing does not contain [lead](https://example.com/lead). Maintenance is due every twelve months.\n```\nx := 17\n```",
	} {
		if got := score(t, s, text, valve...); got != plain {
			t.Errorf("%q scores %.4f, want %.4f as without marks", text, got, plain)
		}
	}
}

// Proves which texts get no score and which always do.
func TestLanguage(t *testing.T) {
	t.Parallel()
	s := service(t, verify.Config{})
	polish := strings.Repeat("Zawór bezpieczeństwa otwiera się przy trzech barach i zamyka się ponownie przy dwóch barach. ", 3)
	for name, test := range map[string]struct {
		claim verify.Claim
		want  error
	}{
		"long, not served":                    {verify.Claim{Text: polish, Sources: valve, Language: "eng"}, verify.ErrLanguage},
		"the same, asked for all the same":    {verify.Claim{Text: polish, Sources: valve, Any: true}, nil},
		"short, not served, question served":  {verify.Claim{Text: polish[:90], Sources: valve, Language: "eng"}, nil},
		"short, not served, passages served":  {verify.Claim{Text: polish[:90], Sources: valve, Language: "pol"}, nil},
		"short, nothing served":               {verify.Claim{Text: polish[:90], Sources: []string{polish}, Language: "pol"}, verify.ErrLanguage},
		"a number, passages served":           {verify.Claim{Text: "1987", Sources: valve}, nil},
		"long, served, question not":          {verify.Claim{Text: strings.Join(valve, " "), Sources: valve, Language: "pol"}, nil},
		"no word of a language, any":          {verify.Claim{Text: "42", Sources: []string{"42"}, Any: true}, nil},
		"two letters":                         {verify.Claim{Text: "3 bar", Sources: valve, Language: "en"}, nil},
		"too long":                            {verify.Claim{Text: "a b c", Sources: []string{strings.Repeat("word and more ", 6000)}, Language: "eng"}, verify.ErrTooLong},
		"far too long":                        {verify.Claim{Text: "a b c", Sources: []string{strings.Repeat("word ", 1<<20)}, Language: "eng"}, verify.ErrTooLong},
		"nothing to support, in any language": {verify.Claim{Text: "---", Sources: valve, Any: true}, nil},
	} {
		if _, err := s.Score(t.Context(), test.claim); !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", name, err, test.want)
		}
	}
}
