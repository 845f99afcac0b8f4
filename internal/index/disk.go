package index

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"quarry/internal/index/compact"
	"quarry/internal/index/manifest"
)

// disk is what the writer knows of the files.
type disk struct {
	next   int    // number of the last segment file
	making int    // number of the segment that a merge is writing; 0 = none
	saved  *state // what the manifest lists; nil without files
	when   compact.Threshold
	filed  bool // there is a folder

	filled atomic.Bool // what Replace wrote is merged, or to be, all at once and not tier by tier; changed with the lock of writers
	behind atomic.Bool // what is in memory is to be saved beside writers
	saving bool        // that is being done
	aside  bool        // it is done also without a scheduler, for tests

	rest     compact.Rest
	failures int       // of merges, since one succeeded
	retry    time.Time // no merge before
}

// due reports that the part in memory has grown enough to be written.
func (k *disk) due(d *draft) bool { return k.filed && k.when.Due(d.Unsaved()) }

// worth reports that closing should write.
func (k *disk) worth(d *draft) bool { return k.filed && k.when.Worth(d.Unsaved()) }

// save writes everything to files and shows the mapped segments to searches. Hits and scores stay as they are.
func (x *Index) save() error {
	d, err := x.draft()
	if err != nil {
		return err
	}
	if err := x.seal(d); err != nil {
		x.drop(d)
		return err
	}
	if err := x.writeManifest(d); err != nil {
		x.drop(d)
		return err
	}
	x.pin(x.hold(x.publish(d)))
	x.disk.when.Saved()
	x.disk.behind.Store(false)
	return x.sweep(d.Views)
}

// saveRebuilt saves after Replace. A small rebuilt index has no files, and none of its past may remain.
func (x *Index) saveRebuilt(d *draft) error {
	if !x.disk.worth(d) && d.NewRows() < x.disk.when.Seal && len(d.InMemory()) == len(d.Views) {
		x.pin(nil)
		return manifest.Remove(x.cfg.Files, x.cfg.Dir)
	}
	return x.save()
}

// seal writes the segments of d that are in memory to one file.
func (x *Index) seal(d *draft) error {
	if in := d.InMemory(); len(in) > 0 {
		return x.sealViews(d, in)
	}
	return nil
}

// sealViews writes the live rows of some views to one file and puts it in their place.
func (x *Index) sealViews(d *draft, in []*view) error {
	s, err := d.Merged(in)
	if err != nil {
		return err
	}
	if s == nil {
		d.Remove(in)
		return nil
	}
	if err := os.MkdirAll(x.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("make index folder: %w", err)
	}
	x.disk.next++
	to := x.folder()
	to.Files.Pause = d.Shape.Pause
	v, err := to.Write(x.disk.next, s, d.Of)
	if err != nil {
		return err
	}
	x.discard(d, in)
	d.Remove(in)
	d.Own(v)
	d.Views = append(d.Views, v)
	return nil
}
