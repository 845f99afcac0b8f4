package syntax

import (
	"bytes"
	"errors"

	"quarry/internal/extract/outline"
)

// entry says where an object is.
type entry struct {
	offset int // in the file, or the place in its object stream
	within int // number of the object stream, 0 for none
}

// File is an open PDF.
type File struct {
	Budget  *Budget
	Trailer Dict

	data    []byte
	entries map[int]entry
	cache   map[int]Object
	loading map[int]bool
	packs   map[int]*pack // object streams
	crypt   *crypt
	mended  bool // the entries come from a search through the file
}

// Open reads cross references and trailer. Its errors wrap outline.ErrUnparsable or are outline.ErrProtected.
func Open(data []byte, b *Budget) (*File, error) {
	start := bytes.Index(data[:min(len(data), 4096)], []byte("%PDF-"))
	if start < 0 {
		b.Refuse("it does not begin as a PDF does")
		return nil, b.Err()
	}
	f := &File{Budget: b, data: data[start:]}
	f.forget()
	if !f.readTables() || f.Root() == nil {
		f.search()
	}
	if f.Budget.Err() == nil && f.Root() == nil {
		b.Refuse("it has no catalog")
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	return f, f.unlock()
}

func (f *File) forget() {
	f.entries, f.cache, f.loading, f.packs = map[int]entry{}, map[int]Object{}, map[int]bool{}, map[int]*pack{}
}

// Root gives the catalog, nil when there is none.
func (f *File) Root() Dict {
	d := f.Dict(f.Trailer["Root"])
	if d == nil || f.Dict(d["Pages"]) == nil {
		return nil
	}
	return d
}

// note remembers where an object is and refuses files with too many.
func (f *File) note(num int, e entry) bool {
	if num <= 0 || num > 8<<20 {
		return f.Budget.Step()
	}
	f.entries[num] = e
	if len(f.entries) >= maxObjects {
		f.Budget.Refuse("it has %d objects or more", maxObjects)
	}
	return f.Budget.Step()
}

// Get follows references; nil for what is not there.
func (f *File) Get(o Object) Object {
	for range 32 {
		ref, ok := o.(Ref)
		if !ok {
			return o
		}
		o = f.load(ref.Num)
	}
	return nil
}

// Dict gives a dictionary, that of a stream too; nil for anything else.
func (f *File) Dict(o Object) Dict {
	switch v := f.Get(o).(type) {
	case Dict:
		return v
	case *Stream:
		return v.Dict
	}
	return nil
}

// Array gives an array, nil for anything else.
func (f *File) Array(o Object) Array {
	a, _ := f.Get(o).(Array)
	return a
}

// Int gives an integer, other when it is none.
func (f *File) Int(o Object, other int) int {
	if v, ok := Number(f.Get(o)); ok && v > -1<<40 && v < 1<<40 {
		return int(v)
	}
	return other
}

// Name gives a name, "" for anything else.
func (f *File) Name(o Object) Name {
	n, _ := f.Get(o).(Name)
	return n
}

func (f *File) load(num int) Object {
	if o, ok := f.cache[num]; ok {
		return o
	}
	e, ok := f.entries[num]
	if !ok || f.loading[num] || !f.Budget.Step() {
		return nil
	}
	f.loading[num] = true
	var o Object
	if e.within > 0 {
		o = f.unpack(e, num)
	} else {
		o, ok = f.objectAt(e.offset, num)
		if !ok && !f.mended {
			delete(f.loading, num)
			f.search() // the cross references are wrong
			return f.load(num)
		}
	}
	delete(f.loading, num)
	f.cache[num] = o
	f.Budget.Keep(48)
	return o
}

// objectAt reads the indirect object at an offset; false when another stands there, or none.
func (f *File) objectAt(at, num int) (Object, bool) {
	if at < 0 || at >= len(f.data) {
		return nil, false
	}
	l := &Lexer{data: f.data, pos: at, budget: f.Budget}
	got, ok := l.Next().(int)
	gen, _ := l.Next().(int)
	if k, _ := l.Next().(Keyword); !ok || k != "obj" || got != num {
		return nil, false
	}
	l.refs = true
	if f.crypt != nil {
		l.decrypt = func(s []byte) []byte { return f.crypt.string(num, gen, s) }
	}
	from := l.pos
	o := l.Next()
	f.Budget.Keep(l.pos - from)
	d, ok := o.(Dict)
	if !ok {
		return o, true
	}
	l.space()
	if !bytes.HasPrefix(f.data[l.pos:], []byte("stream")) {
		return o, true
	}
	raw := f.streamData(l.pos+6, d)
	if f.crypt != nil {
		raw = f.crypt.stream(num, gen, d, raw)
		f.Budget.Keep(len(raw))
	}
	return &Stream{d, raw}, true
}

// streamData gives the bytes of a stream whose keyword ends at pos.
func (f *File) streamData(pos int, d Dict) []byte {
	if pos < len(f.data) && f.data[pos] == '\r' {
		pos++
	}
	if pos < len(f.data) && f.data[pos] == '\n' {
		pos++
	}
	rest := f.data[min(pos, len(f.data)):]
	if n := f.Int(d["Length"], -1); n >= 0 && n <= len(rest) {
		end := bytes.TrimLeft(rest[n:min(len(rest), n+24)], " \r\n\t\x00")
		if bytes.HasPrefix(end, []byte("endstream")) || bytes.HasPrefix(end, []byte("endobj")) {
			return rest[:n:n]
		}
	}
	if !f.Budget.look() {
		return nil
	}
	n := bytes.Index(rest, []byte("endstream"))
	if n < 0 {
		return rest
	}
	for n > 0 && (rest[n-1] == '\n' || rest[n-1] == '\r') {
		n--
	}
	return rest[:n:n]
}

// pack is an object stream: where each of its objects begins.
type pack struct {
	data    []byte
	numbers []int
	offsets []int
}

func (f *File) unpack(e entry, num int) Object {
	p := f.pack(e.within)
	if p == nil {
		return nil
	}
	i := e.offset
	if i < 0 || i >= len(p.numbers) || p.numbers[i] != num {
		for i = range p.numbers {
			if p.numbers[i] == num {
				break
			}
		}
	}
	if i >= len(p.numbers) || p.numbers[i] != num || p.offsets[i] < 0 || p.offsets[i] >= len(p.data) {
		return nil
	}
	l := &Lexer{data: p.data, pos: p.offsets[i], refs: true, budget: f.Budget}
	o := l.Next()
	f.Budget.Keep(l.pos - p.offsets[i])
	return o
}

func (f *File) pack(num int) *pack {
	if p, ok := f.packs[num]; ok {
		return p
	}
	f.packs[num] = nil
	if e := f.entries[num]; e.within > 0 {
		return nil
	}
	s, ok := f.load(num).(*Stream)
	if !ok {
		return nil
	}
	data, err := f.Decode(s)
	if err != nil || !f.Budget.Keep(len(data)) {
		return nil
	}
	p := &pack{data: data}
	first := f.Int(s.Dict["First"], 0)
	l := &Lexer{data: data[:min(len(data), max(0, first))], budget: f.Budget}
	for !l.End() && len(p.numbers) < maxObjects {
		n, ok1 := l.Next().(int)
		at, ok2 := l.Next().(int)
		if !ok1 || !ok2 {
			break
		}
		p.numbers, p.offsets = append(p.numbers, n), append(p.offsets, first+at)
	}
	f.packs[num] = p
	return p
}

// unlock reads how the file is encrypted and opens it with the empty password.
func (f *File) unlock() error {
	d := f.Dict(f.Trailer["Encrypt"])
	if d == nil {
		return nil
	}
	c, err := newCrypt(f, d)
	if errors.Is(err, outline.ErrProtected) {
		return err
	}
	if err != nil {
		f.Budget.Refuse("%w", err)
		return f.Budget.Err()
	}
	// What was read so far was read without the key.
	f.crypt = c
	if ref, ok := f.Trailer["Encrypt"].(Ref); ok {
		f.cache = map[int]Object{ref.Num: f.cache[ref.Num]}
	} else {
		f.cache = map[int]Object{}
	}
	f.packs = map[int]*pack{}
	return f.Budget.Err()
}
