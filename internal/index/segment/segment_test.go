package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/index/segment"
)

func sections() []segment.Section {
	return []segment.Section{
		{Name: "first", Version: 1, Data: []byte("hello")},
		{Name: "empty", Version: 513, Data: nil},
		{Name: "long", Version: 2, Data: bytes.Repeat([]byte{7, 9, 0}, 500)},
	}
}

func write(t *testing.T) (path string, image []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "1.seg")
	if err := (segment.Files{}).Write(path, sections()); err != nil {
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
		if got := f.Section(s.Name); !bytes.Equal(got.Data, s.Data) || got.Name != s.Name || got.Version != s.Version {
			t.Errorf("section %s: %+v, want %+v", s.Name, got, s)
		}
	}
	if f.Section("none").Version != 0 {
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
			if got := f.Section(s.Name); !bytes.Equal(got.Data, s.Data) || got.Version != s.Version {
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

// old returns a file with sections as formats 1 and 2 had it.
func old(sections []segment.Section) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	out := append([]byte("QRYSEG01"), make([]byte, 56)...)
	toc := binary.LittleEndian.AppendUint32(nil, uint32(len(sections)))
	for _, s := range sections {
		toc = append(append(toc, byte(len(s.Name))), s.Name...)
		toc = binary.LittleEndian.AppendUint64(toc, uint64(len(out)))
		toc = binary.LittleEndian.AppendUint64(toc, uint64(len(s.Data)))
		toc = binary.LittleEndian.AppendUint32(toc, crc32.Checksum(s.Data, table))
		out = append(append(out, s.Data...), make([]byte, (64-len(s.Data)%64)%64)...)
	}
	at := uint64(len(out))
	out = binary.LittleEndian.AppendUint64(append(out, toc...), at)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(toc)))
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(toc, table))
	out = binary.LittleEndian.AppendUint64(out, uint64(len(out)+16))
	return append(out, "QRYSEG01"...)
}

// Proves that files from before sections had versions are read, and that all of their sections are of version 1.
func TestOldFormat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "1.seg")
	if err := os.WriteFile(path, old(sections()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := segment.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, s := range sections() {
		if got := f.Section(s.Name); !bytes.Equal(got.Data, s.Data) || got.Version != 1 {
			t.Errorf("section %s: %+v", s.Name, got)
		}
	}
}

// Proves that a file of a newer format is told from a damaged one, and that one end alone does not make it newer.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	path, image := write(t)
	for _, c := range []struct {
		first, last string
		newer       int
	}{
		{"QRYSEG04", "QRYSEG04", 4}, {"QRYSEG99", "QRYSEG99", 99}, {"QRYSEG04", "QRYSEG03", 0}, {"QRYSEG03", "QRYSEG04", 0},
		{"QRYSEG02", "QRYSEG02", 0}, {"QRYSEG+4", "QRYSEG+4", 0}, {"QRXSEG04", "QRXSEG04", 0}, {"QRYSEG01", "QRYSEG01", 0},
	} {
		changed := bytes.Clone(image)
		copy(changed, c.first)
		copy(changed[len(changed)-8:], c.last)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := segment.Open(path)
		var n *segment.Newer
		if c.newer == 0 && !errors.Is(err, segment.ErrCorrupt) || errors.Is(err, segment.ErrNewer) != (c.newer > 0) {
			t.Errorf("%s … %s: %v", c.first, c.last, err)
		}
		if c.newer > 0 && (!errors.As(err, &n) || n.Version != c.newer || n.File != "1.seg") {
			t.Errorf("%s … %s: %v", c.first, c.last, err)
		}
	}
}

// A write that fails leaves what was there.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := (segment.Files{}).Write(filepath.Join(dir, "1.seg"), []segment.Section{{Name: "x"}}); err == nil {
		t.Error("wrote a section without a version")
	}
	if err := (segment.Files{}).Write(filepath.Join(dir, "no", "1.seg"), sections()); err == nil {
		t.Fatal("wrote into a folder that is not there")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
}

// Any bytes are opened or refused, never a panic.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "1.seg")
	if err := (segment.Files{}).Write(path, sections()); err != nil {
		f.Fatal(err)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(image)
	f.Add(image[:100])
	f.Add(old(sections()))
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
		} else if !errors.Is(err, segment.ErrCorrupt) && !errors.Is(err, segment.ErrNewer) {
			t.Fatal(err)
		}
	})
}
