package syntax

import (
	"bytes"
)

// maxSections bounds the chain of cross-reference sections.
const maxSections = 1000

// readTables reads the cross-reference sections (ISO 32000-1, 7.5.4 and 7.5.8), from the last one back to the first, and
// the trailer of the last. It reports whether the chain is complete.
func (f *File) readTables() bool {
	tail := bytes.LastIndex(f.data, []byte("startxref"))
	if tail < 0 {
		return false
	}
	l := &Lexer{data: f.data, pos: tail + 9, budget: f.Budget}
	at, ok := l.Next().(int)
	seen := map[int]bool{}
	for ok && at > 0 && at < len(f.data) && len(seen) < maxSections && f.Budget.Err() == nil {
		if seen[at] {
			return false
		}
		seen[at] = true
		d := f.section(at)
		if d == nil {
			return false
		}
		if f.Trailer == nil {
			f.Trailer = d
		}
		if extra, has := d["XRefStm"].(int); has && !seen[extra] {
			seen[extra] = true
			f.section(extra)
		}
		prev, has := Number(d["Prev"])
		if !has {
			return true
		}
		at = int(prev)
	}
	return f.Trailer != nil && ok && len(seen) > 0 && at > 0 && at < len(f.data)
}

// section reads a cross-reference section and returns its trailer, or nil if it is malformed. Entries that are already known
// are kept, since they come from later updates.
func (f *File) section(at int) Dict {
	if at < 0 || at >= len(f.data) {
		return nil
	}
	l := &Lexer{data: f.data, pos: at, budget: f.Budget, refs: true}
	l.space()
	if !bytes.HasPrefix(f.data[l.pos:], []byte("xref")) {
		return f.streamSection(l.pos)
	}
	l.pos += 4
	for !l.End() {
		l.refs = false
		first := l.Next()
		if k, ok := first.(Keyword); ok {
			if k != "trailer" {
				return nil
			}
			l.refs = true
			d, _ := l.Next().(Dict)
			return d
		}
		start, ok1 := first.(int)
		count, ok2 := l.Next().(int)
		if !ok1 || !ok2 {
			return nil
		}
		for i := 0; i < count && !l.End(); i++ {
			offset, ok1 := l.Next().(int)
			_, ok2 := l.Next().(int)
			kind, ok3 := l.Next().(Keyword)
			if !ok1 || !ok2 || !ok3 {
				return nil
			}
			if kind == "n" {
				f.add(start+i, entry{offset: offset})
			}
		}
	}
	return nil
}

// add records an entry unless there is one for the object already.
func (f *File) add(num int, e entry) {
	if _, known := f.entries[num]; !known {
		f.setEntry(num, e)
	}
}

// streamSection reads a cross-reference stream and returns its dictionary, or nil if it is malformed.
func (f *File) streamSection(at int) Dict {
	l := &Lexer{data: f.data, pos: at, budget: f.Budget}
	num, ok := l.Next().(int)
	if !ok {
		return nil
	}
	o, _ := f.objectAt(at, num)
	s, ok := o.(*Stream)
	if !ok {
		return nil
	}
	var width [3]int
	w, _ := s.Dict["W"].(Array)
	if len(w) < 3 {
		return nil
	}
	for i := range width {
		if width[i], ok = w[i].(int); !ok || width[i] < 0 || width[i] > 8 {
			return nil
		}
	}
	data, err := f.Decode(s)
	if err != nil {
		return nil
	}
	index, _ := s.Dict["Index"].(Array)
	if index == nil {
		index = Array{0, f.Int(s.Dict["Size"], 0)}
	}
	size := width[0] + width[1] + width[2]
	for i := 0; i+1 < len(index) && size > 0; i += 2 {
		start, _ := index[i].(int)
		count, _ := index[i+1].(int)
		for n := 0; n < count && len(data) >= size && f.Budget.Err() == nil; n++ {
			kind, a, b := 1, field(data[width[0]:], width[1]), field(data[width[0]+width[1]:], width[2])
			if width[0] > 0 {
				kind = field(data, width[0])
			}
			data = data[size:]
			switch kind {
			case 1:
				f.add(start+n, entry{offset: a})
			case 2:
				f.add(start+n, entry{offset: b, within: a})
			}
		}
	}
	return s.Dict
}

func field(data []byte, width int) int {
	v := 0
	for _, c := range data[:width] {
		v = v<<8 | int(c)
	}
	return v
}

// search finds the objects of a file without usable cross references by searching for "n g obj". Of objects with the same
// number the last is kept.
func (f *File) search() {
	f.rebuilt = true
	encrypt := f.Trailer["Encrypt"]
	f.reset()
	var trailer Dict
	take := func(at int) { // a trailer, if there is a dictionary
		l := &Lexer{data: f.data, pos: at, budget: f.Budget, refs: true}
		d, _ := l.Next().(Dict)
		if d["Root"] != nil {
			trailer = d
		}
		if encrypt == nil {
			encrypt = d["Encrypt"]
		}
	}
	var catalog, packs []int
	for pos := 0; f.Budget.check(); {
		n := bytes.Index(f.data[pos:], []byte("obj"))
		if t := bytes.Index(f.data[pos:pos+max(n, 0)], []byte("trailer")); t >= 0 {
			take(pos + t + 7)
		}
		if n < 0 {
			break
		}
		at := pos + n
		pos = at + 3
		num, start, ok := f.objectHead(at)
		if !ok {
			continue
		}
		f.setEntry(num, entry{offset: start})
		head := f.data[pos:min(len(f.data), pos+400)]
		switch {
		case bytes.Contains(head, []byte("/Catalog")):
			catalog = append(catalog, num)
		case bytes.Contains(head, []byte("/ObjStm")):
			packs = append(packs, num)
		case bytes.Contains(head, []byte("/XRef")):
			take(pos)
		}
	}
	if t := bytes.LastIndex(f.data, []byte("trailer")); t >= 0 {
		take(t + 7)
	}
	if trailer == nil {
		trailer = Dict{}
	}
	f.Trailer = trailer
	if encrypt != nil {
		trailer["Encrypt"] = encrypt
		_ = f.unlock() // Open calls it again and returns its error
	}
	for _, num := range packs {
		p := f.objectStream(num)
		if p == nil {
			continue
		}
		for i, inner := range p.numbers {
			if _, known := f.entries[inner]; !known && !f.setEntry(inner, entry{offset: i, within: num}) {
				return
			}
			if f.Trailer["Root"] == nil && f.Name(f.Dict(Ref{inner, 0})["Type"]) == "Catalog" {
				f.Trailer["Root"] = Ref{inner, 0}
			}
		}
	}
	for _, num := range catalog {
		if f.Root() == nil {
			f.Trailer["Root"] = Ref{num, 0}
		}
	}
}

// objectHead reads the object number before the keyword obj at offset at, backwards, and returns the offset of the number.
func (f *File) objectHead(at int) (num, start int, ok bool) {
	back := func(i int) (value, from int, ok bool) {
		for i > 0 && white(f.data[i-1]) {
			i--
		}
		end, scale := i, 1
		for i > 0 && f.data[i-1] >= '0' && f.data[i-1] <= '9' && end-i < 9 {
			i--
			value += int(f.data[i]-'0') * scale
			scale *= 10
		}
		return value, i, i < end
	}
	if at == 0 || !white(f.data[at-1]) {
		return 0, 0, false
	}
	_, from, ok := back(at)
	if !ok {
		return 0, 0, false
	}
	return back(from)
}
