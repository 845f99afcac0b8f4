//go:build !unix

package segment

import (
	"io"
	"os"
)

// mapFile reads the file: systems without mmap keep it in memory.
func mapFile(f *os.File, size int64) (data []byte, unmap func() error, err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, size), data)
	return data, func() error { return nil }, err
}
