package cutvfs_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/store/cutvfs"
)

// cut applies a log and returns what a cut leaves: names and contents.
func cut(t *testing.T, log []cutvfs.Op, v cutvfs.Variant, seed uint64) map[string][]byte {
	t.Helper()
	d := cutvfs.NewDisk()
	for _, op := range log {
		d.Apply(op)
	}
	dir := t.TempDir()
	if err := d.Cut(dir, v, rand.New(rand.NewPCG(seed, 0))); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func write(file string, offset int64, data []byte) cutvfs.Op {
	return cutvfs.Op{Kind: cutvfs.Write, File: file, Offset: offset, Data: data}
}

// TestCut proves that a cut keeps what was synced in a folder that was synced, whatever the variant; of the rest it
// keeps nothing, all, or whole sectors by chance.
func TestCut(t *testing.T) {
	t.Parallel()
	old, fresh := bytes.Repeat([]byte{'o'}, 4096), bytes.Repeat([]byte{'n'}, 6144)
	log := []cutvfs.Op{
		{Kind: cutvfs.Create, File: "a"}, write("a", 0, old), {Kind: cutvfs.Sync, File: "a"},
		{Kind: cutvfs.Create, File: "gone"}, {Kind: cutvfs.SyncFolder},
		{Kind: cutvfs.Create, File: "late"}, write("late", 0, old), {Kind: cutvfs.Sync, File: "late"},
		{Kind: cutvfs.Delete, File: "gone"}, write("a", 0, fresh),
	}
	lost := cut(t, log, cutvfs.Lost, 1)
	if len(lost) != 2 || !bytes.Equal(lost["a"], old) || lost["gone"] == nil {
		t.Errorf("lost keeps %d files, a with %d bytes; want a as synced, gone, and not late", len(lost), len(lost["a"]))
	}
	kept := cut(t, log, cutvfs.Kept, 1)
	if len(kept) != 2 || !bytes.Equal(kept["a"], fresh) || !bytes.Equal(kept["late"], old) {
		t.Errorf("kept keeps %d files, a with %d bytes; want the newest a, and late", len(kept), len(kept["a"]))
	}
	mixed := 0
	for seed := range uint64(20) {
		a := cut(t, log, cutvfs.Torn, seed)["a"]
		for at := 0; at < len(a); at += 512 {
			s := a[at : at+512]
			if n := bytes.Count(s, []byte{'n'}); n != 0 && n != 512 {
				t.Fatalf("seed %d: a sector at %d is torn itself", seed, at)
			}
		}
		if bytes.Contains(a, []byte{'n'}) && bytes.Contains(a, []byte{'o'}) {
			mixed++
		}
	}
	if mixed == 0 {
		t.Error("no torn cut mixes old and new")
	}
}

// TestCutTruncate proves that a truncation counts once it is synced, and what a later write skips reads as zeros.
func TestCutTruncate(t *testing.T) {
	t.Parallel()
	log := []cutvfs.Op{
		{Kind: cutvfs.Create, File: "a"}, {Kind: cutvfs.SyncFolder}, write("a", 0, []byte("abcdef")), {Kind: cutvfs.Sync, File: "a"},
		{Kind: cutvfs.Truncate, File: "a", Offset: 2}, write("a", 4, []byte("z")),
	}
	if got := cut(t, log, cutvfs.Lost, 1)["a"]; string(got) != "abcdef" {
		t.Errorf("before the sync: %q", got)
	}
	log = append(log, cutvfs.Op{Kind: cutvfs.Sync, File: "a"})
	if got := cut(t, log, cutvfs.Lost, 1)["a"]; string(got) != "ab\x00\x00z" {
		t.Errorf("after the sync: %q", got)
	}
}
