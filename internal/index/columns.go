package index

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"quarry/internal/index/layer"
	"quarry/internal/index/manifest"
	"quarry/internal/index/segment"
)

// columnFile is a file with all columns of a segment, in place of the segment's own.
type columnFile struct {
	gen  int
	file *segment.File // nil while the columns are of a version that is not known
	refs int           // states that hold it; guarded by Index.mu
}

// columnsGen is the generation of the file with the columns of v, 0 for the segment's own.
func (v *view) columnsGen() int {
	if v.file == nil {
		return 0
	}
	return v.file.gen
}

// files lists the files that v reads.
func (v *view) files() []*segment.File {
	out := []*segment.File{v.seg.file}
	if v.file != nil && v.file.file != nil {
		out = append(out, v.file.file)
	}
	return out
}

// writeColumns makes the newest values of v a file and its columns.
func (x *Index) writeColumns(v *view) error {
	whole, of := v.values.Columns(), v.values.Schema()
	m := meta{Rows: v.seg.rows, Docs: v.seg.docs, Epoch: x.cfg.Epoch, Encoder: x.cfg.Encoder, Schema: of.Version}
	head, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write columns: %w", err)
	}
	sections := []segment.Section{{Name: "meta", Data: head}}
	for i, c := range whole {
		sections = append(sections, segment.Section{Name: columnName(i), Data: c.Bytes()})
	}
	gen := v.columnsGen() + 1
	if err := segment.Write(filepath.Join(x.cfg.Dir, manifest.Segment{Number: v.seg.number, Columns: gen}.ColumnsFile()), sections); err != nil {
		return err
	}
	return x.openColumns(v, gen, of)
}

// openColumns gives v the columns that lie in files: of generation gen, or its segment's own when gen is 0.
func (x *Index) openColumns(v *view, gen int, of *layer.Schema) error {
	if gen == 0 {
		if v.seg.of != of.Version {
			return &segment.Corrupt{File: v.seg.file.Name, Section: "meta", Reason: "not of these attributes"}
		}
		values, err := bindColumns(v.seg.file, of, v.seg.docs, v.seg.rows)
		v.values, v.fresh = values, 0
		return err
	}
	f, m, err := x.openFile(filepath.Join(x.cfg.Dir, manifest.Segment{Number: v.seg.number, Columns: gen}.ColumnsFile()))
	if err != nil {
		return err
	}
	values, err := bindColumns(f, of, v.seg.docs, v.seg.rows)
	if err == nil && m.Schema != of.Version {
		err = &segment.Corrupt{File: f.Name, Section: "meta", Reason: "not of these attributes"}
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	v.values, v.file, v.fresh = values, &columnFile{gen: gen, file: f}, 0
	return nil
}
