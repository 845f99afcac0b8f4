// Package filelock holds a file for one process at a time. The data folder of a service and the state of an indexed folder
// are held by it.
package filelock

import "errors"

// ErrHeld is returned by Take when another process holds the lock, or this one by another open file.
var ErrHeld = errors.New("the file is locked by another process")
