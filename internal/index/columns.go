package index

import (
	"path/filepath"

	"quarry/internal/index/layer"
	"quarry/internal/index/manifest"
	"quarry/internal/index/rows"
	"quarry/internal/index/segment"
)

// columnFile is a file with all columns of a segment, in place of the segment's own.
type columnFile struct {
	gen  int
	file *segment.File // nil while the columns are of a version that is not known
	refs int           // states that hold it; guarded by Index.mu
}

// columnsGen returns the generation of the file with the columns of v, 0 for the segment's own.
func (v *view) columnsGen() int {
	if v.columns == nil {
		return 0
	}
	return v.columns.gen
}

// files returns the files that v reads.
func (v *view) files() []*segment.File {
	out := []*segment.File{v.File}
	if v.columns != nil && v.columns.file != nil {
		out = append(out, v.columns.file)
	}
	return out
}

// writeColumns writes the newest values of v to a file, which then has its columns.
func (x *Index) writeColumns(v *view) error {
	sections, err := v.ColumnSections(x.cfg.Epoch, x.cfg.Encoder)
	if err != nil {
		return err
	}
	gen := v.columnsGen() + 1
	if err := segment.Write(filepath.Join(x.cfg.Dir, manifest.Segment{Number: v.segment.number, Columns: gen}.ColumnsFile()), sections); err != nil {
		return err
	}
	return x.openColumns(v, gen, v.Values.Schema())
}

// openColumns sets the columns of v to those that lie in files: of generation gen, or its segment's own when gen is 0.
func (x *Index) openColumns(v *view, gen int, of *layer.Schema) error {
	if gen == 0 {
		if v.segment.of != of.Version {
			return &segment.Corrupt{File: v.File.Name, Section: "meta", Reason: "not of these attributes"}
		}
		values, err := rows.BindColumns(v.File, of, v.Docs, v.Rows)
		v.Values, v.fresh = values, 0
		return err
	}
	f, m, err := x.openFile(filepath.Join(x.cfg.Dir, manifest.Segment{Number: v.segment.number, Columns: gen}.ColumnsFile()))
	if err != nil {
		return err
	}
	values, err := rows.BindColumns(f, of, v.Docs, v.Rows)
	if err == nil && m.Schema != of.Version {
		err = &segment.Corrupt{File: f.Name, Section: "meta", Reason: "not of these attributes"}
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	v.Values, v.columns, v.fresh = values, &columnFile{gen: gen, file: f}, 0
	return nil
}
