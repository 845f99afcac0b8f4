package index

import (
	"fmt"

	"quarry/internal/expr/filter"
	"quarry/internal/index/compact"
	"quarry/internal/index/layer"
	"quarry/internal/index/rows"
	"quarry/internal/index/segment"
	shown "quarry/internal/index/view"
	"quarry/internal/search"
)

// draft is the next state while the writer prepares it. It owns the views that it has cloned or built; the others are
// shared with the current state and must not be changed.
type draft struct {
	x       *Index
	of      *layer.Schema
	seq     int64
	views   []*view
	owned   map[*view]bool
	pending []*Document              // to be built, in order; nil where one went again
	at      map[int64]int            // number → place in pending
	updates map[int64][]filter.Value // by number: values of documents in views, to be set when the draft is built
}

// draft returns a draft of the current state. It is an error that the columns are not those of the attributes that the
// index is for, or that documents are missing.
func (x *Index) draft() (*draft, error) {
	d, err := x.draftAnyway()
	switch {
	case err != nil:
		return nil, err
	case d.of != x.of:
		return nil, search.ErrSchema
	case x.partial:
		return nil, errPartial
	}
	return d, nil
}

// draftAnyway returns a draft of the current state, whatever it lacks.
func (x *Index) draftAnyway() (*draft, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ErrClosed
	}
	return &draft{x: x, of: x.cur.of, seq: x.cur.seq, views: append([]*view(nil), x.cur.views...)}, nil
}

func (d *draft) change(c Change) error {
	switch c.Op {
	case Put:
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
	case Update:
		if c.Doc != nil {
			d.update(c.No, c.Doc.Values)
		}
	case Delete:
		d.delete(c.No)
	case Reset:
		d.views, d.pending, d.at, d.updates = nil, nil, nil, nil
	default:
		return fmt.Errorf("unknown operation %d", c.Op)
	}
	return nil
}

func (d *draft) put(doc *Document) {
	if d.at == nil {
		d.at = map[int64]int{}
	}
	d.at[doc.No] = len(d.pending)
	d.pending = append(d.pending, doc)
}

// update sets the values of a document that is present.
func (d *draft) update(no int64, values []filter.Value) {
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
func (d *draft) layer() {
	if len(d.updates) == 0 {
		return
	}
	for i, v := range d.views {
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
		d.own(&n)
		d.views[i] = &n
	}
	d.updates = nil
}

// delete removes the document with number no, wherever it is.
func (d *draft) delete(no int64) {
	delete(d.updates, no)
	if i, ok := d.at[no]; ok {
		d.pending[i] = nil
		delete(d.at, no)
	}
	for i, v := range d.views {
		doc, ok := v.Has(no)
		if !ok {
			continue
		}
		if !d.owned[v] {
			v = v.Copy()
			d.own(v)
			d.views[i] = v
		}
		v.Dirty += v.Delete(doc)
	}
}

func (d *draft) own(v *view) {
	if d.owned == nil {
		d.owned = map[*view]bool{}
	}
	d.owned[v] = true
}

// build builds a segment of what is pending and merges the segments in memory where there are many.
func (d *draft) build() error {
	var docs []Document
	for _, p := range d.pending {
		if p != nil {
			docs = append(docs, *p)
		}
	}
	d.pending, d.at = nil, nil
	d.layer()
	return d.load(docs)
}

// load adds documents whose numbers are not there yet.
func (d *draft) load(docs []Document) error {
	s, err := d.x.shape().Build(d.of, docs)
	if err != nil {
		return err
	}
	if s != nil {
		v := shown.New(s)
		d.own(v)
		d.views = append(d.views, v)
	}
	d.dropEmpty()
	return d.mergeTiers()
}

// dropEmpty removes segments without a live row.
func (d *draft) dropEmpty() {
	kept := d.views[:0:0]
	for _, v := range d.views {
		if v.LiveRows > 0 {
			kept = append(kept, v)
		}
	}
	d.views = kept
}

// mergeTiers merges segments in memory while there are enough of one size.
func (d *draft) mergeTiers() error {
	for {
		memory := d.inMemory()
		live := make([]int, len(memory))
		for i, v := range memory {
			live[i] = v.LiveRows
		}
		full := compact.Full(live)
		if full == nil {
			return nil
		}
		in := make([]*view, len(full))
		for i, at := range full {
			in[i] = memory[at]
		}
		if err := d.mergeInto(in); err != nil {
			return err
		}
	}
}

// merged returns one segment of the live rows of some views; nil when they have none.
func (d *draft) merged(in []*view) (*rows.Segment, error) {
	all := make([]*rows.View, len(in))
	for i, v := range in {
		all[i] = &v.View
	}
	return d.x.shape().Merge(d.of, all)
}

// mergeInto replaces views of the draft by one in memory.
func (d *draft) mergeInto(in []*view) error {
	s, err := d.merged(in)
	if err != nil {
		return err
	}
	d.remove(in)
	if s != nil {
		v := shown.New(s)
		d.own(v)
		d.views = append(d.views, v)
	}
	return nil
}

func (d *draft) remove(out []*view) {
	gone := map[*view]bool{}
	for _, v := range out {
		gone[v] = true
	}
	kept := d.views[:0:0]
	for _, v := range d.views {
		if !gone[v] {
			kept = append(kept, v)
		}
	}
	d.views = kept
}

// unsaved returns the weight, in rows, of what is in no file.
func (d *draft) unsaved() int {
	weight := d.newRows()
	for _, v := range d.views {
		if !v.InMemory() {
			weight += compact.Changes(v.Dirty, v.Fresh)
		}
	}
	return weight
}

// newRows returns the number of live rows that are in memory alone.
func (d *draft) newRows() (rows int) {
	for _, v := range d.inMemory() {
		rows += v.LiveRows
	}
	return rows
}

// inMemory returns the views whose segments have no file.
func (d *draft) inMemory() []*view {
	var out []*view
	for _, v := range d.views {
		if v.InMemory() {
			out = append(out, v)
		}
	}
	return out
}

// drop unmaps the segments of a draft that is not published.
func (d *draft) drop() { d.discard(d.views) }

// discard unmaps those segments of views that only this draft has seen.
func (d *draft) discard(views []*view) {
	var mine []*segment.File
	d.x.mu.Lock()
	for _, v := range views {
		if d.owned[v] {
			mine = v.Unheld(mine)
		}
	}
	d.x.mu.Unlock()
	closeAll(mine)
}
