package index

import (
	"fmt"

	"quarry/internal/expr/filter"
	"quarry/internal/index/compact"
	"quarry/internal/index/layer"
	"quarry/internal/index/rows"
	"quarry/internal/search"
)

// NoSchema is the version of an index whose columns are not those that it was opened for.
const NoSchema = search.NoSchema

// SchemaVersion returns the version of the attributes whose columns searches use; NoSchema when the files had columns
// of another version than Config asks for, until Retype has made those.
func (x *Index) SchemaVersion() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cur == nil {
		return x.of.Version
	}
	return x.cur.of.Version
}

// Retyping prepares the columns of other attributes beside those in use; texts and vectors stay as they are. Not safe
// for concurrent use, but the index may be searched and changed meanwhile.
type Retyping struct {
	x     *Index
	of    *layer.Schema
	table *layer.Table
	ready map[*rows.Segment]*layer.Set // made by Prepare
	late  map[int64]bool               // added after it; true when Prepare did not know them
}

// Retype begins the change to other attributes.
func (x *Index) Retype(schema *filter.Schema) *Retyping {
	of := layer.NewSchema(schema, NoSchema)
	return &Retyping{x: x, of: of, table: layer.NewTable(of)}
}

// Add adds the values of documents and parts; nothing else of them is read. A document that was added before gets the
// new ones. One that is never added has no values.
func (r *Retyping) Add(docs []Document) error {
	added := make([]layer.Row, len(docs))
	for i := range docs {
		d := &docs[i]
		added[i] = layer.Row{No: d.No, Values: d.Values, Parts: make([][]filter.Value, len(d.Parts))}
		for p := range d.Parts {
			added[i].Parts[p] = rows.Marked(&d.Parts[p], r.of)
		}
		if r.ready != nil {
			r.late[d.No] = r.late[d.No] || !r.table.Has(d.No)
		}
	}
	if err := r.table.Add(added); err != nil {
		return fmt.Errorf("retype index: %w", err)
	}
	return nil
}

// Prepare builds the columns of what the index holds at present, so that Swap has little left to do.
func (r *Retyping) Prepare() (err error) {
	r.ready, r.late = map[*rows.Segment]*layer.Set{}, map[int64]bool{}
	return r.prepare()
}

// prepare builds the columns of the segments that have none ready.
func (r *Retyping) prepare() (err error) {
	s := r.x.Snapshot()
	defer s.Release()
	defer guard(&err, s.st.views)()
	for _, v := range s.st.views {
		if r.ready[v.Segment] != nil {
			continue
		}
		if r.ready[v.Segment], err = r.columns(v.Segment); err != nil {
			return err
		}
	}
	return nil
}

// Swap switches the index to the new attributes, whose version is now known, at once for every search that begins
// afterwards. It is for one call.
func (r *Retyping) Swap(version int64) (err error) {
	x := r.x
	if r.ready != nil { // for segments that were merged since
		if err := r.prepare(); err != nil {
			return err
		}
	}
	r.of.Version = version // nobody else has seen it
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	d, err := x.draftAnyway()
	if err != nil {
		return err
	}
	d.Of = r.of
	filed := false
	for i, v := range d.Views {
		n := *v
		if n.Values, err = r.values(v); err != nil {
			return err
		}
		n.Fresh = compact.Updates(v.Rows) // the files are of the old attributes: they are worth writing
		filed = filed || !v.InMemory()
		d.Own(&n)
		d.Views[i] = &n
	}
	x.mu.Lock()
	x.of = r.of
	x.mu.Unlock()
	x.publish(d)
	if filed && !d.Partial { // else Repair saves
		if err := x.file(d); err != nil {
			x.notify(EventUnsaved, err)
		}
	}
	x.plan()
	return nil
}

// values returns the columns of v, with what was added after Prepare as a layer over them.
func (r *Retyping) values(v *view) (*layer.Set, error) {
	set := r.ready[v.Segment]
	if set == nil {
		return r.columns(v.Segment)
	}
	var changes []layer.Change
	for no, unknown := range r.late {
		doc, ok := v.Find(no)
		if !ok {
			continue
		}
		if unknown {
			return r.columns(v.Segment) // the values of its parts are missing, too
		}
		values := make([]filter.Value, len(r.of.Attrs))
		for a, attr := range r.of.Attrs {
			if attr.Level == filter.Document {
				values[a] = r.table.Value(no, a, 0)
			}
		}
		changes = append(changes, layer.Change{Doc: uint32(doc), Values: values})
	}
	return set.With(changes), nil
}

// columns returns the columns of a segment.
func (r *Retyping) columns(s *rows.Segment) (*layer.Set, error) { return s.Retyped(r.of, r.table) }
