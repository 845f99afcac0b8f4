package verify

import (
	"slices"

	"quarry/internal/answer/verify/fact"
	"quarry/internal/text/analysis"
	"quarry/internal/text/rarity"
)

// differ looks for numbers, names and negations that the sources do not have, and for what the sentence of the sources that
// supports f best states otherwise.
func (f *Sentence) differ(every *Union) {
	f.Support = f.support()
	for _, n := range f.Numbers {
		if n.Soft {
			continue
		}
		switch {
		case slices.ContainsFunc(f.Near[0].Numbers, n.Equal):
		case slices.ContainsFunc(every.Numbers, n.Equal):
			f.Differences.Astray++
		default:
			f.Differences.Numbers = append(f.Differences.Numbers, n)
		}
	}
	for _, n := range Names(f.Span) {
		if !fact.HasName(n.Text, every.Words) {
			f.Differences.Names = append(f.Differences.Names, n)
		}
	}
	has := func(stem string) bool { return every.Stems[stem] }
	if len(f.answer) > 0 && len(f.Differences.Names) == 0 && !slices.ContainsFunc(f.answer, has) {
		w := f.Words[len(f.Words)-1] // no word of the answer is in the sources
		f.Differences.Names = append(f.Differences.Names, fact.Name{Start: w.Start, End: w.End, Text: w.Text, Word: len(f.Words) - 1})
	}
	f.Differences.Denied, f.Differences.Turned = fact.Contrast(f.facts(), f.Support.facts())
	f.rivals()
	f.Differences.Held = f.held()
}

// Names returns the names in a span.
func Names(s *Span) []fact.Name { return fact.Names(s.Text, s.Words, s.Lang, everyday(s.Lang)) }

// everyday returns a function that reports whether a word is a common one, which is not written with a capital. Without a table
// of words for the language, no word is, but every German one.
func everyday(lang string) func(string) bool {
	return func(w string) bool {
		if lang != "eng" {
			return lang == "deu"
		}
		if fact.IsName(w) {
			return false
		}
		if rarity.Known(w) {
			return true
		}
		stems := analysis.Analyze(w, lang).Stems
		return len(stems) == 0 || rarity.Known(stems[0])
	}
}
