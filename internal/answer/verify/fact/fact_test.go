package fact_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/verify/fact"
)

// Proves that a number is found however it is written, and that what looks like one is none.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lang, text string
		want       []float64 // any meaning of each number that needs support
	}{
		{"eng", "It opens at 3 bar.", []float64{3}},
		{"eng", "1,234,567 people and 98.6 °F", []float64{1234567, 98.6}},
		{"eng", "$1.5 million in 1987", []float64{1.5e6, 1987}},
		{"eng", "twenty-five men, three hundred and fifty dogs, two million cats", []float64{25, 350, 2e6}},
		{"eng", "44 per cent of 12%", []float64{44, 12}},
		{"eng", "one of the first, seized once", nil},
		{"eng", "COVID-19, IL-6, 3T3 cells, B12 and interleukin-2", nil},
		{"eng", "May 5, 2020 and 2020-05-05", []float64{5, 5, 2020, 2020, 5, 5}},
		{"eng", "in the 1990s you may go", nil},
		{"eng", "about 1. 3 billion people", []float64{1.3e9}},
		{"deu", "1.234,5 Liter und fünfundzwanzig Tage, 2,5 Millionen", []float64{1234.5, 25, 2.5e6}},
		{"fra", "quatre-vingt-dix jours et vingt et un ans", []float64{90, 21}},
		{"spa", "treinta y cinco por ciento", []float64{35}},
		{"rus", "двадцать пять процентов и 3,5 млн", []float64{25, 3.5e6}},
		{"zho", "二〇二〇年有三百五十万人和12亿元", []float64{2020, 3.5e6, 1.2e9}},
		{"hin", "१२ लाख लोग", []float64{12e5}},
		{"kor", "1931년에 3만명이 왔다", []float64{1931, 30000}},
		{"ara", "١٢٣ كيلومتر", []float64{123}},
	} {
		var got []fact.Number
		for _, n := range fact.Numbers(test.text, fact.Words(test.text), test.lang) {
			if !n.Soft {
				got = append(got, n)
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%q has %+v, want %v", test.text, got, test.want)
			continue
		}
		for i, n := range got {
			if !n.Equal(fact.Number{Values: []float64{test.want[i]}, Unit: n.Unit, Percent: n.Percent}) {
				t.Errorf("%q: number %d is %+v, want %v", test.text, i, n, test.want[i])
			}
		}
	}
}

// Proves which numbers mean the same: other spellings and rounding do, other units and percent do not.
func TestEqual(t *testing.T) {
	t.Parallel()
	one := func(text string) fact.Number { return fact.Numbers(text, fact.Words(text), "eng")[0] }
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"12 months", "twelve months", true}, {"3.7 million", "3,712,000", true}, {"1,000", "1000", true}, {"5 km", "5 kilometres", true},
		{"5 km", "5 miles", false}, {"5 %", "5 bar", false}, {"3 bar", "5 bar", false}, {"1987", "1988", false}, {"3.5", "3.6", false},
		{"99. 5 per cent", "99.5 percent", true}, {"3, 800 km", "3,800 km", true}, {"$5", "€5", false}, {"about 20", "20", true},
	} {
		if got := one(test.a).Equal(one(test.b)); got != test.want {
			t.Errorf("%q and %q: equal is %v", test.a, test.b, got)
		}
	}
}

