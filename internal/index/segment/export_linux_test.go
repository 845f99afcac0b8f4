package segment

import "unsafe"

// Resident returns how many bytes of the whole pages of a section are in memory, and how many these are.
func (f *File) Resident(section string) (in, of int) {
	data := f.Section(section).Data
	offset := uintptr(unsafe.Pointer(unsafe.SliceData(data))) - uintptr(unsafe.Pointer(unsafe.SliceData(f.mapped)))
	part := pages(f.mapped, int64(offset), int64(len(data)), false)
	return resident(part), len(part)
}
