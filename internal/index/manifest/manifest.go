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

	"quarry/internal/index/segment"
	"quarry/internal/text/analysis"
)

const (
	name = "MANIFEST"
	// format is that of the sections and the manifest; files of another are dropped.
	format = 2
	// oldestFormat is the first that can still be read: format 1 had no files of columns.
	oldestFormat = 1
)

// Manifest lists the files that together are the index as of change Seq, and what they are of.
type Manifest struct {
	Format     int       `json:"format"`
	Analysis   int       `json:"analysis"` // analysis.Version
	Epoch      int64     `json:"epoch"`
	Encoder    string    `json:"encoder"`
	Schema     int64     `json:"schema"`
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
	m.Format, m.Analysis = format, analysis.Version
	return m
}

// Fits reports whether files of m can be opened by an index that would write o, but perhaps for their columns.
func (m Manifest) Fits(o Manifest) bool {
	return m.Format >= oldestFormat && m.Format <= o.Format && m.Analysis == o.Analysis && m.Epoch == o.Epoch &&
		m.Encoder == o.Encoder && m.Dim == o.Dim && m.Dimensions == o.Dimensions
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write replaces the manifest in dir, which it creates where there is none. The files that m lists are there already.
func (m Manifest) Write(dir string) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make index folder: %w", err)
	}
	return segment.Replace(filepath.Join(dir, name), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%08x %s\n", crc32.Checksum(body, castagnoli), body)
		return err
	})
}

// Read returns the manifest in dir. The error is a *segment.Corrupt for a damaged one, os.ErrNotExist for none.
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
	if err := json.Unmarshal(body, &m); err != nil {
		return m, bad(err.Error())
	}
	return m, nil
}

// ours matches the names of files that an index makes. Whatever else lies in its folder stays.
var ours = regexp.MustCompile(`^(MANIFEST|(\d+)\.(seg|del\.\d+|col\.\d+))(\.tmp)?$`)

// Sweep removes the files in dir that none of the segments uses.
func Sweep(dir string, used []Segment) error {
	keep := map[string]bool{name: true}
	for _, s := range used {
		keep[s.File()] = true
		keep[s.DeletesFile()] = s.Deletes > 0
		keep[s.ColumnsFile()] = s.Columns > 0
	}
	return removeBut(dir, keep)
}

// Remove removes every file of the index in dir.
func Remove(dir string) error { return removeBut(dir, nil) }

func removeBut(dir string, keep map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list index folder: %w", err)
	}
	// The manifest goes first: it must not name files that are gone.
	if !keep[name] {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove index manifest: %w", err)
		}
	}
	removed := !keep[name]
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		if !e.IsDir() && ours.MatchString(e.Name()) && !keep[e.Name()] {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("remove index file: %w", err)
			}
			removed = true
		}
	}
	if !removed {
		return nil
	}
	return segment.SyncDir(dir)
}
