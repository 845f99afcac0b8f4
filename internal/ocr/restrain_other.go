//go:build !linux

package ocr

import "syscall"

// attributes are those of every process. One whose service has died ends when nobody takes what it writes.
func attributes() *syscall.SysProcAttr { return nil }

// restrain does nothing: the size of pictures and the time bound what they take.
func restrain(int) {}
