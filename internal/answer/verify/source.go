package verify

import (
	"cmp"
	"slices"
	"strings"

	"quarry/internal/answer/verify/fact"
	"quarry/internal/embed"
	"quarry/internal/text/analysis"
	"quarry/internal/text/rarity"
	"quarry/internal/text/sentence"
)

const (
	// few is up to how many sentences of sources all are encoded; of more, those that share the rarest words with a
	// sentence of the text, likely for each.
	few, likely = 48, 16
	// nearest is how many sentences of the sources one of the text is compared with word by word.
	nearest = 6
	// longest is the bytes beyond which a piece without a full stop is cut: a table, a list, a log.
	longest = 1000
)

// span is a sentence of the text or of a source with all that is compared.
type span struct {
	text       string
	start, end int // in the text that was given
	lang       string

	words     []fact.Word
	numbers   []fact.Number
	negations []fact.Negation
	stems     []string
	pairs     map[string]bool // of words that follow one another
	joined    string          // the words, parted and framed by spaces

	states    embed.States
	completed bool     // text begins with the question, which the given text does not have
	answer    []string // of a completed one: the stems that stood there by themselves
}

func newSpan(text string, start, end int, lang string) *span {
	s := &span{text: text[start:end], start: start, end: end, lang: lang}
	s.words = fact.Words(s.text)
	s.numbers = fact.Numbers(s.text, s.words, lang)
	s.negations = fact.Negations(s.text, s.words, lang)
	s.stems = analysis.Analyze(s.text, lang).Stems
	s.pairs = map[string]bool{}
	var b strings.Builder
	b.WriteByte(' ')
	for i, w := range s.words {
		b.WriteString(w.Text)
		b.WriteByte(' ')
		if i > 0 {
			s.pairs[s.words[i-1].Text+" "+w.Text] = true
		}
	}
	s.joined = b.String()
	return s
}

// spans cuts a text without noise into its sentences; those without a letter or digit are left out.
func spans(clean, lang string) []*span {
	var out []*span
	for _, s := range sentence.Split(clean) {
		for start := s.Start + len(bullet.FindString(clean[s.Start:s.End])); start < s.End; {
			end := s.End
			if end-start > longest {
				end = cut(clean, start, start+longest)
			}
			if x := newSpan(clean, start, end, lang); len(x.words) > 0 {
				out = append(out, x)
			}
			start = end
		}
	}
	return out
}

// cut moves an offset back to white space, or at least to the beginning of a character.
func cut(text string, from, at int) int {
	if i := strings.LastIndexAny(text[from:at], " \n\t"); i > 0 {
		return from + i + 1
	}
	for at > from+1 && text[at]&0xC0 == 0x80 {
		at--
	}
	return at
}

// sources gives the sentences of all sources, each once.
func sources(texts []string, lang string) []*span {
	var out []*span
	seen := map[string]bool{}
	for _, t := range texts {
		for _, s := range spans(strip(t), lang) {
			if !seen[s.joined] {
				seen[s.joined] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// candidates chooses the sentences of sources that are worth encoding for the sentences of the text.
func candidates(text, from []*span) []*span {
	if len(from) <= few {
		return from
	}
	holding := map[string][]int{}
	for i, s := range from {
		for _, stem := range unique(s.stems) {
			holding[stem] = append(holding[stem], i)
		}
	}
	chosen := map[int]bool{}
	for _, t := range text {
		shared := map[int]float64{}
		for _, stem := range unique(t.stems) {
			weight := rarity.In(stem, t.lang) / (1 + float64(len(holding[stem]))/float64(len(from))*8)
			for _, i := range holding[stem] {
				shared[i] += weight
			}
		}
		order := make([]int, 0, len(shared))
		for i := range shared {
			order = append(order, i)
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(a, b)) })
		for _, i := range order[:min(likely, len(order))] {
			chosen[i] = true
		}
	}
	var out []*span
	for i, s := range from {
		if chosen[i] {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return from[:few]
	}
	return out
}

func unique(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}
