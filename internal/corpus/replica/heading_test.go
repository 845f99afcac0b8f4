package replica_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/index/manifest"
	"quarry/internal/index/segment"
	"quarry/internal/search"
)

// headed commits a document whose part 0 is a title without text, and part 1 one of a section with text.
func (w *fixture) headed(name string, parts int) {
	w.t.Helper()
	c := w.corpus()
	d := w.document(name, "word"+name, parts)
	for i := range d.Parts[:2] {
		d.Parts[i].IsTitle, d.Parts[i].Metadata = true, []byte(`{"lang":"eng","is_title":true}`)
	}
	if _, err := w.documents.Insert(w.t.Context(), c.No, c.Epoch, d); err != nil {
		w.t.Fatal(err)
	}
}

// ords lists the parts of a document that a search for the word shows.
func (w *fixture) ords(word string, headings search.Headings) string {
	w.t.Helper()
	found, err := w.set.Search(w.t.Context(), w.corpus(), search.Query{Phrases: [][]string{{word}}, PhrasesRequired: true, Headings: headings, K: 10000})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []int
	for _, h := range found.Hits {
		out = append(out, h.Ord)
	}
	slices.Sort(out)
	return strings.Trim(fmt.Sprint(out), "[]")
}

// TestHeadings proves that searches tell the headings of sections with text from other parts, as the rows come and from
// files, and that files from before headings were marked are not built again: their columns are.
func TestHeadings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check := func(when string) {
		t.Helper()
		for headings, want := range map[search.Headings]string{search.WithHeadings: "0 1 2 3", search.NoHeadings: "0 2 3", search.OnlyHeadings: "1"} {
			if got := w.ords("wordsmall", headings); got != want {
				t.Errorf("%s: headings %d: parts %q, want %q\n%s", when, headings, got, want, w.log)
			}
		}
	}
	w.headed("small", 4)
	check("new")
	for i := range 30 { // enough for files
		w.headed(fmt.Sprintf("d%02d", i), 100)
	}
	check("more")
	w.restart()
	check("from files")
	if err := w.set.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "MANIFEST" {
			m, err := manifest.Read(filepath.Dir(path))
			if err != nil {
				return err
			}
			m.Layout = 0
			return m.Write(segment.Files{}, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	before := w.files()
	w.open()
	check("from old files")
	if log := w.log.String(); !strings.Contains(log, "making their columns") || strings.Contains(log, "rebuild") {
		t.Errorf("log: %s", log)
	}
	for _, path := range before {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%v: the file was written again", err)
		}
	}
	w.restart()
	check("from new columns")
	if log := w.log.String(); strings.Contains(log, "making") {
		t.Errorf("log: %s", log)
	}
}
