//go:build !linux

package background

// priorities reports whether each thread has a priority of its own.
const priorities = false

func lowerThread() bool { return false }

// Lower does nothing on this system.
func Lower(int) {}
