//go:build unix

package segment

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the file. It is checked by reading, not in the mapping, where a disk that fails would end the process.
func mapFile(f *os.File, size int64) (data []byte, checked io.ReaderAt, unmap func() error, err error) {
	if size == 0 {
		return nil, f, nil, nil // nothing can be mapped; too short for a file of ours
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, nil, err
	}
	return data, f, func() error { return unix.Munmap(data) }, nil
}

// mapPart maps a part of a file that is still written behind it.
func mapPart(f *os.File, offset int64, length int) (data []byte, unmap func() error, err error) {
	before := int(offset % int64(os.Getpagesize()))
	all, err := unix.Mmap(int(f.Fd()), offset-int64(before), before+length, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return all[before : before+length : before+length], func() error { return unix.Munmap(all) }, nil
}
