package index

import (
	"cmp"
	"slices"
)

// languageMark begins the term that stands for the language of a row. No analysed term has it, it adds nothing to the
// length of a row, and it is counted and forgotten like any other term.
const languageMark = "\x00"

// Language is a language with the number of live parts in it.
type Language struct {
	Code  string
	Parts int
}

// Languages lists the languages of the live parts, the most frequent first, then by code.
func (s *Snapshot) Languages() (out []Language, err error) {
	defer guard(&err, s.st.views)()
	parts := map[string]int{}
	for i, v := range s.st.views {
		for w := v.seg.stems.Prefix(languageMark); w.Next(); {
			parts[string(w.Term[len(languageMark):])] += s.st.lexical.Segments[i].DF(w.Ordinal)
		}
	}
	for code, n := range parts {
		if n > 0 {
			out = append(out, Language{code, n})
		}
	}
	slices.SortFunc(out, func(a, b Language) int { return cmp.Or(cmp.Compare(b.Parts, a.Parts), cmp.Compare(a.Code, b.Code)) })
	return out, nil
}
