package segment

import "runtime/debug"

// Guard turns a fault in mapped memory (a file that was cut off, a disk that fails) into a panic of this goroutine, and
// returns a function to defer that recovers it, or that of Part, and sets err to the *Corrupt of one of the files. Other panics go on. With
// reading, a file that turns out to have been cut off is that error without a fault, too.
func Guard(err *error, reading bool, files func() []*File) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		r := recover()
		if r == nil {
			if reading && *err == nil {
				*err = CutOff(files())
			}
			return
		}
		if c, ok := r.(*Corrupt); ok {
			*err = c
			return
		}
		fault, ok := r.(interface{ Addr() uintptr })
		if !ok {
			panic(r)
		}
		for _, f := range files() {
			if c := f.locate(fault.Addr()); c != nil {
				*err = c
				return
			}
		}
		*err = &Corrupt{File: "unknown", Reason: "reading mapped memory failed"}
	}
}

// CutOff returns the *Corrupt of a mapped file that has become shorter; nil if none has. One that was removed stays mapped as
// it was. Behind its new end a file reads as zeros up to the end of the page, so what was read counts only if CutOff returns
// nil afterwards.
func CutOff(files []*File) error {
	for _, f := range files {
		if c := f.cutOff(); c != nil {
			return c
		}
	}
	return nil
}
