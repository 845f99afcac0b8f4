package index

import (
	"cmp"
	"slices"

	"quarry/internal/text/lang"
)

// Languages returns the languages of the live parts, the most frequent first, then by code.
func (s *Snapshot) Languages() (out []lang.Count, err error) {
	defer s.guard(&err)()
	parts := map[string]int{}
	for i, v := range s.st.views {
		v.Languages(s.st.lexical.Segments[i].DF, parts)
	}
	for code, n := range parts {
		if n > 0 {
			out = append(out, lang.Count{Code: code, Texts: n})
		}
	}
	slices.SortFunc(out, func(a, b lang.Count) int { return cmp.Or(cmp.Compare(b.Texts, a.Texts), cmp.Compare(a.Code, b.Code)) })
	return out, nil
}
