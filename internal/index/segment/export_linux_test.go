package segment

// Resident returns how many bytes of the whole pages of a section are in memory, and how many these are.
func (f *File) Resident(section string) (in, of int) {
	data := f.Section(section).Data
	part := pages(f.mapped, f.offset(data), int64(len(data)), false)
	return resident(part), len(part)
}
