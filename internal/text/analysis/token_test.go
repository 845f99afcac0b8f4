package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/text/analysis"
)

// words returns terms as "text@pos".
func words(terms []analysis.Term) string {
	var b strings.Builder
	for i, t := range terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
		b.WriteByte('@')
		b.WriteByte(byte('0' + t.Pos))
	}
	return b.String()
}

func TestAnalyze(t *testing.T) {
	t.Parallel() // Proves surface forms with positions, and stems, for each kind of word and script.
	tests := []struct{ text, lang, words, stems string }{
		{"", "eng", "", ""},
		{" \x00\xff!", "eng", "", ""},
		{"The Valves are opening", "eng", "the@0 valves@1 are@2 opening@3", "valv open"},
		{"The Valves", "", "the@0 valves@1", "the valves"},
		{"machine-learning", "eng", "machine-learning@0 machine@0 learning@1", "machin learn"},
		{"CVE-2024-1234.", "eng", "cve-2024-1234@0 cve@0 2024@1 1234@2", "cve 2024 1234"},
		{"see WM_PAINT now", "eng", "see@0 wm_paint@1 wm@1 paint@2 now@3", "see wm paint now"},
		{"e-mail __init__", "eng", "e-mail@0 e@0 mail@1 init@2", "e mail init"},
		{"TCP/IP, 3.5 a_.b", "eng", "tcp@0 ip@1 3.5@2 3@2 5@3 a@4 b@5", "tcp ip 3 5 b"},
		{"John’s don't can't", "eng", "john's@0 john@0 s@1 don't@2 don@2 t@3 can't@4 can@4 t@5", "john"},
		{"l'homme d’eau", "fra", "l'homme@0 l@0 homme@1 d'eau@2 d@2 eau@3", "homm eau"},
		{"naïve cafés", "eng", "naïve@0 cafés@1", "naiv cafe"},
		{"die Häuser", "deu", "die@0 häuser@1", "haus"},
		{"ＦＵＬＬ ﬁn H₂O x² İstanbul soft\u00adware", "", "full@0 fin@1 h2o@2 x@3 istanbul@4 software@5", "full fin h2o x istanbul software"},
		{"东京都 京 A组", "zho", "东京@0 都@1 京都@1 京@2 a@3 组@4", "东京 东 京都 京 都 京 a 组"},
		{"コーヒーを飲む", "jpn", "コー@0 ーヒ@1 ヒー@2 ーを@3 を飲@4 む@5 飲む@5", "コー ーヒ ヒー ーを を飲 飲む 飲"},
		{"ｶﾞｽ", "jpn", "ス@0 ガス@0", "ガス"},
		{"밸브가 열", "kor", "밸브@0 가@1 브가@1 열@2", "밸브 브가 열"},
		{"API를 한-미", "kor", "api@0 를@1 한@2 미@3", "api 를 한 미"},
		{"\u1112\u1161\u11ab\u1100\u116e\u11a8", "kor", "국@0 한국@0", "한국"},
		{"ความดัน", "tha", "ควา@0 วาม@1 ามด@2 มดั@3 ัน@4 น@4 ดัน@4", "ควา วาม ามด มดั ดัน"},
		{"दबाव है।", "hin", "दबाव@0 है@1", "दब है"},
		{"लड़कों लड़का पहियों", "hin", "लड़कों@0 लड़का@1 पहियों@2", "लडक लडक पह"},
		{"كِتَابٌ", "", "كتاب@0", "كتاب"},
		{"της Ελλάδας Ελλάδα ΕΛΛΑΔΑ", "ell", "τησ@0 ελλάδασ@1 ελλάδα@2 ελλαδα@3", "τ ελλαδ ελλαδ ελλαδ"},
		{"w książkach książka", "pol", "w@0 książkach@1 książka@2", "książk książk"},
		{"mesta město", "ces", "mesta@0 město@1", "mest měst"},
		{"језика jezika", "srp", "језика@0 jezika@1", "jezik jezik"},
		{"можно книги", "rus", "можно@0 книги@1", "книг"},
	}
	for _, tt := range tests {
		got := analysis.Analyze(tt.text, tt.lang)
		if diff := cmp.Diff(tt.words, words(got.Words)); diff != "" {
			t.Errorf("Analyze(%q).Words (-want +got):\n%s", tt.text, diff)
		}
		if diff := cmp.Diff(tt.stems, strings.Join(got.Stems, " ")); diff != "" {
			t.Errorf("Analyze(%q).Stems (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestQuery(t *testing.T) {
	t.Parallel() // Proves that a query has no ends of runs, the stems of every language, and no language's stop words.
	tests := []struct {
		text, words, stems string
		languages          []string
	}{
		{"Häuser die opening", "häuser@0 die@1 opening@2", "haus hauser opening open", []string{"deu", "eng"}},
		{"Häuser die opening", "häuser@0 die@1 opening@2", "häuser die opening", nil},
		{"opening", "opening@0", "open opening", []string{"eng", "zho", "kor"}},
		{"John's l'homme", "john's@0 john@0 s@1 l'homme@2 l@2 homme@3", "john homm", []string{"eng", "fra"}},
		{"东京都", "东京@0 京都@1", "东京 东 京都 京 都", []string{"zho", "jpn"}},
		{"ความดัน", "ควา@0 วาม@1 ามด@2 มดั@3 ดัน@4", "ควา วาม ามด มดั ดัน", []string{"tha"}},
	}
	for _, tt := range tests {
		got := analysis.Query(tt.text, tt.languages...)
		if diff := cmp.Diff(tt.words, words(got.Words)); diff != "" {
			t.Errorf("Query(%q, %v).Words (-want +got):\n%s", tt.text, tt.languages, diff)
		}
		if diff := cmp.Diff(tt.stems, strings.Join(got.Stems, " ")); diff != "" {
			t.Errorf("Query(%q, %v).Stems (-want +got):\n%s", tt.text, tt.languages, diff)
		}
	}
}

func TestNormalizeFindsWords(t *testing.T) {
	t.Parallel() // Proves that one word normalises to a term that Analyze puts into Words.
	for word, want := range map[string]string{
		"Valves": "valves", "Machine-Learning": "machine-learning", "WM_PAINT": "wm_paint",
		"John’s": "john's", "\"Größe,": "größe", "CVE-2024-1234": "cve-2024-1234", "3.5": "3.5",
		"WM_P": "wm_p", "--": "", "京": "京", "": "",
	} {
		got := analysis.Normalize(word)
		if got != want {
			t.Errorf("Normalize(%q) = %q, want %q", word, got, want)
		}
		in := slices.ContainsFunc(analysis.Analyze("say "+word+" now", "eng").Words, func(w analysis.Term) bool { return w.Text == got })
		if got != "" && !in {
			t.Errorf("Normalize(%q) = %q does not stand in Words", word, got)
		}
	}
}

func TestFragment(t *testing.T) {
	t.Parallel() // Proves which words the index keeps only as beginnings of grams.
	for word, want := range map[string]bool{
		"学": true, "の": true, "한": true, "ก": true, "กา": true,
		"学习": false, "한국": false, "การ": false, "a": false, "7": false, "": false,
	} {
		if got := analysis.Fragment(word); got != want {
			t.Errorf("Fragment(%q) = %v, want %v", word, got, want)
		}
	}
}

func TestLongWordsStayDistinct(t *testing.T) {
	t.Parallel() // Proves that words over the limit are cut alike on both sides, to different terms, at a character.
	for _, unit := range []string{"a", "ä", "A-", "ก", "x_"} {
		one, two := strings.Repeat(unit, 5000)+"x", strings.Repeat(unit, 5000)+"y"
		for _, w := range analysis.Analyze(one, "eng").Words {
			if len(w.Text) > analysis.MaxBytes || !utf8.ValidString(w.Text) {
				t.Errorf("term of %d bytes, valid UTF-8: %v", len(w.Text), utf8.ValidString(w.Text))
			}
		}
		if n := analysis.Normalize(one); n == analysis.Normalize(two) || len(n) > analysis.MaxBytes {
			t.Errorf("Normalize of two long words from %q: %q, %q", unit, n, analysis.Normalize(two))
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{
		"The Valves", "l'homme", "WM_PAINT e-mail", "东京都ーｶﾞ", "ความดัน", "a\u0301\u200d\u00ad", "\xff\x00ﷺ", "İſς",
		strings.Repeat("😀", 300), strings.Repeat("a-", 300),
	} {
		f.Add(s, "eng")
		f.Add(s, "fra")
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		got := analysis.Analyze(text, lang)
		last := int32(0)
		for _, w := range got.Words {
			if w.Text == "" || len(w.Text) > analysis.MaxBytes || w.Pos < last || w.Pos > last+1 {
				t.Fatalf("term %q at %d after %d", w.Text, w.Pos, last)
			}
			last = w.Pos
		}
		for _, s := range got.Stems {
			if s == "" || len(s) > analysis.MaxBytes {
				t.Fatalf("stem of %d bytes", len(s))
			}
		}
		if n := analysis.Normalize(text); len(n) > analysis.MaxBytes || !utf8.ValidString(n) {
			t.Fatalf("Normalize returned %q", n)
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	for _, bench := range []struct{ name, text, lang string }{
		{"english", strings.Repeat("The pressure-relief valve opens automatically when measurements exceed the configured limits of 3.5 bar. ", 12), "eng"},
		{"emoji", strings.Repeat("😀", 25_000), "eng"},
		{"letters", strings.Repeat("a", 5_000), "eng"},
		{"chinese", strings.Repeat("压力下降时阀门自动打开，", 30), "zho"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				analysis.Analyze(bench.text, bench.lang)
			}
		})
	}
}
