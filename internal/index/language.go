package index

import (
	"cmp"
	"slices"

	"quarry/internal/text/lang"
)

// languageMark begins the term that stands for the language of a row. No analysed term has it, it adds nothing to the
// length of a row, and it is counted and forgotten like any other term.
const languageMark = "\x00"

// Languages lists the languages of the live parts, the most frequent first, then by code.
func (s *Snapshot) Languages() (out []lang.Count, err error) {
	defer guard(&err, s.st.views)()
	parts := map[string]int{}
	for i, v := range s.st.views {
		for w := v.seg.stems.Prefix(languageMark); w.Next(); {
			parts[string(w.Term[len(languageMark):])] += s.st.lexical.Segments[i].DF(w.Ordinal)
		}
	}
	for code, n := range parts {
		if n > 0 {
			out = append(out, lang.Count{Code: code, Texts: n})
		}
	}
	slices.SortFunc(out, func(a, b lang.Count) int { return cmp.Or(cmp.Compare(b.Texts, a.Texts), cmp.Compare(a.Code, b.Code)) })
	return out, nil
}
