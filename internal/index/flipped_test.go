package index_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/index"
	"quarry/internal/index/segment"
)

// TestEveryByte proves that of a segment with sections of every kind each single byte may be another one: either the file is
// found damaged when it is opened, or the byte means nothing and the answers are those of before. Some bytes of both kinds go
// through the whole index, which drops the file in the first case. TestFlippedByte has the other files, too.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	const name, last = "1.seg", 18
	cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), Dim: dim, Dimensions: 1}
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(1<<30, 0)
	x.ListsFrom(16, 4)
	must(t, x.Apply(puts(1, last+1)))
	must(t, x.Flush())
	want := sortedHits(t, x, sampleQuery(t))
	must(t, x.Close())
	path := filepath.Join(cfg.Dir, name)
	image := files(t, cfg.Dir)[name]
	var c *segment.Corrupt
	cfg.Notify = func(event string, err error) {
		if event != index.EventDamaged || !errors.As(err, &c) || c.File != name {
			t.Errorf("%s: %v", event, err)
		}
	}
	now, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer func() { must(t, now.Close()) }()
	put := func(i int, b byte) {
		_, err := now.WriteAt([]byte{b}, int64(i))
		must(t, err)
	}
	meaningless := 0
	for i, b := range image {
		put(i, b^1<<(i%8))
		f, err := segment.Open(path)
		switch {
		case errors.Is(err, segment.ErrCorrupt):
		case err != nil:
			t.Fatalf("byte %d: %v", i, err)
		default:
			must(t, f.Close())
			meaningless++
		}
		put(i, b)
		if i%1000 != 0 && (err != nil || meaningless%100 != 0) {
			continue
		}
		dir := filepath.Join(t.TempDir(), "copy")
		must(t, os.CopyFS(dir, os.DirFS(cfg.Dir)))
		damaged := slices.Clone(image)
		damaged[i] ^= 1 << (i % 8)
		must(t, os.WriteFile(filepath.Join(dir, name), damaged, 0o600))
		own := cfg
		own.Dir = dir
		x, failed := index.Open(own)
		must(t, failed)
		if err == nil && (x.Applied() != last || !slices.Equal(sortedHits(t, x, sampleQuery(t)), want)) {
			t.Fatalf("byte %d: %d changes, or other hits", i, x.Applied())
		}
		if err != nil && (x.Applied() != 0 || len(files(t, dir)) > 0) {
			t.Fatalf("byte %d is not what was written, and %d changes are there", i, x.Applied())
		}
		must(t, x.Close())
	}
	f, err := segment.Open(path)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	for _, kind := range []string{"doc.", "row.", "stem.bounds", "word.", "vec.", "list.", "col."} {
		if !slices.ContainsFunc(f.Sections(), func(s segment.Section) bool { return strings.HasPrefix(s.Name, kind) && len(s.Data) > 0 }) {
			t.Errorf("no section %s…", kind)
		}
	}
	if meaningless == 0 || meaningless > len(image)/20 {
		t.Errorf("%d of %d bytes mean nothing; all others are checked", meaningless, len(image))
	}
}