// Proves which words are names, and in which words others find them again.
func TestNames(t *testing.T) {
	t.Parallel()
	common := func(w string) bool {
		return strings.Contains(" the valve it in was made by report housing ", " "+w+" ")
	}
	for text, want := range map[string][]string{
		"The valve was made in Oslo by Erika Lund.": {"oslo", "erika", "lund"},
		"Lund's report":                                   {"lund"},
		"It uses NF-kB. The IPCC came.":                   {"nf", "ipcc"},
		"chronic kidney disease (CKD) in Oslo":            {"oslo"},
		"The Valve Report Of The Housing In Oslo":         nil,
		"no capital here":                                 nil,
		"In May it rained.":                               nil,
		"阀门在3巴时打开":                                        nil,
		"“Oslo” and (Bergen), as I said: I'm from Narvik": {"oslo", "bergen", "narvik"},
	} {
		var got []string
		for _, n := range fact.Names(text, fact.Words(text), "eng", common) {
			got = append(got, n.Text)
			if !strings.HasPrefix(strings.ToLower(text[n.Start:]), n.Text) || strings.ToLower(text[n.Start:n.End]) != n.Text {
				t.Errorf("%q: name %q stands at %q", text, n.Text, text[n.Start:n.End])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("names of %q (-want +got)\n%s", text, diff)
		}
	}
	words := fact.Words("The World Health Organization met Russian envoys in Oslo's port.")
	for name, want := range map[string]bool{"who": true, "oslo": true, "russia": true, "bergen": false, "organ": false, "wh": true} {
		if got := fact.HasName(name, words); got != want {
			t.Errorf("HasName(%q) is %v", name, got)
		}
	}
}

// Proves that a negation on one side only is seen in each language, in either direction, and none where both deny or
// neither does.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lang, text, source string
		want               int
	}{
		{"eng", "The valve does not open at 3 bar.", "The valve opens at 3 bar.", 1},
		{"eng", "The valve opens at 3 bar.", "The valve does not open at 3 bar.", 1},
		{"eng", "The valve doesn't open at 3 bar.", "The valve never opens at 3 bar.", 0},
		{"eng", "The valve opens at 3 bar.", "The valve opens at 3 bar.", 0},
		{"eng", "It is not only cheap.", "It is cheap.", 0},
		{"eng", "The housing is without lead.", "The housing contains no lead.", 0},
		{"eng", "He wears the no 1 jersey.", "He wears the jersey.", 0},
		{"eng", "The valve is unsafe.", "The valve is safe.", 1},
		{"eng", "The valve is safe.", "The valve is unsafe.", 1},
		{"eng", "It is a processed food.", "Unprocessed food is better than processed food.", 0},
		{"eng", "He faces murder charges.", "Unlikely to face charges soon: he faces murder charges.", 0},
		{"eng", "The harvest did not fall.", "The harvest fell.", 1},
		{"eng", "The drug is authorised for adults.", "The drug is not approved for adults.", 1},
		{"eng", "Sales did not rise in winter.", "Sales fell in winter.", 0},
		{"deu", "Das Ventil öffnet nicht bei 3 bar.", "Das Ventil öffnet bei 3 bar.", 1},
		{"deu", "Das Ventil öffnet bei 3 bar.", "Das Ventil öffnet nicht bei 3 bar.", 1},
		{"fra", "La vanne n'ouvre pas sous pression.", "La vanne ouvre sous pression.", 1},
		{"spa", "La válvula no abre.", "La válvula abre.", 1},
		{"por", "A válvula não abre.", "A válvula abre.", 1},
		{"rus", "Клапан не открывается.", "Клапан открывается.", 1},
		{"ara", "الصمام لا يفتح", "الصمام يفتح", 1},
		{"hin", "वाल्व नहीं खुलता", "वाल्व खुलता", 1},
		{"zho", "阀门不打开。", "阀门打开。", 1},
		{"zho", "阀门不同。", "阀门不同。", 0},
		{"jpn", "バルブは開かない。", "バルブは開く。", 1},
		{"kor", "밸브가 열리지 않는다.", "밸브가 열린다.", 1},
	} {
		of := func(text string) fact.Sentence {
			ws := fact.Words(text)
			return fact.Sentence{Lang: test.lang, Words: ws, Negations: fact.Negations(text, ws, test.lang)}
		}
		if got, _ := fact.Contrast(of(test.text), of(test.source)); len(got) != test.want {
			t.Errorf("%q against %q: %+v, want %d", test.text, test.source, got, test.want)
		}
	}
}

// FuzzFacts proves that no text breaks the readers, that every place lies in the text, in order, and that nothing contradicts itself.
func FuzzFacts(f *testing.F) {
	for _, s := range []string{"", "1,2.3'4", "twenty-", "九千万亿", "n't not", "A-1/2 \u00a05", "٣٫٥", "\xff1", "5°", "…Łó’s", "not open and open, un safe unsafe: never higher, lower", "不 nicht offen zu не"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ws := fact.Words(text)
		at := 0
		for _, w := range ws {
			if w.Start < at || w.End <= w.Start || w.End > len(text) {
				t.Fatalf("word %+v of %q", w, text)
			}
			at = w.End
		}
		for _, lang := range []string{"eng", "deu", "zho", "kor", "jpn", ""} {
			for _, n := range fact.Numbers(text, ws, lang) {
				if n.Start < 0 || n.End <= n.Start || n.End > len(text) {
					t.Fatalf("number %+v of %q", n, text)
				}
			}
			for _, n := range fact.Names(text, ws, lang, func(string) bool { return false }) {
				if n.End <= n.Start || n.End > len(text) {
					t.Fatalf("name %+v of %q", n, text)
				}
			}
			negations := fact.Negations(text, ws, lang)
			for _, n := range negations {
				if n.End <= n.Start || n.End > len(text) {
					t.Fatalf("negation %+v of %q", n, text)
				}
			}
			itself := fact.Sentence{Lang: lang, Words: ws, Negations: negations}
			if denied, turned := fact.Contrast(itself, itself); len(denied)+len(turned) > 0 {
				t.Fatalf("%q contradicts itself: %+v %+v", text, denied, turned)
			}
		}
	})
}
