package index

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"quarry/internal/index/manifest"
	"quarry/internal/index/rowset"
	"quarry/internal/index/segment"
)

const (
	// sealRows is the size at which the part in memory is written to a file.
	sealRows = 16_384
	// smallRows is what need not be written when the index is closed: it is faster to build again.
	smallRows = 2_000
	// mergedRows is the largest segment that a merge writes while writers wait.
	mergedRows = 131_072
	// deadShare is the share of a segment's rows, one in so many, that may be deleted before it is written anew.
	deadShare = 5
	// updateShare is how many updates of values weigh as much as one row in the decision whether to write.
	updateShare = 4
)

// disk is what the writer knows of the files.
type disk struct {
	next     int // number of the next segment file
	patience int // more rows that may stay in memory after a write has failed
	seal     int // sealRows
	small    int // smallRows
}

// due reports that the part in memory has grown enough to be written.
func (k *disk) due(d *draft) bool {
	rows, changes := d.unsaved()
	return d.x.cfg.Dir != "" && rows+changes >= k.seal+k.patience
}

// postpone puts the next attempt off until as much again has come.
func (k *disk) postpone(d *draft) {
	rows, changes := d.unsaved()
	k.patience = rows + changes
}

// worth reports that closing should write.
func (k *disk) worth(d *draft) bool {
	rows, changes := d.unsaved()
	return d.x.cfg.Dir != "" && rows+changes > k.small
}

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
	x.disk.patience = 0
	return x.sweep(d.views)
}

// saveRebuilt saves after Replace. A small rebuilt index has no files, and none of its past may remain.
func (x *Index) saveRebuilt(d *draft) error {
	if !x.disk.worth(d) {
		if rows, _ := d.unsaved(); rows < x.disk.seal && len(d.inMemory()) == len(d.views) {
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
		if dead := v.Rows - v.LiveRows; dead > v.Rows/deadShare && v.LiveRows <= mergedRows {
			if err := x.sealViews(d, []*view{v}); err != nil {
				return err
			}
		}
	}
	return x.mergeSealed(d)
}

// mergeSealed merges the smallest files of a tier while there are fanIn of them.
func (x *Index) mergeSealed(d *draft) error {
	for {
		in := smallest(d.views)
		if in == nil {
			return nil
		}
		if err := x.sealViews(d, in); err != nil {
			return err
		}
	}
}

// smallest returns fanIn views of one tier that may be merged, the smallest there are; nil when there are not as many.
func smallest(views []*view) []*view {
	sorted := slices.SortedFunc(slices.Values(views), func(a, b *view) int { return a.LiveRows - b.LiveRows })
	for i := 0; i+fanIn <= len(sorted); i++ {
		in, rows := sorted[i:i+fanIn], 0
		for _, v := range in {
			rows += v.LiveRows
		}
		if tier(in[0].LiveRows) == tier(in[fanIn-1].LiveRows) && rows <= mergedRows {
			return in
		}
	}
	return nil
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
	live := make([]byte, 0, 8*len(v.Live))
	for _, w := range v.Live {
		live = binary.LittleEndian.AppendUint64(live, w)
	}
	return segment.Write(filepath.Join(x.cfg.Dir, v.listed().DeletesFile()), []segment.Section{{Name: "live", Data: live}})
}

// applyDeletes reads the file of the deletes of v.
func (x *Index) applyDeletes(v *view) (err error) {
	f, err := segment.Open(filepath.Join(x.cfg.Dir, v.listed().DeletesFile()))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	live := f.Section("live")
	if len(live) != 8*rowset.Words(v.Rows) {
		return &segment.Corrupt{File: f.Name, Section: "live", Reason: "not of this segment"}
	}
	fresh := v.clone()
	for d := range v.Docs {
		if from, to := v.Run(d); from < to && live[from>>3]>>(from&7)&1 == 0 {
			fresh.Delete(d)
		}
	}
	*v = *fresh
	return nil
}
