package ppt

// pictures are those of a presentation: a stream of them, and where in it each of the list is.
type pictures struct {
	data   []byte
	places []uint32
}

// list reads the list of pictures (MS-ODRAW, 2.2.20), which all slides share.
func (p *pictures) list(group []byte) {
	const place = 28
	each(group, func(r record) {
		if r.kind != recDrawings {
			return
		}
		each(r.body, func(r record) {
			if r.kind != recStore {
				return
			}
			each(r.body, func(r record) {
				if r.kind == recStored { // also an empty place counts
					p.places = append(p.places, u32(r.body, place))
				}
			})
		})
	})
}

// find returns the bytes of a picture by its number from 1 on, nil where there is none that is JPEG or PNG.
func (p *pictures) find(number uint32) []byte {
	if uint64(number) > uint64(len(p.places)) {
		return nil
	}
	at := p.places[number-1]
	if uint64(at) > uint64(len(p.data)) {
		return nil
	}
	r, _, ok := first(p.data[at:])
	if !ok || r.kind != recJPEG && r.kind != recPNG && r.kind != recJPEGOther {
		return nil
	}
	head := 16 + 1 // a checksum and a tag
	if r.instance&1 == 1 {
		head += 16 // and the checksum of what it was made from
	}
	if len(r.body) < head {
		return nil
	}
	return r.body[head:]
}
