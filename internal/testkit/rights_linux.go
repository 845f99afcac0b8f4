package testkit

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// AsNobody calls fn without the rights of root over files; what fn starts in other goroutines keeps them. fn must not call
// t.FailNow, which ends only the goroutine that calls it.
func AsNobody(t testing.TB, fn func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and no other has lost its rights
		var err error
		if os.Geteuid() == 0 {
			err = syscall.Setfsuid(65534)
		}
		if err == nil {
			fn()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
