//go:build !unix

package segment

import (
	"bytes"
	"io"
	"os"
)

// mapFile reads the file: systems without mmap keep it in memory. What is checked is what
// was read, and there is nothing to unmap.
func mapFile(f *os.File, size int64) (data []byte, checked io.ReaderAt, unmap func() error, err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, size), data)
	return data, bytes.NewReader(data), nil, err
}

// mapPart reads a part of a file that is still written behind it.
func mapPart(f *os.File, offset int64, length int) (data []byte, unmap func() error, err error) {
	data = make([]byte, length)
	_, err = f.ReadAt(data, offset)
	return data, func() error { return nil }, err
}
