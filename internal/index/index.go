// Package index is the search index of one corpus: immutable segments over its parts, with snapshots that never change
// under a reader, exact lexical and vector search, and filters decided inside. It is derived from what SQL holds and
// may be thrown away at any time. It is not for text, tokens or encoders: callers (packages replica and retrieve) give
// it terms and vectors, and fuse what it finds.
//
// Two rules hold throughout: hits and scores do not depend on how rows are spread over segments, and a file that is
// not what was written is dropped and reported, never trusted.
package index

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/expr/filter"
	"quarry/internal/index/compact"
	"quarry/internal/index/condition"
	"quarry/internal/index/layer"
	"quarry/internal/index/recall"
	"quarry/internal/index/rows"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
	shown "quarry/internal/index/view"
	"quarry/internal/search"
)

// ErrCorrupt marks errors of damaged files; the error names file, section and offset. The index must be rebuilt with
// Replace.
var ErrCorrupt = search.ErrCorrupt

// ErrClosed is the error of writes after Close.
var ErrClosed = errors.New("index is closed")

// Config is what the index is of and where its files lie.
type Config struct {
	Dir           string         // "" = in memory only
	Epoch         int64          // of the corpus's life; files of another epoch are dropped
	Encoder       string         // fingerprint; files of another encoder are dropped
	Schema        *filter.Schema // nil = no attributes
	SchemaVersion int64          // of Schema; files of another version lack columns until Retype makes them
	Dim           int            // of the vectors; 0 = parts have none
	Dimensions    int            // number of custom dimensions
	// Conditions keeps results of conditions of filters for all indexes that share it; nil keeps none.
	Conditions *condition.Cache
	// Merges runs the merges of this and other indexes; nil = Merge alone merges.
	Merges *compact.Scheduler
	// Pause is called between blocks of what Replace does, for an index that is filled beside one that is searched: there it may
	// wait, and its error ends the filling. It may be nil.
	Pause func() error
	Files segment.Files // how files are written
	// Notify is called with an event and an error that the index has dealt with. It may be nil, is called by one
	// goroutine at a time, and must not call the index.
	Notify func(event string, err error)
}

// The events of Config.Notify.
const (
	EventDamaged = "index_files_damaged" // files were dropped; changes are needed again from Applied on
	EventForeign = "index_files_foreign" // files of another epoch or encoder were dropped
	EventNewer   = "index_files_newer"   // files of a newer program were left alone; the index is made beside them
	EventUnsaved = "index_not_saved"     // files could not be written; the index goes on in memory
	// EventUnmerged is that a merge has failed; of several in a row the first is told. The index goes on with what there was,
	// and tries again later.
	EventUnmerged = "index_not_merged"
)

// What the index is made of.
type (
	Document = search.Document
	Part     = search.Part
	Change   = search.Change
	Op       = search.Op
)

// The operations of a Change.
const (
	Put    = search.Put
	Delete = search.Delete
	Reset  = search.Reset
	Update = search.Update
)

// Index is the live index of one corpus. Searches may run beside one writer; a second writer waits.
type Index struct {
	cfg      Config
	rotation *vector.Rotation // nil without vectors

	task    *compact.Task // its merges; nil without a scheduler
	merging atomic.Bool   // a merge runs

	write sync.Mutex    // held by Apply, Replace, Flush, Close, Swap, and by Merge for moments
	disk  disk          // guarded by write
	of    *layer.Schema // what changes are of; guarded by write, and by mu where it is set

	recall recall.Counter
	checks sync.WaitGroup // searches that are being asked again
	// Of tests, which try with few rows what many have; 0 = as everywhere.
	listsFrom, scanMost int

	mu     sync.Mutex
	cur    *state // guarded by mu; nil after Close
	closed bool   // guarded by mu
}

