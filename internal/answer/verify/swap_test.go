package verify_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quarry/internal/answer/verify"
	"quarry/internal/embed"
)

// changed is a line of testdata/sentences.jsonl.
type changed struct {
	Source, Sentence string
	Swaps            []struct{ Kind, From, To string }
	Edits            []struct{ Kind, Text string }
}

func readChanged(t *testing.T) []changed {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "sentences.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []changed
	lines := bufio.NewScanner(strings.NewReader(string(raw)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c changed
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(c.Source, c.Sentence) {
			t.Fatalf("%q does not stand in its source", c.Sentence)
		}
		out = append(out, c)
	}
	return out
}

// share is the part of the scores of a kind of sentence that are on the right side of one half.
type share struct{ right, all int }

// Proves that a sentence in which a number, a year, a name or a negation is changed scores below one half, also when it is
// reworded, and that unchanged and harmlessly edited sentences stay above.
func TestSwaps(t *testing.T) {
	t.Parallel()
	r, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get("")
	if err != nil {
		t.Fatal(err)
	}
	s := service(t, verify.Config{Encoder: &memory{Reader: e.(embed.Reader), seen: map[string]embed.States{}}})
	shares := map[string]*share{}
	count := func(kind string, low bool, text, source string) {
		if shares[kind] == nil {
			shares[kind] = &share{}
		}
		shares[kind].all++
		if v := score(t, s, text, source); (v < 0.5) == low {
			shares[kind].right++
		} else {
			t.Logf("%s: %q scores %.3f", kind, text, v)
		}
	}
	for _, c := range readChanged(t) {
		count("unchanged", false, c.Sentence, c.Source)
		for _, e := range c.Edits {
			count(e.Kind, false, e.Text, c.Source)
		}
		for _, w := range c.Swaps {
			count(w.Kind, true, strings.Replace(c.Sentence, w.From, w.To, 1), c.Source)
			for _, e := range c.Edits {
				if strings.Contains(e.Text, w.From) {
					count(w.Kind+", edited", true, strings.Replace(e.Text, w.From, w.To, 1), c.Source)
				}
			}
		}
	}
	total := map[bool]int{}
	for kind, got := range shares {
		changed, edited, _ := strings.Cut(kind, ", ")
		least, swap := 0.9, true
		switch changed {
		case "unchanged":
			swap = false
		case "order", "voice", "synonym", "units":
			least, swap = 0.8, false
		}
		if edited == "" {
			total[swap] += got.all
		}
		if part := float64(got.right) / float64(got.all); part < least {
			t.Errorf("%s: %d of %d are on the right side of one half, want %.0f %%", kind, got.right, got.all, 100*least)
		}
	}
	if total[true] < 200 || total[false] < 200 {
		t.Errorf("there are %d swaps and %d sentences that stay true, want 200 of each", total[true], total[false])
	}
}

// Proves that the synonyms of the edits are those of the list, so that no other change passes for one.
func TestSynonyms(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "synonyms.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range readChanged(t) {
		for _, e := range c.Edits {
			if e.Kind != "synonym" {
				continue
			}
			found := false
			for line := range strings.Lines(strings.TrimSpace(string(raw))) {
				from, to, _ := strings.Cut(strings.TrimSpace(line), " = ")
				found = found || strings.Replace(strings.ToLower(c.Sentence), from, to, 1) == strings.ToLower(e.Text)
			}
			if !found {
				t.Errorf("%q is not %q with a synonym of the list", e.Text, c.Sentence)
			}
		}
	}
}

// Proves that a contradiction is sought in the sentence that supports a statement otherwise, and in no other.
func TestContradiction(t *testing.T) {
	t.Parallel()
	s := service(t, verify.Config{})
	for _, test := range []struct {
		text, source string
		low          bool
	}{
		{"The pump is not waterproof.", "The pump is waterproof.", true},
		{"The pump is waterproof.", "The pump is not waterproof.", true},
		{"Paris is the capital of Germany.", "Paris is the capital of France.", true},
		{"Paris is the capital of Germany.", "Paris is the capital of France. Berlin is the capital of Germany.", true},
		{"London is the capital of France.", "Paris is the capital of France.", true},
		{"Peter designed the valve in 1987.", "Erika designed the valve in 1987.", true},
		{"The museum opened in 1950.", "The museum opened in 1931.", true},
		{"The valve opens at 2 bar.", "The valve opens at 3 bar. Two years of guarantee are given on seals. The pressure of the tank is 2 bar.", true},
		{"The museum has 1950 pictures. It is in the old town.", "The museum has 1931 pictures. It is in the old town.", true},
		{"The valve weighs 5 kg and opens at 3 bar.", "The valve opens at 3 bar. The valve weighs 5 kg.", false},
		{"The crossing takes two days.", "The crossing takes 48 hours.", false},
		{"It is stored at 5 degrees Celsius.", "It is stored at 5 °C.", false},
		{"The housing is without lead.", "The housing contains no lead.", false},
		{"Erika Lund designed the valve.", "The valve was designed by Erika Lund. The spring was not designed by her.", false},
		{"Sales rise in winter.", "Sales fall in winter.", true},
		{"The pump is unsafe in water.", "The pump is safe in water.", true},
	} {
		if got := score(t, s, test.text, test.source); (got < 0.5) != test.low {
			t.Errorf("%q by %q scores %.3f, want below one half: %v", test.text, test.source, got, test.low)
		}
	}
}

