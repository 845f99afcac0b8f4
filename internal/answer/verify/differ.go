package verify

import (
	"slices"

	"quarry/internal/answer/verify/fact"
	"quarry/internal/text/analysis"
	"quarry/internal/text/rarity"
)

// differ looks for numbers, names and negations that the sources do not have.
func (f *finding) differ(every *everything) {
	for _, n := range f.numbers {
		if n.Soft {
			continue
		}
		switch states(f.near, every, n) {
		case 0:
		case 1:
			f.wrong.Astray++
		default:
			f.wrong.Numbers = append(f.wrong.Numbers, n)
		}
	}
	for _, n := range fact.Names(f.text, f.words, f.lang, everyday(f.lang)) {
		if !fact.HasName(n.Text, every.words) {
			f.wrong.Names = append(f.wrong.Names, n)
		}
	}
	has := func(stem string) bool { return every.stems[stem] }
	if len(f.answer) > 0 && len(f.wrong.Names) == 0 && !slices.ContainsFunc(f.answer, has) {
		w := f.words[len(f.words)-1] // no word of the answer is in the sources
		f.wrong.Names = append(f.wrong.Names, fact.Name{Start: w.Start, End: w.End, Text: w.Text, Word: len(f.words) - 1})
	}
	near := make([]fact.Sentence, len(f.near))
	for i, s := range f.near {
		near[i] = fact.Sentence{Words: s.words, Negations: s.negations}
	}
	f.wrong.Denied = fact.Opposed(fact.Sentence{Words: f.words, Negations: f.negations}, near)
}

// states says where a number stands: 0 in the nearest sentence or with the words of the sentence, 1 elsewhere in the
// sources, 2 nowhere.
func states(near []*span, every *everything, n fact.Number) int {
	switch {
	case slices.ContainsFunc(near[0].numbers, n.Equal):
		return 0
	case slices.ContainsFunc(every.numbers, n.Equal):
		return 1
	}
	return 2
}

// everyday tells words that need no capital by themselves. Languages without a table of words have none.
func everyday(lang string) func(string) bool {
	return func(w string) bool {
		if lang != "eng" {
			return lang == "deu"
		}
		if rarity.Known(w) {
			return true
		}
		stems := analysis.Analyze(w, lang).Stems
		return len(stems) == 0 || rarity.Known(stems[0])
	}
}
