package index

// SealAt sets the sizes at which the part in memory is written, so that small indexes can stand for large ones.
func (x *Index) SealAt(seal, small int) { x.disk.seal, x.disk.small = seal, small }