// Proves that numbers, names and negations contradict in every language that the score serves, and that what is unchanged does
// not.
func TestLanguages(t *testing.T) {
	t.Parallel()
	s := service(t, verify.Config{})
	for lang, test := range map[string]struct{ source, number, negation, name, opposite string }{
		"eng": {"The museum in Oslo was opened in 1931.", "The museum in Oslo was opened in 1950.", "The museum in Oslo was not opened in 1931.", "The museum in Bergen was opened in 1931.", "The museum in Oslo was closed in 1931."},
		"deu": {"Das Museum in Oslo wurde im Jahr 1931 geöffnet.", "Das Museum in Oslo wurde im Jahr 1950 geöffnet.", "Das Museum in Oslo wurde im Jahr 1931 nicht geöffnet.", "", "Das Museum in Oslo wurde im Jahr 1931 geschlossen."},
		"fra": {"Le musée de la ville d'Oslo est ouvert depuis 1931.", "Le musée de la ville d'Oslo est ouvert depuis 1950.", "Le musée de la ville d'Oslo n'est pas ouvert depuis 1931.", "Le musée de la ville de Bergen est ouvert depuis 1931.", "Le musée de la ville d'Oslo est fermé depuis 1931."},
		"spa": {"El museo de Oslo está abierto desde 1931.", "El museo de Oslo está abierto desde 1950.", "El museo de Oslo no está abierto desde 1931.", "El museo de Bergen está abierto desde 1931.", "El museo de Oslo está cerrado desde 1931."},
		"por": {"O museu de Oslo está aberto desde 1931.", "O museu de Oslo está aberto desde 1950.", "O museu de Oslo não está aberto desde 1931.", "O museu de Bergen está aberto desde 1931.", "O museu de Oslo está fechado desde 1931."},
		"rus": {"Музей в городе Осло открыт с 1931 года.", "Музей в городе Осло открыт с 1950 года.", "Музей в городе Осло не открыт с 1931 года.", "Музей в городе Берген открыт с 1931 года.", "Музей в городе Осло закрыт с 1931 года."},
		"ara": {"افتتح المتحف في مدينة أوسلو عام 1931.", "افتتح المتحف في مدينة أوسلو عام 1950.", "لم يفتتح المتحف في مدينة أوسلو عام 1931.", "", ""},
		"hin": {"ओस्लो का संग्रहालय 1931 में खुला था।", "ओस्लो का संग्रहालय 1950 में खुला था।", "ओस्लो का संग्रहालय 1931 में नहीं खुला था।", "", ""},
		"zho": {"奥斯陆博物馆于1931年开放。", "奥斯陆博物馆于1950年开放。", "奥斯陆博物馆于1931年没有开放。", "", ""},
		"jpn": {"オスロの博物館は1931年に開館した。", "オスロの博物館は1950年に開館した。", "オスロの博物館は1931年に開館しなかった。", "", ""},
		"kor": {"오슬로 박물관은 1931년에 문을 열었다.", "오슬로 박물관은 1950년에 문을 열었다.", "오슬로 박물관은 1931년에 문을 열지 않았다.", "", ""},
	} {
		for text, low := range map[string]bool{test.source: false, test.number: true, test.negation: true, test.name: true, test.opposite: true} {
			if text == "" {
				continue // names without capitals, and opposites, are not looked for
			}
			got, err := s.Score(t.Context(), verify.Claim{Text: text, Sources: []string{test.source}, Language: lang, Any: true})
			if err != nil || (got.Value < 0.5) != low {
				t.Errorf("%s: %q scores %.3f (%v), want below one half: %v", lang, text, got.Value, err, low)
			}
		}
	}
}

// Proves that sentences of nothing but numbers, negations, opposites or names get a score. It ends at once, and did not within a minute
// while every number was compared with the neighbours of every other.
func TestManyFacts(t *testing.T) {
	t.Parallel()
	s := service(t, verify.Config{})
	for _, test := range [][2]string{{"7 ", "8 "}, {"not increase ", "not decrease "}, {"Oslo ", "Bergen "}, {"x", "y"}, {"((", "]]"}} {
		_, err := s.Score(t.Context(), verify.Claim{Text: strings.Repeat(test[0], 2000), Sources: []string{strings.Repeat(test[1], 2000)}, Language: "eng", Any: true})
		if err != nil {
			t.Errorf("%q: %v", test[0], err)
		}
	}
}

// memory is an encoder that encodes every text once.
type memory struct {
	embed.Reader
	mu   sync.Mutex
	seen map[string]embed.States
}

func (m *memory) States(ctx context.Context, texts []string) ([]embed.States, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var missing []string
	for _, t := range texts {
		if _, ok := m.seen[t]; !ok {
			missing = append(missing, t)
		}
	}
	fresh, err := m.Reader.States(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, t := range missing {
		m.seen[t] = fresh[i]
	}
	out := make([]embed.States, len(texts))
	for i, t := range texts {
		out[i] = m.seen[t]
	}
	return out, nil
}
