//go:build !unix

package reader

// root is the folder that workers are in: that of the service.
func root() string { return "" }

// confine does nothing: the system has no limits that a process without rights could set for itself.
func confine() error { return nil }
