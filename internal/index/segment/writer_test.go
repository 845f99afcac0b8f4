package segment_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/index/segment"
)

// Sections that are written in pieces are those of a file that is written at once, and can be read while more is written.
func TestWriter(t *testing.T) {
	t.Parallel()
	path, want := write(t)
	pauses := 0
	w, err := segment.Files{Buffer: 100, Pause: func() error { pauses++; return nil }}.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	var all []segment.Section
	for _, s := range sections() {
		err := w.Stream(s.Name, s.Version, func(to io.Writer) error {
			for _, b := range s.Data {
				if _, err := to.Write([]byte{b}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.Data, err = w.Map(s.Name); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for i, s := range sections() {
		if !bytes.Equal(all[i].Data, s.Data) {
			t.Errorf("section %s reads as %q while more is written", s.Name, all[i].Data)
		}
	}
	if none, err := w.Map("none"); none != nil || err != nil {
		t.Errorf("a section that was not written: %q %v", none, err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) || pauses == 0 {
		t.Errorf("another file, %d bytes, want %d; %d pauses; %v", len(got), len(want), pauses, err)
	}
}

// What is not committed leaves no file, whatever ended it.
func TestAbortedWriter(t *testing.T) {
	t.Parallel()
	dir, stop := t.TempDir(), errors.New("stop")
	for name, c := range map[string]struct {
		files segment.Files
		do    func(w *segment.Writer) error
	}{
		"nothing":       {do: func(*segment.Writer) error { return stop }},
		"a pause":       {files: segment.Files{Pause: func() error { return stop }}, do: func(w *segment.Writer) error { return w.Add(sections()[0]) }},
		"half a stream": {do: func(w *segment.Writer) error { return w.Stream("x", 1, func(io.Writer) error { return stop }) }},
		"the last step": {
			files: segment.Files{Before: func(s segment.Step, _ string) error {
				if s == segment.Rename {
					return stop
				}
				return nil
			}},
			do: func(w *segment.Writer) error { return errors.Join(w.Add(sections()[0]), w.Commit()) },
		},
	} {
		w, err := c.files.Create(filepath.Join(dir, "1.seg"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.do(w); !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
		w.Abort()
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("%s left %v", name, entries)
		}
	}
}
