package officeart

// Store is the list of the pictures of a file (MS-ODRAW, 2.2.20). The zero Store is empty.
type Store struct {
	entries []Record
	delayed []byte
}

// ReadStore returns the list in what all drawings of a file share. It has each picture, or a place in the stream delayed.
func ReadStore(shared, delayed []byte) Store {
	s := Store{delayed: delayed}
	Each(shared, func(r Record) {
		if r.Kind == typeShared {
			Each(r.Body, func(r Record) {
				if r.Kind == typeList {
					s.entries = append(s.entries, ReadList(r.Body).entries...)
				}
			})
		}
	})
	return s
}

// ReadList returns the list whose entries b consists of, which have their pictures.
func ReadList(b []byte) (s Store) {
	Each(b, func(r Record) { s.entries = append(s.entries, r) }) // also an empty one counts
	return s
}

// Len returns the number of entries.
func (s *Store) Len() uint32 { return uint32(len(s.entries)) }

// Picture returns the bytes of a picture by its number from 1 on, nil where there is none that is JPEG or PNG.
func (s *Store) Picture(number uint32) []byte {
	if number == 0 || uint64(number) > uint64(len(s.entries)) {
		return nil
	}
	r := s.entries[number-1]
	if r.Kind == typeEntry {
		r = s.follow(r.Body)
	}
	if r.Kind != typeJPEG && r.Kind != typePNG && r.Kind != typeJPEGOther {
		return nil
	}
	head := 16 + 1 // a checksum and a tag (MS-ODRAW, 2.2.27 and 2.2.28)
	if r.Instance&1 == 1 {
		head += 16 // and the checksum of what it was made from
	}
	if len(r.Body) < head {
		return nil
	}
	return r.Body[head:]
}

// follow returns the picture of an entry (MS-ODRAW, 2.2.32), which stands behind the entry's name, or in the stream.
func (s *Store) follow(b []byte) Record {
	const place, nameSize, size = 28, 33, 36
	if len(b) < size {
		return Record{}
	}
	if inside := b[min(size+int(b[nameSize]), len(b)):]; len(inside) > 0 {
		r, _, _ := First(inside)
		return r
	}
	at := u32(b, place)
	if uint64(at) > uint64(len(s.delayed)) {
		return Record{}
	}
	r, _, _ := First(s.delayed[at:])
	return r
}
