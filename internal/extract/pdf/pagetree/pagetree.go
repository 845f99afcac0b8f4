// Package pagetree finds the pages of a PDF file in its page tree (ISO 32000-1, 7.7.3), and their content.
package pagetree

import "quarry/internal/extract/pdf/syntax"

// Limits. The size of the file does not bound the content of a page, even without filters: a page may refer to the same stream many times,
// and streams may overlap.
const (
	maxDepth   = 64
	Most       = 20_000   // pages
	maxContent = 64 << 20 // of a page, in bytes
)

// Page is a page and the attributes that it has inherited from nodes of the tree (ISO 32000-1, 7.7.3.4).
type Page struct {
	Dict      syntax.Dict
	Resources syntax.Dict
	Rotate    int // degrees clockwise
}

// Read returns the pages of a file, and their numbers, from 1, by the numbers of their objects. It refuses the file if its tree has no end.
func Read(f *syntax.File) (pages []Page, numbers map[int]int) {
	t := &tree{file: f, numbers: map[int]int{}, seen: map[int]bool{}}
	t.walk(f.Root()["Pages"], Page{}, 0)
	return t.pages, t.numbers
}

type tree struct {
	file    *syntax.File
	pages   []Page
	numbers map[int]int
	seen    map[int]bool // objects
}

func (t *tree) walk(o syntax.Object, from Page, depth int) {
	if ref, ok := o.(syntax.Ref); ok {
		if t.seen[ref.Num] {
			t.file.Budget.Refuse("its page tree is cyclic")
		}
		t.seen[ref.Num] = true
	}
	d := t.file.Dict(o)
	if depth > maxDepth {
		t.file.Budget.Refuse("its page tree is more than %d deep", maxDepth)
	}
	if d == nil || !t.file.Budget.Step() {
		return
	}
	if r := t.file.Dict(d["Resources"]); r != nil {
		from.Resources = r
	}
	from.Rotate = t.file.Int(d["Rotate"], from.Rotate)
	if _, inner := d["Kids"]; inner {
		for _, k := range t.file.Array(d["Kids"]) {
			t.walk(k, from, depth+1)
		}
		return
	}
	if len(t.pages) == Most {
		t.file.Budget.Refuse("it has more than %d pages", Most)
		return
	}
	from.Dict = d
	t.pages = append(t.pages, from)
	if ref, ok := o.(syntax.Ref); ok {
		t.numbers[ref.Num] = len(t.pages)
	}
}

// Content returns the content streams of a page, one after the other; those that are damaged or pictures are left out.
func (p *Page) Content(f *syntax.File) (data []byte) {
	all := f.Array(p.Dict["Contents"])
	if all == nil {
		all = syntax.Array{p.Dict["Contents"]}
	}
	for _, o := range all {
		s, ok := f.Get(o).(*syntax.Stream)
		if !ok {
			continue
		}
		part, err := f.Decode(s)
		if err != nil {
			continue
		}
		if len(data)+len(part) > maxContent {
			f.Budget.Refuse("the content of a page is more than %d MB", maxContent>>20)
			return nil
		}
		data = append(append(data, part...), '\n')
	}
	return data
}
