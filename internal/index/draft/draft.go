// Package draft is the next state of an index while the writer prepares it: changes, the views they leave, and how much of
// them is in no file yet. Package index takes drafts of its state and shows them.
package draft

import (
	"fmt"

	"quarry/internal/expr/filter"
	"quarry/internal/index/compact"
	"quarry/internal/index/layer"
	"quarry/internal/index/rows"
	"quarry/internal/index/view"
	"quarry/internal/search"
)

// Draft is the next state. It owns the views that it has cloned or built; the others are shared with the current state and
// must not be changed. Not safe for concurrent use.
type Draft struct {
	Shape rows.Shape
	Of    *layer.Schema
	Seq   int64
	Views []*view.View
	// Partial is set while documents are missing that a damaged file held
	Partial bool

	owned   map[*view.View]bool
	pending []*search.Document       // to be built, in order; nil where one went again
	at      map[int64]int            // number → place in pending
	updates map[int64][]filter.Value // by number: values of documents in views, to be set when the draft is built
}

// Owns reports whether only this draft has seen v.
func (d *Draft) Owns(v *view.View) bool { return d.owned[v] }

// Change adds a change, which Build shows in the views.
func (d *Draft) Change(c search.Change) error {
	switch c.Op {
	case search.Put:
		if c.Doc != nil && c.Doc.No != c.No {
			return fmt.Errorf("document %d for number %d", c.Doc.No, c.No)
		}
		d.delete(c.No)
		if c.Old != 0 {
			d.delete(c.Old)
		}
		if c.Doc != nil {
			d.put(c.Doc)
		}
	case search.Update:
		if c.Doc != nil {
			d.update(c.No, c.Doc.Values)
		}
	case search.Delete:
		d.delete(c.No)
	case search.Reset:
		d.Views, d.pending, d.at, d.updates = nil, nil, nil, nil
	default:
		return fmt.Errorf("unknown operation %d", c.Op)
	}
	return nil
}

func (d *Draft) put(doc *search.Document) {
	if d.at == nil {
		d.at = map[int64]int{}
	}
	d.at[doc.No] = len(d.pending)
	d.pending = append(d.pending, doc)
}

// update sets the values of a document that is present.
func (d *Draft) update(no int64, values []filter.Value) {
	if i, ok := d.at[no]; ok {
		doc := *d.pending[i]
		doc.Values = values
		d.pending[i] = &doc
		return
	}
	if d.updates == nil {
		d.updates = map[int64][]filter.Value{}
	}
	d.updates[no] = values
}

// layer adds the new values of documents as a layer over their columns.
func (d *Draft) layer() {
	if len(d.updates) == 0 {
		return
	}
	for i, v := range d.Views {
		var changes []layer.Change
		for no, values := range d.updates {
			if doc, ok := v.Has(no); ok {
				changes = append(changes, layer.Change{Doc: uint32(doc), Values: values})
			}
		}
		if len(changes) == 0 {
			continue
		}
		n := *v
		n.Values = v.Values.With(changes)
		n.Fresh += len(changes)
		d.Own(&n)
		d.Views[i] = &n
	}
	d.updates = nil
}

// delete removes the document with number no, wherever it is.
func (d *Draft) delete(no int64) {
	delete(d.updates, no)
	if i, ok := d.at[no]; ok {
		d.pending[i] = nil
		delete(d.at, no)
	}
	for i, v := range d.Views {
		doc, ok := v.Has(no)
		if !ok {
			continue
		}
		if !d.owned[v] {
			v = v.Copy()
			d.Own(v)
			d.Views[i] = v
		}
		v.Dirty += v.Delete(doc)
	}
}

// Own marks v as one that only this draft has seen, and may change.
func (d *Draft) Own(v *view.View) {
	if d.owned == nil {
		d.owned = map[*view.View]bool{}
	}
	d.owned[v] = true
}

// Build builds a segment of what is pending and merges the segments in memory where there are many.
func (d *Draft) Build() error {
	var docs []search.Document
	for _, p := range d.pending {
		if p != nil {
			docs = append(docs, *p)
		}
	}
	d.pending, d.at = nil, nil
	d.layer()
	return d.Load(docs)
}

// Load adds documents whose numbers are not there yet.
func (d *Draft) Load(docs []search.Document) error {
	s, err := d.Shape.Build(d.Of, docs)
	if err != nil {
		return err
	}
	if s != nil {
		v := view.New(s)
		d.Own(v)
		d.Views = append(d.Views, v)
	}
	d.dropEmpty()
	return d.mergeTiers()
}

// dropEmpty removes segments without a live row.
func (d *Draft) dropEmpty() {
	kept := d.Views[:0:0]
	for _, v := range d.Views {
		if v.LiveRows > 0 {
			kept = append(kept, v)
		}
	}
	d.Views = kept
}

// mergeTiers merges segments in memory while there are enough of one size.
func (d *Draft) mergeTiers() error {
	for {
		memory := d.InMemory()
		live := make([]int, len(memory))
		for i, v := range memory {
			live[i] = v.LiveRows
		}
		full := compact.Full(live)
		if full == nil {
			return nil
		}
		in := make([]*view.View, len(full))
		for i, at := range full {
			in[i] = memory[at]
		}
		if err := d.MergeInto(in); err != nil {
			return err
		}
	}
}

// Merged returns one segment of the live rows of some views; nil when they have none.
func (d *Draft) Merged(in []*view.View) (*rows.Segment, error) {
	all := make([]*rows.View, len(in))
	for i, v := range in {
		all[i] = &v.View
	}
	s, err := d.Shape.Merge(d.Of, all)
	if err == nil {
		err = view.CutOff(in) // what was read then may be zeros
	}
	return s, err
}

// MergeInto replaces views of the draft by one in memory.
func (d *Draft) MergeInto(in []*view.View) error {
	s, err := d.Merged(in)
	if err != nil {
		return err
	}
	d.Remove(in)
	if s != nil {
		v := view.New(s)
		d.Own(v)
		d.Views = append(d.Views, v)
	}
	return nil
}

// Remove removes views, and forgets which of them only it has seen: a rebuild makes and merges far more than is ever in memory.
func (d *Draft) Remove(out []*view.View) {
	gone := map[*view.View]bool{}
	for _, v := range out {
		gone[v] = true
		delete(d.owned, v)
	}
	kept := d.Views[:0:0]
	for _, v := range d.Views {
		if !gone[v] {
			kept = append(kept, v)
		}
	}
	d.Views = kept
}

// Unsaved returns the weight, in rows, of what is in no file.
func (d *Draft) Unsaved() int {
	weight := d.NewRows()
	for _, v := range d.Views {
		if !v.InMemory() {
			weight += compact.Changes(v.Dirty, v.Fresh)
		}
	}
	return weight
}

// NewRows returns the number of live rows that are in memory alone.
func (d *Draft) NewRows() (rows int) {
	for _, v := range d.InMemory() {
		rows += v.LiveRows
	}
	return rows
}

// InMemory returns the views whose segments have no file.
func (d *Draft) InMemory() []*view.View {
	var out []*view.View
	for _, v := range d.Views {
		if v.InMemory() {
			out = append(out, v)
		}
	}
	return out
}
