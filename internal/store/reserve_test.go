package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/room"
	"quarry/internal/store"
	"quarry/internal/store/cutvfs"
)

// TestReserve proves that a folder keeps a file of a megabyte that a full disk frees for deletions: they are tried again
// with that room, nothing new is written meanwhile, and all goes on when the file can be written again.
func TestReserve(t *testing.T) {
	t.Parallel()
	layer, err := cutvfs.Register()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "quarry.reserve")
	var told []bool
	db, err := store.OpenTold(t.Context(), dir, layer.Name(), func(full bool) { told = append(told, full) })
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 1<<20 || info.Mode() != 0o600 {
		t.Fatalf("the reserve is %v, %v", info, err)
	}
	var writes atomic.Int32
	layer.Fail(func(k cutvfs.Kind, _ string) int32 {
		if info, err := os.Stat(file); k == cutvfs.Write && err == nil && info.Size() == 1<<20 { // full until the reserve is cut short
			writes.Add(1)
			return cutvfs.Full
		}
		return 0
	})
	if err := db.Write(room.Freeing(t.Context()), put("deletion")); err != nil {
		t.Errorf("a deletion with the room of the reserve: %v", err)
	}
	if writes.Load() == 0 || !slices.Equal(told, []bool{true}) {
		t.Errorf("%d writes failed and %v was told, want some and that the disk is full", writes.Load(), told)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 64<<10 {
		t.Errorf("the next start has a reserve of %v, %v, want 64 KiB", info, err)
	}
	// A folder in its place stands for a disk without room to write it.
	if err := os.Rename(file, file+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	layer.Fail(nil)
	for i := range 3 {
		wantUnavailable(t, db.Write(t.Context(), put(fmt.Sprint("new", i))), "disk of the data folder is full")
	}
	if err := db.Write(room.Freeing(t.Context()), put("another deletion")); err != nil {
		t.Errorf("a deletion while the disk is full: %v", err)
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), put("after")); err != nil {
		t.Errorf("a write when there is room again: %v", err)
	}
	if !slices.Equal(told, []bool{true, false}) {
		t.Errorf("told %v, want full and then not", told)
	}
	if got := names(t, db); strings.Contains(got, "new") || !strings.Contains(got, "after") {
		t.Errorf("there is %q", got)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 1<<20 {
		t.Errorf("after the end the reserve is %v, %v", info, err)
	}
}

// TestReserveShared proves that a deletion that meets the full disk while another one cuts the reserve short is tried again with that
// room, too.
func TestReserveShared(t *testing.T) {
	t.Parallel()
	layer, err := cutvfs.Register()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var db *store.DB
	refused, second := make(chan struct{}, 100), make(chan error, 1)
	full := func(bool) { // the first one is about to cut the reserve short
		<-refused
		go func() { second <- db.Write(room.Freeing(t.Context()), put("second")) }()
		<-refused
	}
	if db, err = store.OpenTold(t.Context(), dir, layer.Name(), full); err != nil {
		t.Fatal(err)
	}
	layer.Fail(func(k cutvfs.Kind, _ string) int32 {
		if info, err := os.Stat(filepath.Join(dir, "quarry.reserve")); k == cutvfs.Write && err == nil && info.Size() == 1<<20 {
			refused <- struct{}{}
			return cutvfs.Full
		}
		return 0
	})
	if err := db.Write(room.Freeing(t.Context()), put("first")); err != nil {
		t.Errorf("the deletion that cuts the reserve short: %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the deletion beside it: %v", err)
	}
	layer.Fail(nil)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
