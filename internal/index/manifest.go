package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"quarry/internal/index/layer"
	"quarry/internal/index/segment"
	"quarry/internal/text/analysis"
)

const (
	manifestName = "MANIFEST"
	// formatVersion is that of the sections and the manifest; files of another are dropped.
	formatVersion = 2
	// oldestFormat is the first that can still be read: format 1 knew no files of columns.
	oldestFormat = 1
)

// manifest names the files that together are the index as of change Seq.
type manifest struct {
	Format     int               `json:"format"`
	Analysis   int               `json:"analysis"` // analysis.Version
	Epoch      int64             `json:"epoch"`
	Encoder    string            `json:"encoder"`
	Schema     int64             `json:"schema"`
	Dim        int               `json:"dim"`
	Dimensions int               `json:"dimensions"`
	Seq        int64             `json:"seq"`
	Segments   []manifestSegment `json:"segments"`
}

type manifestSegment struct {
	Number  int `json:"number"`
	Deletes int `json:"deletes"` // generation, 0 = none
	Columns int `json:"columns"` // generation, 0 = those of the segment
}

func (x *Index) identity() manifest {
	c := &x.cfg
	return manifest{Format: formatVersion, Analysis: analysis.Version, Epoch: c.Epoch, Encoder: c.Encoder, Schema: x.of.Version, Dim: c.Dim, Dimensions: c.Dimensions}
}

// fits reports whether files of m can be opened by an index that would write o, but perhaps for their columns.
func (m manifest) fits(o manifest) bool {
	return m.Format >= oldestFormat && m.Format <= o.Format && m.Analysis == o.Analysis && m.Epoch == o.Epoch &&
		m.Encoder == o.Encoder && m.Dim == o.Dim && m.Dimensions == o.Dimensions
}

// writeManifest makes d's files the index. All its segments have files; deletes that are not in one are written first.
func (x *Index) writeManifest(d *draft) error {
	m := x.identity()
	m.Seq = d.seq
	for i, v := range d.views {
		if (v.dirty > 0 || v.fresh > 0) && !d.owned[v] {
			n := *v
			v = &n
			d.own(v)
			d.views[i] = v
		}
		if v.dirty > 0 {
			v.gen++
			v.dirty = 0
			if err := x.writeDeletes(v); err != nil {
				return err
			}
		}
		if v.fresh > 0 {
			if err := x.writeColumns(v); err != nil {
				return err
			}
		}
		m.Segments = append(m.Segments, manifestSegment{v.seg.number, v.gen, v.columnsGen()})
	}
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.MkdirAll(x.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("make index folder: %w", err)
	}
	return segment.Replace(filepath.Join(x.cfg.Dir, manifestName), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%08x %s\n", crc32.Checksum(body, manifestTable), body)
		return err
	})
}

var manifestTable = crc32.MakeTable(crc32.Castagnoli)

// Saved gives the number of the last change that the files in dir hold, without opening them; ok is false where Open
// would find no manifest, or a damaged one.
func Saved(dir string) (seq int64, ok bool) {
	m, err := readManifest(dir)
	return m.Seq, err == nil
}

func readManifest(dir string) (m manifest, err error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return m, err
	}
	bad := func(reason string) error { return &segment.Corrupt{File: manifestName, Reason: reason} }
	sum, body, ok := bytes.Cut(bytes.TrimSuffix(b, []byte("\n")), []byte(" "))
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || err != nil || crc32.Checksum(body, manifestTable) != uint32(want) {
		return m, bad("checksum differs")
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, bad(err.Error())
	}
	return m, nil
}

// restore gives the state that the files hold, or an empty one.
func (x *Index) restore() (*state, error) {
	empty := newState(x.of, 0, nil)
	if x.cfg.Dir == "" {
		return empty, nil
	}
	m, err := readManifest(x.cfg.Dir)
	event := EventDamaged
	var views []*view
	switch {
	case errors.Is(err, os.ErrNotExist):
		return empty, x.removeFiles()
	case err == nil && !m.fits(x.identity()):
		event = EventForeign
		err = fmt.Errorf("index files are of format %d, epoch %d, encoder %q", m.Format, m.Epoch, m.Encoder)
	case err == nil:
		if views, err = x.openAll(m); err == nil {
			return x.restored(m, views)
		}
	}
	if !errors.Is(err, ErrCorrupt) && event == EventDamaged && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open index: %w", err)
	}
	x.notify(event, err)
	return empty, x.removeFiles()
}

