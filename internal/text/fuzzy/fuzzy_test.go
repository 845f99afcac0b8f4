package fuzzy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/text/analysis"
	"quarry/internal/text/fuzzy"
)

// TestTokens proves how queries and values are split into tokens: case, accents and compatibility forms are folded,
// numbers are one token, scripts without spaces become bigrams, and in values also single characters.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, asked, value string }{
		{"", "", ""},
		{"?! -- …", "", ""},
		{"Maintenance-Plan, v2", "maintenance plan v2", "maintenance plan v2"},
		{"Zürich ÉCOLE Straße ΣΊΣΥΦΟΣ", "zurich ecole strasse σισυφοσ", "zurich ecole strasse σισυφοσ"},
		{"ﬁne ＡＢＣ ①", "fine abc 1", "fine abc 1"},
		{"-5 3.14 a-5 1.2.3. x.y 2024-01-05", "-5 3.14 a 5 1.2.3 x y 2024 01 05", "-5 3.14 a 5 1.2.3 x y 2024 01 05"},
		{"twice Twice", "twice", "twice twice"},
		{"学", "学", "学"},
		{"机器学x", "机器 器学 x", "机 机器 器 器学 学 x"},
		{"서울 시", "서울 시", "서 서울 울 시"},
		{`tab\there \"q\" \u00e9 \\`, "tab there q u00e9", `tab here q e`},
	} {
		if got := strings.Join(fuzzy.QueryTokens(c.text), " "); got != c.asked {
			t.Errorf("question %q: %q, want %q", c.text, got, c.asked)
		}
		if got := strings.Join(fuzzy.ValueTokens(c.text), " "); got != c.value {
			t.Errorf("value %q: %q, want %q", c.text, got, c.value)
		}
	}
}

// ask returns the query on a field with the contract's defaults.
func ask(name, text string) fuzzy.Field {
	return fuzzy.Field{Name: name, Text: text, Weight: 1, Fuzzy: true, Prefix: 3}
}

func exact(f fuzzy.Field) fuzzy.Field { f.Fuzzy, f.Prefix = false, 0; return f }

