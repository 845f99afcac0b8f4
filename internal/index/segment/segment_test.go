package segment_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/index/segment"
)

func sections() []segment.Section {
	return []segment.Section{
		{Name: "first", Data: []byte("hello")},
		{Name: "empty", Data: nil},
		{Name: "long", Data: bytes.Repeat([]byte{7, 9, 0}, 500)},
	}
}

func write(t *testing.T) (path string, image []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "1.seg")
	if err := segment.Write(path, sections()); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, image
}

// A written file gives back its sections and leaves nothing else in the folder.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	path, image := write(t)
	f, err := segment.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections() {
		if got := f.Section(s.Name); !bytes.Equal(got, s.Data) {
			t.Errorf("section %s: %q, want %q", s.Name, got, s.Data)
		}
	}
	if f.Section("none") != nil {
		t.Error("a section that was not written")
	}
	if all, mapped := f.Bytes(); all != int64(len(image)) || mapped != all {
		t.Errorf("%d bytes, %d mapped, want %d", all, mapped, len(image))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files in the folder, want 1", len(entries))
	}
}

// Every flipped byte is found when the file is opened, or lies between sections where nothing reads it.
func TestFlippedByte(t *testing.T) {
	t.Parallel()
	path, image := write(t)
	found := 0
	for i := range image {
		damaged := bytes.Clone(image)
		damaged[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := segment.Open(path)
		if err != nil {
			var c *segment.Corrupt
			if !errors.Is(err, segment.ErrCorrupt) || !errors.As(err, &c) || c.File != "1.seg" {
				t.Fatalf("byte %d: %v", i, err)
			}
			found++
			continue
		}
		for _, s := range sections() {
			if !bytes.Equal(f.Section(s.Name), s.Data) {
				t.Fatalf("byte %d: section %s changed unnoticed", i, s.Name)
			}
		}
		_ = f.Close()
	}
	const between = (64 - 5) + (64 - 1500%64) // padding after "hello" and after the long section
	if found != len(image)-between {
		t.Errorf("%d of %d flips found, want all but %d", found, len(image), between)
	}
}

// Every truncation, and any file with more bytes, is found.
func TestWrongSize(t *testing.T) {
	t.Parallel()
	path, image := write(t)
	for n := range len(image) + 3 {
		if n == len(image) {
			continue
		}
		if err := os.WriteFile(path, append(bytes.Clone(image), 0, 0)[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := segment.Open(path); !errors.Is(err, segment.ErrCorrupt) {
			t.Fatalf("%d of %d bytes: %v", n, len(image), err)
		}
	}
}

// A write that fails leaves what was there.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := segment.Write(filepath.Join(dir, "no", "1.seg"), sections()); err == nil {
		t.Fatal("wrote into a folder that is not there")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
}

// Any bytes are opened or refused, never a panic.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "1.seg")
	if err := segment.Write(path, sections()); err != nil {
		f.Fatal(err)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(image)
	f.Add(image[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if file, err := segment.Open(path); err == nil {
			for _, s := range file.Sections() {
				_ = bytes.Count(s.Data, []byte{0})
			}
			_ = file.Close()
		} else if !errors.Is(err, segment.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
