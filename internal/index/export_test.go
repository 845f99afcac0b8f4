package index

import (
	"quarry/internal/expr/filter"
	"quarry/internal/index/rowset"
)

// SealAt sets the sizes at which the part in memory is written, so that small indexes can stand for large ones.
func (x *Index) SealAt(seal, small int) { x.disk.when.Seal, x.disk.when.Small = seal, small }

// ListsFrom makes segments of so many rows have inverted lists, which are searched where so many rows pass.
func (x *Index) ListsFrom(rows, scanMost int) { x.listsFrom, x.scanMost = rows, scanMost }

// CheckEvery asks one search of so many again, of those that are not exact.
func (x *Index) CheckEvery(n int) { x.recall.Every = int64(n) }

// WaitForChecks waits until no search is being asked again.
func (x *Index) WaitForChecks() { x.checks.Wait() }

// Dir returns the folder of the files.
func (x *Index) Dir() string { return x.cfg.Dir }

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

// SaveAside has Merge save beside writers, as a scheduler does.
func (x *Index) SaveAside() { x.disk.aside = true }
