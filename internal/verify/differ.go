package verify

import (
	"slices"

	"quarry/internal/text/rarity"
	"quarry/internal/text/token"
	"quarry/internal/verify/fact"
)

// differ looks for numbers, names and negations that the sources do not have.
func (f *finding) differ(every *everything) {
	for _, n := range f.numbers {
		if n.Soft {
			continue
		}
		switch states(f.near, n) {
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
	f.wrong.Denied = fact.Opposed(f.words, f.negations, f.near[0].words, f.near[0].negations)
}

// states says where a number stands: 0 in the nearest sentence that holds a number of its kind, 1 in another near one,
// 2 in none.
func states(near []*span, n fact.Number) int {
	for i, s := range near {
		if slices.ContainsFunc(s.numbers, n.Equal) {
			return min(i, 1)
		}
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
		stems := token.Analyze(w, lang).Stems
		return len(stems) == 0 || rarity.Known(stems[0])
	}
}