// Open maps the files that are valid. Files that are damaged or belong to something else are removed and reported to
// Notify, those of a newer program are reported; Applied returns how far the rest reaches. The error is of the configuration or of the file system.
func Open(cfg Config) (*Index, error) {
	if cfg.Dim < 0 || cfg.Dimensions < 0 {
		return nil, fmt.Errorf("open index: %d dimensions, %d custom ones", cfg.Dim, cfg.Dimensions)
	}
	x := &Index{cfg: cfg, of: layer.NewSchema(cfg.Schema, cfg.SchemaVersion), disk: disk{when: compact.NewThreshold(), filed: cfg.Dir != ""}}
	if cfg.Dim > 0 {
		x.rotation = vector.NewRotation(cfg.Dim, uint64(cfg.Epoch))
	}
	st, err := x.restore()
	if err != nil {
		return nil, err
	}
	x.cur = st
	if x.task = cfg.Merges.Task(x.work); x.task != nil {
		x.disk.rest.After = cfg.Merges.Rest
	}
	x.plan()
	return x, nil
}

// shape returns what all segments of x have in common.
func (x *Index) shape() rows.Shape {
	return rows.Shape{Rotation: x.rotation, Dimensions: x.cfg.Dimensions, ListsFrom: x.listsFrom}
}

// folder returns where the files of x lie.
func (x *Index) folder() shown.Folder {
	return shown.Folder{Dir: x.cfg.Dir, Epoch: x.cfg.Epoch, Encoder: x.cfg.Encoder, Shape: x.shape(), Files: x.cfg.Files}
}

func (x *Index) notify(event string, err error) {
	if x.cfg.Notify != nil {
		x.cfg.Notify(event, err)
	}
}

// Applied returns the number of the last change that searches see.
func (x *Index) Applied() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cur == nil {
		return 0
	}
	return x.cur.seq
}

// State returns how far the index has come.
func (x *Index) State() search.State {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cur == nil {
		return search.State{Schema: x.of.Version}
	}
	return search.State{Applied: x.cur.seq, Schema: x.cur.of.Version, Partial: x.cur.partial}
}

// Apply shows changes to searches, all at once. They come in order and without gaps from Applied()+1 on. After an
// error nothing has changed.
func (x *Index) Apply(changes []Change) (err error) {
	x.write.Lock()
	defer x.write.Unlock()
	if len(changes) == 0 {
		return nil
	}
	defer guard(&err, x.views())()
	d, err := x.draft()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Seq != d.Seq+1 {
			return fmt.Errorf("apply change %d: want %d", c.Seq, d.Seq+1)
		}
		d.Seq = c.Seq
		if err := d.Change(c); err != nil {
			return fmt.Errorf("apply change %d: %w", c.Seq, err)
		}
	}
	if err := d.Build(); err != nil {
		return err
	}
	x.publish(d)
	if x.disk.due(d) {
		if err := x.file(d); err != nil {
			x.disk.when.Failed(d.Unsaved())
			x.notify(EventUnsaved, err)
		}
	}
	x.plan()
	return nil
}

// Replace rebuilds the index: it loads batches until next returns none, each document once, then shows them in place
// of everything before, as of change seq. Searches see the old content until then. After an error nothing has changed.
func (x *Index) Replace(seq int64, next func() ([]Document, error)) (err error) {
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	if x.isClosed() {
		return ErrClosed
	}
	d := &draft{Shape: x.shape(), Of: x.of, Seq: seq}
	d.Shape.Pause = x.cfg.Pause
	for {
		docs, err := next()
		if err == nil {
			err = d.Load(docs)
		}
		var unsaved error
		if err == nil && x.disk.due(d) {
			// Sealed along the way, so that a large corpus is never in memory as a whole.
			unsaved = x.sealViews(d, d.InMemory())
		}
		if err == nil && x.cfg.Pause != nil {
			err = x.cfg.Pause()
		}
		if err != nil {
			x.drop(d)
			return fmt.Errorf("rebuild index: %w", err)
		}
		if unsaved != nil {
			x.disk.when.Failed(d.Unsaved())
			x.notify(EventUnsaved, unsaved)
		}
		if len(docs) == 0 {
			break
		}
	}
	x.publish(d)
	if x.cfg.Dir != "" {
		if err := x.saveRebuilt(d); err != nil {
			x.notify(EventUnsaved, err)
		}
		x.disk.filled.Store(x.disk.saved != nil && x.task != nil)
	}
	x.plan()
	return nil
}