// TestScore proves the rules of scoring one by one.
func TestScore(t *testing.T) {
	t.Parallel()
	const object = `{"title":"Maintenance Plan","owner":"facilities","year":2023,"price":-2.50,"open":true,"tags":["pump","high pressure"],` +
		`"many":["a b","c d"],"city":"Zürich","word":"planning","short":"ab","none":null,"obj":{"x":"y"},"ids":[17,"18"]}`
	weighted := func(f fuzzy.Field, w float64) fuzzy.Field { f.Weight = w; return f }
	prefix := func(f fuzzy.Field, n int) fuzzy.Field { f.Fuzzy, f.Prefix = false, n; return f }
	for _, c := range []struct {
		name   string
		fields []fuzzy.Field
		want   float64
	}{
		{"exact", []fuzzy.Field{ask("title", "maintenance plan")}, 1},
		{"any order", []fuzzy.Field{ask("title", "PLAN maintenance")}, 1},
		{"mean over the words", []fuzzy.Field{exact(ask("title", "maintenance schedule"))}, 0.5},
		{"a word twice counts once", []fuzzy.Field{exact(ask("title", "plan plan guide"))}, 0.5},
		{"one error of eleven", []fuzzy.Field{ask("title", "maintenence")}, 1 - 1.0/11},
		{"two errors", []fuzzy.Field{ask("title", "mantenence")}, 1 - 2.0/11},
		{"three errors", []fuzzy.Field{ask("title", "mantenense")}, 0},
		{"swapped letters", []fuzzy.Field{ask("title", "plna")}, 0.75},
		{"two errors in a short word", []fuzzy.Field{ask("title", "lpna")}, 0},
		{"an error in two letters", []fuzzy.Field{ask("short", "ac")}, 0},
		{"an error in three letters", []fuzzy.Field{ask("short", "abc")}, 1 - 1.0/3},
		{"errors off", []fuzzy.Field{exact(ask("title", "plna"))}, 0},
		{"beginning", []fuzzy.Field{prefix(ask("owner", "fac"), 3)}, 0.9},
		{"beginning too short", []fuzzy.Field{prefix(ask("owner", "fa"), 3)}, 0},
		{"beginning of two", []fuzzy.Field{prefix(ask("owner", "fa"), 2)}, 0.9},
		{"beginnings off", []fuzzy.Field{exact(ask("owner", "fac"))}, 0},
		{"longer than the value", []fuzzy.Field{prefix(ask("title", "plans"), 3)}, 0},
		{"inflected", []fuzzy.Field{{Name: "word", Text: "plans", Weight: 1, Fuzzy: true}}, 0.9},
		{"inflected the other way", []fuzzy.Field{ask("title", "planning")}, 0.9},
		{"accents", []fuzzy.Field{exact(ask("city", "zurich"))}, 1},
		{"number", []fuzzy.Field{exact(ask("year", "2023"))}, 1},
		{"number by its text", []fuzzy.Field{exact(ask("price", "-2.50"))}, 1},
		{"equal number of another text", []fuzzy.Field{exact(ask("price", "-2.5"))}, 0},
		{"boolean", []fuzzy.Field{exact(ask("open", "true"))}, 1},
		{"other boolean", []fuzzy.Field{exact(ask("open", "false"))}, 0},
		{"element", []fuzzy.Field{exact(ask("tags", "pump"))}, 1},
		{"numbers in a list", []fuzzy.Field{exact(ask("ids", "17"))}, 1},
		{"words of two elements", []fuzzy.Field{exact(ask("many", "a c"))}, 0.5},
		{"null", []fuzzy.Field{ask("none", "null")}, 0},
		{"object", []fuzzy.Field{ask("obj", "y")}, 0},
		{"absent", []fuzzy.Field{ask("absent", "plan")}, 0},
		{"no word asked", []fuzzy.Field{ask("title", "?")}, 0},
		{"weights", []fuzzy.Field{weighted(ask("title", "plan"), 3), weighted(ask("owner", "nobody"), 1)}, 0.75},
		{"one field twice", []fuzzy.Field{ask("title", "plan"), exact(ask("title", "guide"))}, 0.5},
		{"no field", nil, 0},
	} {
		s := fuzzy.Compile(c.fields).Scorer()
		for range 2 { // what it remembers changes nothing
			if got := s.Score([]byte(object)); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// TestWords proves that the words of all fields are counted, repeated ones of a field once.
func TestWords(t *testing.T) {
	t.Parallel()
	if got := fuzzy.Compile([]fuzzy.Field{ask("a", "one two one"), ask("b", "two"), ask("c", "!")}).Words(); got != 3 {
		t.Errorf("%d words, want 3", got)
	}
}

// plain scores a list of words as the contract defines it, without shortcuts.
func plain(f fuzzy.Field, words []string) float64 {
	asked := fuzzy.QueryTokens(f.Text)
	if len(asked) == 0 {
		return 0
	}
	var sum float64
	for _, q := range asked {
		var best float64
		for _, v := range words {
			n, m := len([]rune(q)), len([]rune(v))
			if q == v {
				best = 1
			}
			if f.Prefix > 0 && n >= f.Prefix && strings.HasPrefix(v, q) {
				best = max(best, 0.9)
			}
			if !f.Fuzzy {
				continue
			}
			if n >= 3 && m >= 3 && q[:3] == v[:3] && cmp.Equal(analysis.Analyze(q, "eng").Stems, analysis.Analyze(v, "eng").Stems) && len(analysis.Analyze(q, "eng").Stems) > 0 {
				best = max(best, 0.9)
			}
			most := 2
			if n < 3 {
				most = 0
			} else if n <= 5 {
				most = 1
			}
			if d := fuzzy.DistanceAgain(q, v, 99); d <= most {
				best = max(best, 1-float64(d)/float64(max(n, m)))
			}
		}
		sum += best
	}
	return sum / float64(len(asked))
}

// TestShortcuts proves that neither the rejection of words by length and characters nor the cache changes a score.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	word := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 1, 8, -1),
		rapid.SampledFrom([]string{"plan", "plans", "planning", "planned", "plane", "the", "gehen", "é", "naïve", "maintenance", "maintain", "q1", "p", "r", "0"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		f := ask("f", strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "asked"), " "))
		f.Fuzzy, f.Prefix = rapid.Bool().Draw(t, "fuzzy"), rapid.IntRange(0, 4).Draw(t, "prefix")
		s := fuzzy.Compile([]fuzzy.Field{f}).Scorer()
		for range 3 {
			words := rapid.SliceOfN(word, 0, 6).Draw(t, "words")
			raw, err := json.Marshal(map[string]string{"f": strings.Join(words, ", ")})
			if err != nil {
				t.Fatal(err)
			}
			want := plain(f, fuzzy.QueryTokens(strings.Join(words, " ")))
			if got := s.Score(raw); math.Abs(got-want) > 1e-12 {
				t.Errorf("%q in %s: %v, want %v", f.Text, raw, got, want)
			}
		}
	})
}

// FuzzScore proves that no text makes the scorer panic, and that every score is in [0, 1] and reproducible.
func FuzzScore(f *testing.F) {
	f.Add([]byte(`{"a":"Maintenance plan","b":[1,true]}`), "a", "maintnance plna", 3)
	f.Add([]byte(`{"a":"机器学习 ภาษาไทย é\u0301 \ud800"}`), "a", "学 ภาษ \xff", 1)
	f.Add([]byte(`{"a":"-1.5e3 -. 1.."}`), "a", "-1.5 ..1", 0)
	f.Fuzz(func(t *testing.T, object []byte, name, text string, prefix int) {
		if len(text) > 1000 || len(object) > 1<<14 {
			return
		}
		q := fuzzy.Compile([]fuzzy.Field{{Name: name, Text: text, Weight: 2, Fuzzy: true, Prefix: prefix}})
		s := q.Scorer()
		first := s.Score(object)
		if !(first >= 0 && first <= 1) || s.Score(object) != first || q.Scorer().Score(object) != first {
			t.Errorf("scores %v, then %v, afresh %v", first, s.Score(object), q.Scorer().Score(object))
		}
		whole, err := json.Marshal(map[string]string{name: text})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		if json.Unmarshal(whole, &back) == nil && back[name] == text && len(fuzzy.QueryTokens(text)) > 0 {
			if got := q.Scorer().Score(whole); got < 1-1e-9 {
				t.Errorf("a text scores %v against itself: %s", got, fmt.Sprint(fuzzy.QueryTokens(text), fuzzy.ValueTokens(text)))
			}
		}
	})
}
