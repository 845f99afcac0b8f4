package index

import (
	shown "quarry/internal/index/view"
	"quarry/internal/text/lang"
)

// Languages returns the languages of the live parts, the most frequent first, then by code.
func (s *Snapshot) Languages() (out []lang.Count, err error) {
	defer s.guard(&err)()
	return shown.Languages(s.st.views, func(i, stem int) int { return s.st.lexical.Segments[i].DF(stem) }), nil
}
