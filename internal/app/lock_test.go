//go:build unix

package app

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestLockWithACopy proves that a folder is free once it is closed, though a child process that is being started has a
// copy of the lock file still. It is inside the package because only there the file can be copied.
func TestLockWithACopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	held, err := unix.Dup(int(f.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(held)
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	again, err := openFolder(dir)
	if err != nil {
		t.Fatalf("the folder is not free: %v", err)
	}
	if err := again.close(); err != nil {
		t.Error(err)
	}
}
