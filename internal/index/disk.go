package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"quarry/internal/index/compact"
	"quarry/internal/index/manifest"
	"quarry/internal/index/segment"
)

// disk is what the writer knows of the files.
type disk struct {
	next int // number of the next segment file
	when compact.Threshold
}

// due reports that the part in memory has grown enough to be written.
func (k *disk) due(d *draft) bool { return d.x.cfg.Dir != "" && k.when.Due(d.unsaved()) }

// worth reports that closing should write.
func (k *disk) worth(d *draft) bool { return d.x.cfg.Dir != "" && k.when.Worth(d.unsaved()) }

// save writes everything to files and shows the mapped segments to searches. Hits and scores stay as they are.
func (x *Index) save() error {
	d, err := x.draft()
	if err != nil {
		return err
	}
	if err := x.seal(d); err != nil {
		d.drop()
		return err
	}
	if err := x.writeManifest(d); err != nil {
		d.drop()
		return err
	}
	x.publish(d)
	x.disk.when.Saved()
	return x.sweep(d.views)
}

// saveRebuilt saves after Replace. A small rebuilt index has no files, and none of its past may remain.
func (x *Index) saveRebuilt(d *draft) error {
	if !x.disk.worth(d) {
		if d.newRows() < x.disk.when.Seal && len(d.inMemory()) == len(d.views) {
			return manifest.Remove(x.cfg.Dir)
		}
	}
	return x.save()
}

// seal writes the segments of d that are in memory to files, and merges or rewrites those that are due.
func (x *Index) seal(d *draft) error {
	if in := d.inMemory(); len(in) > 0 {
		if err := x.sealViews(d, in); err != nil {
			return err
		}
	}
	for _, v := range slices.Clone(d.views) {
		if compact.Worn(v.Rows, v.LiveRows) {
			if err := x.sealViews(d, []*view{v}); err != nil {
				return err
			}
		}
	}
	return x.mergeSealed(d)
}

// mergeSealed merges segments while there are enough of one size.
func (x *Index) mergeSealed(d *draft) error {
	for {
		in := choose(d.views, compact.Smallest)
		if in == nil {
			return nil
		}
		if err := x.sealViews(d, in); err != nil {
			return err
		}
	}
}

// sealViews writes the live rows of some views to one file and puts it in their place.
func (x *Index) sealViews(d *draft, in []*view) error {
	s, err := d.merged(in)
	if err != nil {
		return err
	}
	if s == nil {
		d.remove(in)
		return nil
	}
	sections, err := s.Sections(x.cfg.Epoch, x.cfg.Encoder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(x.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("make index folder: %w", err)
	}
	x.disk.next++
	named := manifest.Segment{Number: x.disk.next}
	if err := segment.Write(filepath.Join(x.cfg.Dir, named.File()), sections); err != nil {
		return err
	}
	v, err := x.openSegment(named)
	if err != nil {
		return err
	}
	if err := x.openColumns(v, 0, d.of); err != nil {
		_ = v.File.Close()
		return err
	}
	d.remove(in)
	d.discard(in)
	d.own(v)
	d.views = append(d.views, v)
	return nil
}

// writeDeletes writes the deletes of v to a file.
func (x *Index) writeDeletes(v *view) error {
	return segment.Write(filepath.Join(x.cfg.Dir, v.listed().DeletesFile()), []segment.Section{v.LiveSection()})
}

// applyDeletes reads the file of the deletes of v.
func (x *Index) applyDeletes(v *view) error {
	f, err := segment.Open(filepath.Join(x.cfg.Dir, v.listed().DeletesFile()))
	if err != nil {
		return err
	}
	live, err := v.BindLive(f)
	if err == nil {
		v.View = live
	}
	return errors.Join(err, f.Close())
}
