package verify

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"quarry/internal/answer/verify/fact"
	"quarry/internal/answer/verify/markup"
	"quarry/internal/embed"
	"quarry/internal/text/analysis"
	"quarry/internal/text/rarity"
	"quarry/internal/text/sentence"
)

const (
	// Up to few sentences of sources, all are encoded; of more, the likely ones for each sentence of the text that share the
	// rarest words with it.
	few, likely = 48, 16
	// nearest is how many sentences of the sources one of the text is compared with word by word.
	nearest = 6
	// longest is the size in bytes beyond which a piece without a full stop is cut: a table, a list, a log.
	longest = 1000
)

// Span is a sentence of the text or of a source with everything that is compared.
type Span struct {
	Text       string
	Start, End int // in the text that was given
	Lang       string

	Words     []fact.Word
	Numbers   []fact.Number
	negations []fact.Negation
	Stems     []string
	pairs     map[string]bool // of words that follow one another
	Joined    string          // the words, each with a space before and after it

	states    embed.States
	Completed bool     // Text begins with the question, which the given text does not contain
	answer    []string // if completed: the stems of the answer alone
}

// NewSpan returns the span text[start:end].
func NewSpan(text string, start, end int, lang string) *Span {
	s := &Span{Text: text[start:end], Start: start, End: end, Lang: lang}
	s.Words = fact.Words(s.Text)
	s.Numbers = fact.Numbers(s.Text, s.Words, lang)
	s.negations = fact.Negations(s.Text, s.Words, lang)
	s.Stems = analysis.Analyze(s.Text, lang).Stems
	s.pairs = map[string]bool{}
	var b strings.Builder
	b.WriteByte(' ')
	for i, w := range s.Words {
		b.WriteString(w.Text)
		b.WriteByte(' ')
		if i > 0 {
			s.pairs[s.Words[i-1].Text+" "+w.Text] = true
		}
	}
	s.Joined = b.String()
	return s
}

// spans cuts a text without noise into its sentences; those without a letter or digit are left out.
func spans(clean, lang string) []*Span {
	var out []*Span
	for _, s := range sentence.Split(clean) {
		for start := s.Start + len(markup.Bullet(clean[s.Start:s.End])); start < s.End; {
			end := s.End
			if end-start > longest {
				end = cut(clean, start, start+longest)
			}
			if x := NewSpan(clean, start, end, lang); len(x.Words) > 0 {
				out = append(out, x)
			}
			start = end
		}
	}
	return out
}

// cut returns an offset moved back to white space, or at least to the beginning of a character.
func cut(text string, from, at int) int {
	if i := strings.LastIndexAny(text[from:at], " \n\t"); i > 0 {
		return from + i + 1
	}
	for at > from+1 && text[at]&0xC0 == 0x80 {
		at--
	}
	return at
}

// sources returns the sentences of all sources, each once.
func sources(texts []string, lang string) []*Span {
	var out []*Span
	seen := map[string]bool{}
	for _, t := range texts {
		for _, s := range spans(markup.Strip(t), lang) {
			if !seen[s.Joined] {
				seen[s.Joined] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// candidates chooses the sentences of sources that are worth encoding for the sentences of the text.
func candidates(text, from []*Span) []*Span {
	if len(from) <= few {
		return from
	}
	holding := map[string][]int{}
	for i, s := range from {
		for _, stem := range unique(s.Stems) {
			holding[stem] = append(holding[stem], i)
		}
	}
	chosen := map[int]bool{}
	for _, t := range text {
		shared := map[int]float64{}
		for _, stem := range unique(t.Stems) {
			weight := rarity.In(stem, t.Lang) / (1 + float64(len(holding[stem]))/float64(len(from))*8)
			for _, i := range holding[stem] {
				shared[i] += weight
			}
		}
		order := slices.SortedFunc(maps.Keys(shared), func(a, b int) int {
			return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(a, b))
		})
		for _, i := range order[:min(likely, len(order))] {
			chosen[i] = true
		}
	}
	if len(chosen) == 0 {
		return from[:few]
	}
	var out []*Span
	for _, i := range slices.Sorted(maps.Keys(chosen)) {
		out = append(out, from[i])
	}
	return out
}

func unique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
