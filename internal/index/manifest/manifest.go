// Package manifest holds the names of the files of an index and the file MANIFEST, which lists those that together are
// the index as of one change. What the list does not name is swept away. Package index calls it.
package manifest

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
	"strings"

	"quarry/internal/index/segment"
	"quarry/internal/text/analysis"
)

const (
	name = "MANIFEST"
	// oldestFormat is the first that can be read: format 1 had no files of columns.
	oldestFormat = 1
	// layout is that of the columns beside those of the attributes; where it is another, columns are made anew. 0 had no
	// marks of headings.
	layout = 1
)

// Manifest lists the files that together are the index as of change Seq, and what they are of.
type Manifest struct {
	Format     int       `json:"format"`
	Analysis   int       `json:"analysis"` // analysis.Version
	Epoch      int64     `json:"epoch"`
	Encoder    string    `json:"encoder"`
	Schema     int64     `json:"schema"`
	Layout     int       `json:"layout"`
	Dim        int       `json:"dim"`
	Dimensions int       `json:"dimensions"`
	Seq        int64     `json:"seq"`
	Segments   []Segment `json:"segments"`
}

// Segment lists the files of one segment.
type Segment struct {
	Number  int `json:"number"`
	Deletes int `json:"deletes"` // generation, 0 = none
	Columns int `json:"columns"` // generation, 0 = those of the segment
}

// File returns the name of the file of a segment.
func (s Segment) File() string { return fmt.Sprintf("%d.seg", s.Number) }

// DeletesFile returns the name of the file with its deletes.
func (s Segment) DeletesFile() string { return fmt.Sprintf("%d.del.%d", s.Number, s.Deletes) }

// ColumnsFile returns the name of the file with its newer columns.
func (s Segment) ColumnsFile() string { return fmt.Sprintf("%d.col.%d", s.Number, s.Columns) }

// New returns m for files that are written now.
func New(m Manifest) Manifest {
	m.Format, m.Analysis, m.Layout = segment.Format, analysis.Version, layout
	return m
}

// Fits reports whether files of m can be opened by an index that would write o, but perhaps for their columns.
func (m Manifest) Fits(o Manifest) bool {
	return m.Format >= oldestFormat && m.Format <= o.Format && m.Analysis == o.Analysis && m.Epoch == o.Epoch &&
		m.Encoder == o.Encoder && m.Dim == o.Dim && m.Dimensions == o.Dimensions
}

// HasColumns reports whether the columns in files of m are those that an index with that version of the attributes has.
func (m Manifest) HasColumns(schema int64) bool { return m.Schema == schema && m.Layout == layout }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write replaces the manifest in dir, which it creates where there is none. The files that m lists are there already.
func (m Manifest) Write(fs segment.Files, dir string) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make index folder: %w", err)
	}
	return fs.Replace(filepath.Join(dir, name), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%08x %s\n", crc32.Checksum(body, castagnoli), body)
		return err
	})
}

// Read returns the manifest in dir. The error is a *segment.Corrupt for a damaged one, os.ErrNotExist for none, and a
// *segment.Newer for one of a newer format, of which format, epoch and change are returned: those every format has.
func Read(dir string) (m Manifest, err error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return m, err
	}
	bad := func(reason string) error { return &segment.Corrupt{File: name, Reason: reason} }
	sum, body, ok := bytes.Cut(bytes.TrimSuffix(b, []byte("\n")), []byte(" "))
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || err != nil || crc32.Checksum(body, castagnoli) != uint32(want) {
		return m, bad("checksum differs")
	}
	var lasting struct {
		Format     int
		Epoch, Seq int64
	}
	if err := json.Unmarshal(body, &lasting); err != nil {
		return m, bad(err.Error())
	}
	if lasting.Format > segment.Format {
		m.Format, m.Epoch, m.Seq = lasting.Format, lasting.Epoch, lasting.Seq
		return m, &segment.Newer{File: name, Version: m.Format}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, bad(err.Error())
	}
	return m, nil
}

// Beside returns the folder where the files of this format lie while those in dir are of a newer one.
func Beside(dir string) string { return filepath.Join(dir, fmt.Sprintf("format-%d", segment.Format)) }

// besides matches the names that Beside has in any format.
var besides = regexp.MustCompile(`^format-(\d+)$`)

// ours matches the names of files that an index makes. Whatever else lies in its folder stays.
var ours = regexp.MustCompile(`^(MANIFEST|(\d+)\.(seg|del\.\d+|col\.\d+))(\.tmp)?$`)

// Sweep removes the files in dir that none of the segments uses, and what older programs have made beside them. Those of the
// segment with the number making, which is being written, stay; 0 = none is.
func Sweep(fs segment.Files, dir string, used []Segment, making int) error {
	keep := map[string]bool{name: true}
	for _, s := range used {
		keep[s.File()] = true
		keep[s.DeletesFile()] = s.Deletes > 0
		keep[s.ColumnsFile()] = s.Columns > 0
	}
	return removeBut(fs, dir, func(file string) bool {
		return keep[file] || making > 0 && strings.HasPrefix(file, strconv.Itoa(making)+".")
	})
}

// Remove removes every file of the index in dir, and what older programs have made beside them.
func Remove(fs segment.Files, dir string) error {
	return removeBut(fs, dir, func(string) bool { return false })
}

// Discard removes the files of a segment of which no manifest knows any more. What can't be removed is left to Sweep.
func Discard(dir string, s Segment) {
	for _, file := range []string{s.File(), s.DeletesFile(), s.ColumnsFile()} {
		_ = os.Remove(filepath.Join(dir, file))
	}
}

func removeBut(fs segment.Files, dir string, keep func(file string) bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list index folder: %w", err)
	}
	// The manifest goes first: it must not name files that are gone.
	if !keep(name) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove index manifest: %w", err)
		}
	}
	removed := !keep(name)
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		if e.IsDir() {
			if err := removeBeside(fs, dir, e.Name()); err != nil {
				return err
			}
		}
		if !e.IsDir() && ours.MatchString(e.Name()) && !keep(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("remove index file: %w", err)
			}
			removed = true
		}
	}
	if !removed {
		return nil
	}
	return fs.SyncFolder(dir)
}

// removeBeside removes the folder in dir with a name if it is one that this program or an older one made beside files that
// it could not read. What else lies in it stays, and the folder with it.
func removeBeside(fs segment.Files, dir, name string) error {
	m := besides.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	if n, err := strconv.Atoi(m[1]); err != nil || n > segment.Format {
		return nil
	}
	sub := filepath.Join(dir, name)
	if err := Remove(fs, sub); err != nil {
		return err
	}
	left, err := os.ReadDir(sub)
	if err == nil && len(left) == 0 {
		err = os.Remove(sub)
	}
	if err != nil {
		return fmt.Errorf("remove index folder: %w", err)
	}
	return nil
}
