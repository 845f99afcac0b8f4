package view

import (
	"errors"
	"path/filepath"

	"quarry/internal/index/layer"
	"quarry/internal/index/manifest"
	"quarry/internal/index/rows"
	"quarry/internal/index/segment"
)

// Folder is the folder of an index, and what its files are of.
type Folder struct {
	Dir     string
	Epoch   int64
	Encoder string
	Shape   rows.Shape
	Files   segment.Files // how files are written
}

func (f Folder) path(file string) string { return filepath.Join(f.Dir, file) }

// Write writes a segment to the file with a number and returns it from there.
func (f Folder) Write(number int, s *rows.Segment, of *layer.Schema) (*View, error) {
	sections, err := s.Sections(f.Epoch, f.Encoder)
	if err != nil {
		return nil, err
	}
	named := manifest.Segment{Number: number}
	if err := f.Files.Write(f.path(named.File()), sections); err != nil {
		return nil, err
	}
	return f.written(named, of)
}

// Merge writes one segment of the live rows of views, with values of these attributes, to the file with a number and returns
// it from there; nil when there are no rows. It is not in memory meanwhile, as it may be as large as a segment can be.
func (f Folder) Merge(number int, of *layer.Schema, views []*rows.View, files []*View) (*View, error) {
	named := manifest.Segment{Number: number}
	w, err := f.Files.Create(f.path(named.File()))
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	ok, err := f.Shape.MergeTo(w, of, views, f.Epoch, f.Encoder)
	if err == nil {
		err = CutOff(files) // what was read may be zeros
	}
	if err == nil && ok {
		err = w.Commit()
	}
	if err != nil || !ok {
		return nil, err
	}
	return f.written(named, of)
}

// written returns the segment that was just written.
func (f Folder) written(named manifest.Segment, of *layer.Schema) (*View, error) {
	v, err := f.segment(named)
	if err != nil {
		return nil, err
	}
	if err := f.OpenColumns(v, 0, of); err != nil {
		_ = v.File.Close()
		return nil, err
	}
	return v, nil
}

// WriteDeletes writes the deletes of v to a new file, of a generation that Home.Next has given.
func (f Folder) WriteDeletes(v *View, gen int) error {
	v.Gen, v.Dirty = gen, 0
	return f.Files.Write(f.path(v.Listed().DeletesFile()), []segment.Section{v.LiveSection()})
}

// WriteColumns writes the newest values of v to a new file, of a generation that Home.Next has given. It then has the columns
// of v.
func (f Folder) WriteColumns(v *View, gen int) error {
	sections, err := v.ColumnSections(f.Epoch, f.Encoder)
	if err != nil {
		return err
	}
	named := v.Listed()
	named.Columns = gen
	if err := f.Files.Write(f.path(named.ColumnsFile()), sections); err != nil {
		return err
	}
	return f.OpenColumns(v, named.Columns, v.Values.Schema())
}

// Open opens a segment with its deletes and without columns.
func (f Folder) Open(named manifest.Segment) (*View, error) {
	v, err := f.segment(named)
	if err != nil {
		return nil, err
	}
	v.Gen, v.Home.last = named.Deletes, max(named.Deletes, named.Columns)
	if named.Columns > 0 {
		v.Columns = &ColumnFile{Gen: named.Columns}
	}
	if v.Gen > 0 {
		if err := f.applyDeletes(v); err != nil {
			return nil, errors.Join(err, v.File.Close())
		}
	}
	return v, nil
}

// segment returns all rows of a segment from its file, without deletes and columns.
func (f Folder) segment(named manifest.Segment) (*View, error) {
	path := f.path(named.File())
	file, m, err := f.open(path)
	if err != nil {
		return nil, err
	}
	s, err := f.Shape.Bind(file, m)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	v := New(s)
	*v.Home = Home{Path: path, Number: named.Number, Of: m.Schema, Addressed: s.Addressed()}
	return v, nil
}

// open maps a file and checks that it is of this index, by its section meta.
func (f Folder) open(path string) (file *segment.File, m rows.Meta, err error) {
	if file, err = segment.OpenFor(path, f.Shape.Access); err != nil {
		return nil, m, err
	}
	if m, err = rows.ReadMeta(file); err == nil && (m.Epoch != f.Epoch || m.Encoder != f.Encoder) {
		err = &segment.Corrupt{File: file.Name, Section: "meta", Reason: "not of this corpus"}
	}
	if err != nil {
		_ = file.Close()
		return nil, m, err
	}
	return file, m, nil
}

// applyDeletes reads the file of the deletes of v.
func (f Folder) applyDeletes(v *View) error {
	file, err := segment.Open(f.path(v.Listed().DeletesFile()))
	if err != nil {
		return err
	}
	live, err := v.BindLive(file)
	if err == nil {
		v.View = live
	}
	return errors.Join(err, file.Close())
}

// OpenColumns sets the columns of v to those that lie in files: of generation gen, or its segment's own when gen is 0.
func (f Folder) OpenColumns(v *View, gen int, of *layer.Schema) error {
	if gen == 0 {
		if v.Home.Of != of.Version {
			return &segment.Corrupt{File: v.File.Name, Section: "meta", Reason: "not of these attributes"}
		}
		values, err := rows.BindColumns(v.File, of, v.Docs, v.Rows)
		v.Values, v.Fresh = values, 0
		return err
	}
	file, m, err := f.open(f.path(manifest.Segment{Number: v.Home.Number, Columns: gen}.ColumnsFile()))
	if err != nil {
		return err
	}
	values, err := rows.BindColumns(file, of, v.Docs, v.Rows)
	if err == nil && m.Schema != of.Version {
		err = &segment.Corrupt{File: file.Name, Section: "meta", Reason: "not of these attributes"}
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	v.Values, v.Columns, v.Fresh = values, &ColumnFile{Gen: gen, File: file}, 0
	return nil
}
