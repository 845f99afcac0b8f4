package index

import "runtime/debug"

// panicOnFault makes a fault in mapped memory a panic of this goroutine; the result undoes it.
func panicOnFault() func() {
	old := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(old) }
}