// restored makes the state of what could be opened.
func (x *Index) restored(m manifest, views []*view) (*state, error) {
	of := x.of
	for _, v := range views {
		if v.values == nil {
			of = &layer.Schema{Version: NoSchema, ID: -1}
		}
		v.hold()
	}
	if m.Schema != of.Version {
		of = &layer.Schema{Version: NoSchema, ID: -1}
	}
	x.partial = len(views) < len(m.Segments)
	for _, ms := range m.Segments {
		// Those that are lost count, too: until the next manifest a new file of that number would be taken for the old.
		x.disk.next = max(x.disk.next, ms.Number)
	}
	return newState(of, m.Seq, views), x.sweep(&draft{x: x, views: views})
}

// openAll opens the segments of m. Those that are damaged are left out unless none remains, and so are the columns of
// all when those of one are damaged; Notify hears of it.
func (x *Index) openAll(m manifest) (views []*view, err error) {
	defer guard(&err, nil)()
	var damage error
	for _, ms := range m.Segments {
		v, err := x.openView(ms)
		lost := err != nil
		if !lost {
			views = append(views, v)
			if m.Schema == x.of.Version {
				err = x.openColumns(v, ms.Columns, x.of)
			}
		}
		switch {
		case err == nil:
		case !errors.Is(err, ErrCorrupt) && !errors.Is(err, os.ErrNotExist):
			return nil, errors.Join(err, unmapAll(views))
		case lost:
			damage = errors.Join(damage, err)
		default:
			x.notify(EventDamaged, err)
		}
	}
	if len(views) == 0 && damage != nil {
		return nil, damage
	}
	if damage != nil {
		x.notify(EventDamaged, damage)
	}
	return views, nil
}

// openView opens a segment with its deletes and without columns.
func (x *Index) openView(ms manifestSegment) (*view, error) {
	s, err := x.openSegment(ms.Number)
	if err != nil {
		return nil, err
	}
	v := newView(s)
	v.gen = ms.Deletes
	if ms.Columns > 0 {
		v.file = &columnFile{gen: ms.Columns}
	}
	if v.gen > 0 {
		if err := x.applyDeletes(v); err != nil {
			return nil, errors.Join(err, s.file.Close())
		}
	}
	return v, nil
}

func unmapAll(views []*view) error {
	var errs []error
	for _, v := range views {
		for _, f := range v.files() {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

func (x *Index) openSegment(number int) (*seg, error) {
	path := filepath.Join(x.cfg.Dir, segmentName(number))
	f, m, err := x.openFile(path)
	if err != nil {
		return nil, err
	}
	s, err := x.bind(f, m)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	s.path, s.number, s.of = path, number, m.Schema
	return s, nil
}

// openFile maps a file that says what it is of, and that must be this index.
func (x *Index) openFile(path string) (f *segment.File, m meta, err error) {
	if f, err = segment.Open(path); err != nil {
		return nil, m, err
	}
	bad := func(reason string) (*segment.File, meta, error) {
		_ = f.Close()
		return nil, m, &segment.Corrupt{File: f.Name, Section: "meta", Reason: reason}
	}
	if err := json.Unmarshal(f.Section("meta"), &m); err != nil {
		return bad(err.Error())
	}
	if m.Epoch != x.cfg.Epoch || m.Encoder != x.cfg.Encoder {
		return bad("not of this corpus")
	}
	return f, m, nil
}

// ours matches the names of files that the index makes.
var ours = regexp.MustCompile(`^(MANIFEST|(\d+)\.(seg|del\.\d+|col\.\d+))(\.tmp)?$`)

// sweep removes the files that d does not use, and learns the highest number in use.
func (x *Index) sweep(d *draft) error {
	keep := map[string]bool{manifestName: true}
	for _, v := range d.views {
		x.disk.next = max(x.disk.next, v.seg.number)
		keep[segmentName(v.seg.number)] = true
		if v.gen > 0 {
			keep[deletesName(v.seg.number, v.gen)] = true
		}
		if gen := v.columnsGen(); gen > 0 {
			keep[columnsName(v.seg.number, gen)] = true
		}
	}
	return x.removeBut(keep)
}

// removeFiles removes every file of the index.
func (x *Index) removeFiles() error { return x.removeBut(nil) }

func (x *Index) removeBut(keep map[string]bool) error {
	entries, err := os.ReadDir(x.cfg.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list index folder: %w", err)
	}
	// The manifest goes first: it must not name files that are gone.
	if !keep[manifestName] {
		if err := os.Remove(filepath.Join(x.cfg.Dir, manifestName)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove index manifest: %w", err)
		}
	}
	removed := !keep[manifestName]
	for _, e := range entries {
		if e.Name() == manifestName {
			continue
		}
		if !e.IsDir() && ours.MatchString(e.Name()) && !keep[e.Name()] {
			if err := os.Remove(filepath.Join(x.cfg.Dir, e.Name())); err != nil {
				return fmt.Errorf("remove index file: %w", err)
			}
			removed = true
		}
	}
	if !removed {
		return nil
	}
	return segment.SyncDir(x.cfg.Dir)
}
