//go:build unix && !linux

package reader

// restrict does nothing: only Linux has Landlock.
func restrict() error { return nil }
