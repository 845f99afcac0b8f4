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
	"quarry/internal/text/token"
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
	Analysis   int               `json:"analysis"` // token.Version
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
	return manifest{Format: formatVersion, Analysis: token.Version, Epoch: c.Epoch, Encoder: c.Encoder, Schema: x.of.Version, Dim: c.Dim, Dimensions: c.Dimensions}
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
			d := &draft{x: x, seq: m.Seq, views: views}
			of := x.of
			if m.Schema != of.Version {
				of = &layer.Schema{Version: NoSchema, ID: -1}
			}
			st := newState(of, m.Seq, views)
			for _, v := range views {
				v.hold()
			}
			return st, x.sweep(d)
		}
	}
	if !errors.Is(err, ErrCorrupt) && event == EventDamaged && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open index: %w", err)
	}
	x.notify(event, err)
	return empty, x.removeFiles()
}

func (x *Index) openAll(m manifest) (views []*view, err error) {
	defer guard(&err, nil)()
	for _, ms := range m.Segments {
		s, err := x.openSegment(ms.Number)
		if err != nil {
			return nil, errors.Join(err, unmapAll(views))
		}
		v := newView(s)
		v.gen = ms.Deletes
		views = append(views, v)
		if v.gen > 0 {
			if err := x.applyDeletes(v); err != nil {
				return nil, errors.Join(err, unmapAll(views))
			}
		}
		if m.Schema != x.of.Version {
			v.file = &columnFile{gen: ms.Columns}
		} else if err := x.openColumns(v, ms.Columns, x.of); err != nil {
			return nil, errors.Join(err, unmapAll(views))
		}
	}
	return views, nil
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
