package segment

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages returns the part of mapped from offset on that begins and ends with a page: the whole pages in it, or with around also
// those that it begins and ends in.
func pages(mapped []byte, offset, length int64, around bool) []byte {
	page := int64(os.Getpagesize())
	from, to := (offset+page-1)/page*page, (offset+length)/page*page
	if around {
		from, to = offset/page*page, min((offset+length+page-1)/page*page, int64(len(mapped)))
	}
	if from >= to {
		return nil
	}
	return mapped[from:to]
}

// advise asks the system to keep in memory, or not to, what a way of reading needs of a section of f. Everything works without.
func advise(f *File, section []byte, a Access) {
	if len(section) == 0 {
		return
	}
	advice, part := unix.MADV_WILLNEED, pages(f.mapped, f.offset(section), int64(len(section)), true)
	if a != Hot {
		advice, part = unix.MADV_RANDOM, pages(f.mapped, f.offset(section), int64(len(section)), false)
	}
	if len(part) > 0 {
		_ = unix.Madvise(part, advice)
	}
}

// leaving returns a function that drops from memory what has been read of a part of f in the meantime, unless most of it is there
// already: then others read it, or this program before it was started again.
func leaving(f *os.File, mapped []byte, offset, length int64) (read func()) {
	part := pages(mapped, offset, length, false)
	if len(part) == 0 || 2*resident(part) > len(part) {
		return func() {}
	}
	return func() { _ = unix.Fadvise(int(f.Fd()), offset, length, unix.FADV_DONTNEED) }
}

// resident returns how many bytes of whole pages are in memory; all where the system does not tell.
func resident(part []byte) int {
	page := os.Getpagesize()
	state := make([]byte, (len(part)+page-1)/page)
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(len(part)), uintptr(unsafe.Pointer(unsafe.SliceData(state))))
	if failed != 0 {
		return len(part)
	}
	n := 0
	for _, s := range state {
		n += int(s & 1)
	}
	return n * page
}
