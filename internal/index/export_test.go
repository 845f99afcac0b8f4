package index

import (
	"quarry/internal/expr/filter"
	"quarry/internal/index/rowset"
)

// SealAt sets the sizes at which the part in memory is written, so that small indexes can stand for large ones.
func (x *Index) SealAt(seal, small int) { x.disk.when.Seal, x.disk.when.Small = seal, small }

// Passing counts the live parts that pass f, and the documents that have one.
func (s *Snapshot) Passing(f *filter.Filter) (parts, documents int, err error) {
	defer guard(&err, s.st.views)()
	for _, v := range s.st.views {
		allow := v.Matching(f, s.x.cfg.Conditions)
		if allow == nil {
			parts, documents = parts+v.LiveRows, documents+v.LiveDocs
			continue
		}
		parts += rowset.Count(allow)
		for d := range v.Docs {
			if from, to := v.Run(d); rowset.Any(allow, from, to) {
				documents++
			}
		}
	}
	return parts, documents, nil
}

// Matched counts the live parts that pass f.
func (s *Snapshot) Matched(f *filter.Filter) (parts int) {
	for _, v := range s.st.views {
		parts += rowset.Count(v.Matching(f, s.x.cfg.Conditions))
	}
	return parts
}