// Partial reports that a damaged segment was left out, when the index was opened or by Lose. Searches and changes must wait
// until Repair has brought back its documents.
func (x *Index) Partial() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cur != nil && x.cur.partial
}

// errPartial is the error of changes while documents are missing that Repair must bring back.
var errPartial = errors.New("index lacks documents of a damaged file")

// Lose leaves out the segment whose file the damage in cause is in, as an index does that is opened with it, so that Repair can
// bring back its documents. It reports whether the index is partial then: not if no segment has that file, which was lost
// before or belongs to all of them.
func (x *Index) Lose(cause error) (lost bool, err error) {
	x.write.Lock()
	defer x.write.Unlock()
	d, err := x.draftAnyway()
	if err != nil {
		return false, err
	}
	all := len(d.Views)
	var c *segment.Corrupt
	if errors.As(cause, &c) {
		d.Views = slices.DeleteFunc(d.Views, func(v *view) bool { return v.Reads(c.File) })
	}
	if len(d.Views) < all {
		d.Partial = true
		x.publish(d)
	}
	return d.Partial, nil
}

// Has reports whether the document with a number has parts in the index.
func (x *Index) Has(no int64) bool {
	s := x.Snapshot()
	defer s.Release()
	for _, v := range s.st.views {
		if _, ok := v.Has(no); ok {
			return true
		}
	}
	return false
}

// Repair adds the documents that a damaged segment held, in batches until next returns none: those that exist now and
// for which Has is false. Applied stays; what changed since then is applied again afterwards.
func (x *Index) Repair(next func() ([]Document, error)) (err error) {
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	d, err := x.draftAnyway()
	if err == nil && d.Of != x.of {
		err = search.ErrSchema
	}
	for err == nil {
		var docs []Document
		if docs, err = next(); err != nil || len(docs) == 0 {
			break
		}
		err = d.Load(docs)
	}
	if err != nil {
		return fmt.Errorf("repair index: %w", err)
	}
	d.Partial = false
	x.publish(d)
	if err := x.save(); err != nil {
		x.notify(EventUnsaved, err)
	}
	x.plan()
	return nil
}

// Flush writes to files what is worth it: more than a few thousand rows or deletes that are in memory alone.
func (x *Index) Flush() (err error) {
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	d, err := x.draft()
	if errors.Is(err, search.ErrSchema) || errors.Is(err, errPartial) {
		return nil // nothing could be changed since the files were opened
	}
	if err != nil {
		return err
	}
	if !x.disk.worth(d) && !x.disk.behind.Load() {
		return nil
	}
	return x.save()
}

// Halt ends merges for good, and returns when none runs. Searches and changes go on.
func (x *Index) Halt() { x.task.Stop() }

// Close ends merges, flushes and unmaps; files stay mapped while snapshots are held. Searches on those go on. What can't be written,
// on a full disk say, goes to Notify and is no error: the next Open lacks it, which its Applied shows.
func (x *Index) Close() error {
	x.Halt()
	if err := x.Flush(); errors.Is(err, ErrClosed) {
		return nil
	} else if err != nil {
		x.notify(EventUnsaved, err)
	}
	x.shut()
	return nil
}

// Drop closes the index without saving it, and removes its files. Searches on snapshots that are held go on.
func (x *Index) Drop() error {
	x.Halt()
	x.shut()
	if x.cfg.Dir == "" {
		return nil
	}
	return os.RemoveAll(x.cfg.Dir)
}

// shut ends changes, and lets go of the present state.
func (x *Index) shut() {
	x.write.Lock()
	defer x.write.Unlock()
	x.mu.Lock()
	st := x.cur
	x.cur, x.closed = nil, true
	x.mu.Unlock()
	if st != nil {
		x.release(st)
	}
	x.pin(nil)
	x.checks.Wait()
}

func (x *Index) isClosed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closed
}
