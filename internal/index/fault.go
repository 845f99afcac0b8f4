package index

import (
	"runtime/debug"

	"quarry/internal/index/segment"
)

// guard turns a fault in mapped memory (a file that was cut off, a disk that fails) into a panic of this goroutine, and
// returns a function to defer that recovers it as a *segment.Corrupt of one of the views. Other panics go on.
func guard(err *error, views []*view) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface{ Addr() uintptr })
		if !ok {
			panic(r)
		}
		for _, v := range views {
			for _, f := range v.files() {
				if c := f.Locate(fault.Addr()); c != nil {
					*err = c
					return
				}
			}
		}
		*err = &segment.Corrupt{File: "unknown", Reason: "reading mapped memory failed"}
	}
}

// views returns the segments of the present state.
func (x *Index) views() []*view {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cur == nil {
		return nil
	}
	return x.cur.views
}
