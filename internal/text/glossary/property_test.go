package glossary_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/text/glossary"
)

// script is letters of one script, and what stands between words there.
type script struct {
	name    string
	letters []string
	between []string // one of these stands between two words of a text
	spaced  bool     // words stand apart
}

// scripts are few letters of each, so that terms often occur. Upper and lower case, wide and narrow forms stand beside each other.
var scripts = []script{
	{"latin", []string{"a", "b", "A", "ａ", "é"}, []string{" ", "  ", ", ", "-", "\n", "+"}, true},
	{"cyrillic", []string{"а", "б", "А", "ё"}, []string{" ", " \t", ". "}, true},
	{"greek", []string{"α", "σ", "ς", "Σ"}, []string{" ", "; "}, true},
	{"arabic", []string{"ا", "ب", "ت"}, []string{" ", "، "}, true},
	{"devanagari", []string{"क", "का", "कि", "ख"}, []string{" ", "। "}, true},
	{"han", []string{"东", "京", "都", "々"}, []string{"", "，", " "}, false},
	{"kana", []string{"カ", "ｶ", "ガ", "ー", "ひ"}, []string{"", "、"}, false},
	{"hangul", []string{"한", "국", "가"}, []string{" ", ""}, false},
	{"thai", []string{"น", "น้", "ำ", "ดั"}, []string{"", " "}, false},
}

// word returns a word of a script.
func (s *script) word(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(s.letters[r.IntN(len(s.letters))])
	}
	return b.String()
}

// phrase returns words of a script.
func (s *script) phrase(r *rand.Rand, words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteString(s.between[r.IntN(len(s.between))])
		}
		b.WriteString(s.word(r))
	}
	return b.String()
}

// plain returns a text without what matching leaves out of account, by the normal form and the cases of the standard library alone.
func plain(text string) string {
	lower := strings.ToLower(norm.NFKC.String(text))
	return strings.Join(strings.Fields(strings.ReplaceAll(lower, "ς", "σ")), " ")
}

// apart reports whether a word may begin or end in a plain text of a script at an offset.
func (s *script) apart(text string, at int) bool {
	if at == 0 || at == len(text) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	if unicode.IsMark(after) {
		return before == ' '
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
	return !s.spaced || !inWord(before) || !inWord(after)
}

// naive finds terms by trying all of them at all places, the longest first.
func (s *script) naive(terms []string, text string) (out []string) {
	text = plain(text)
	type place struct{ at, end, runes int }
	var all []place
	known := map[string]bool{}
	for _, term := range terms {
		term = plain(term)
		if known[term] {
			continue
		}
		known[term] = true
		for at := range text {
			if end := at + len(term); strings.HasPrefix(text[at:], term) && s.apart(text, at) && s.apart(text, end) {
				all = append(all, place{at, end, utf8.RuneCountInString(term)})
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		if a.runes != b.runes {
			return b.runes - a.runes
		}
		return a.at - b.at
	})
	var kept []place
	for _, p := range all {
		if !slices.ContainsFunc(kept, func(k place) bool { return p.at < k.end && k.at < p.end }) {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, func(a, b place) int { return a.at - b.at })
	for _, k := range kept {
		if found := text[k.at:k.end]; !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out
}

// TestAgainstNaive proves, on random terms and texts in nine scripts, that what is found is what trying every term at every place finds,
// that the places hold it, and that no two of them overlap. An index that was built in steps finds the same.
func TestAgainstNaive(t *testing.T) {
	t.Parallel()
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(s.name))))
			hits := 0
			for range 3000 {
				var terms []string
				for range 1 + r.IntN(12) {
					terms = append(terms, s.phrase(r, 1+r.IntN(3)))
				}
				text := s.phrase(r, r.IntN(14))
				x := of(terms[:len(terms)/2]...).With(entries(terms[len(terms)/2:]...))
				var got []string
				end := 0
				for _, m := range x.Find(text, 1000) {
					if m.Start < 0 || m.Start >= m.End || m.End > len(text) || plain(text[m.Start:m.End]) != plain(m.Term) {
						t.Fatalf("%q in %q: %q is not at %d to %d", terms, text, m.Term, m.Start, m.End)
					}
					if m.Start < end {
						t.Fatalf("%q in %q: %q overlaps what stands before it", terms, text, m.Term)
					}
					end = m.End
					if folded := plain(m.Term); !slices.Contains(got, folded) { // each of several spellings counts by itself
						got = append(got, folded)
					}
				}
				if want := s.naive(terms, text); !slices.Equal(got, want) {
					t.Fatalf("%q in %q: found %q, want %q", terms, text, got, want)
				}
				hits += len(got)
			}
			if hits < 1000 {
				t.Errorf("only %d terms were found at all", hits)
			}
		})
	}
}

func entries(terms ...string) (all []glossary.Entry) {
	for _, term := range terms {
		all = append(all, glossary.Entry{Term: term, Expansion: "=" + term})
	}
	return all
}

// FuzzFind proves that no text and no term makes the search fail, that every place is inside the text and on the bounds of characters,
// that no two overlap, and that each term is found in itself.
func FuzzFind(f *testing.F) {
	f.Add("a b|c++|น้ำ", "A  b c++ น้ำ")
	f.Add("\xff|é|.", "e\u0301\xff\u200b\u00ad.")
	f.Add("㎏|①|ﬁ", "fi kg㎏①")
	f.Fuzz(func(t *testing.T, joined, text string) {
		terms := strings.Split(joined, "|")
		x := of(terms...)
		end := 0
		for _, m := range x.Find(text, 100) {
			if m.Start < end || m.End <= m.Start || m.End > len(text) {
				t.Fatalf("%q in %q: %d to %d, behind %d", m.Term, text, m.Start, m.End, end)
			}
			if m.Start < len(text) && utf8.ValidString(text) && !utf8.ValidString(text[m.Start:m.End]) {
				t.Fatalf("%q in %q: %d to %d is in the middle of a character", m.Term, text, m.Start, m.End)
			}
			end = m.End
		}
		for _, term := range terms {
			if glossary.Findable(term) && len(of(term).Find(" "+term+" ", 1)) != 1 {
				t.Fatalf("%q is not found in itself", term)
			}
		}
	})
}
