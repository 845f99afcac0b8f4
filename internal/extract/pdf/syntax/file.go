package syntax

import (
	"bytes"
	"errors"

	"quarry/internal/extract/outline"
)

// entry is the location of an object.
type entry struct {
	offset int // in the file, or the index in its object stream
	within int // object number of the object stream, 0 if it is in none
}

// File is an open PDF. It is not safe for concurrent use.
type File struct {
	Budget  *Budget
	Trailer Dict

	data    []byte
	entries map[int]entry
	cache   map[int]Object
	loading map[int]bool          // objects that are being read, to detect cycles
	packs   map[int]*objectStream // by object number
	crypt   *crypt                // nil if the file is not encrypted
	rebuilt bool                  // entries were found by search, not read from cross references
}

// maxTail is how many bytes from the end of a file its end is marked at most, as other readers have it: programs that send files add some.
const maxTail = 1024

// cut reports whether a file ends in the middle of something: what of it could be found is not the file. Files written by hand may lack the mark of
// the end.
func cut(data []byte) bool {
	tail := bytes.TrimSpace(data[max(0, len(data)-maxTail):])
	marked := bytes.Contains(tail, []byte("startxref")) || bytes.Contains(tail, []byte("%%EOF"))
	return !marked && !bytes.HasSuffix(tail, []byte("endobj")) && !bytes.HasSuffix(tail, []byte(">>"))
}

// Open reads the cross references and the trailer of a file. If they are damaged, it searches the file for objects. Its
// errors wrap outline.ErrUnparsable or are outline.ErrProtected.
func Open(data []byte, b *Budget) (*File, error) {
	start := bytes.Index(data[:min(len(data), 4096)], []byte("%PDF-"))
	if start < 0 {
		b.Refuse("it does not begin as a PDF does")
		return nil, b.Err()
	}
	if cut(data) {
		b.Refuse("its end is missing, so that it may be cut off")
		return nil, b.Err()
	}
	f := &File{Budget: b, data: data[start:]}
	f.reset()
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

func (f *File) reset() {
	f.entries, f.cache, f.loading, f.packs = map[int]entry{}, map[int]Object{}, map[int]bool{}, map[int]*objectStream{}
}

// Root returns the catalog, or nil if there is none with pages.
func (f *File) Root() Dict {
	d := f.Dict(f.Trailer["Root"])
	if d == nil || f.Dict(d["Pages"]) == nil {
		return nil
	}
	return d
}

// setEntry records the location of an object and refuses files with too many. It reports whether the budget lasts.
func (f *File) setEntry(num int, e entry) bool {
	if num <= 0 || num > 8<<20 {
		return f.Budget.Step()
	}
	f.entries[num] = e
	if len(f.entries) >= maxObjects {
		f.Budget.Refuse("it has %d objects or more", maxObjects)
	}
	return f.Budget.Step()
}

// Get returns o, or the object that it refers to, which is nil if it is missing.
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

// Dict returns o, after following references, as a dictionary, which may be that of a stream; nil for any other object.
func (f *File) Dict(o Object) Dict {
	switch v := f.Get(o).(type) {
	case Dict:
		return v
	case *Stream:
		return v.Dict
	}
	return nil
}

// Array returns o, after following references, as an array; nil for any other object.
func (f *File) Array(o Object) Array {
	a, _ := f.Get(o).(Array)
	return a
}

// Int returns o, after following references, as an integer; other if it is not a number.
func (f *File) Int(o Object, other int) int {
	if v, ok := Number(f.Get(o)); ok && v > -1<<40 && v < 1<<40 {
		return int(v)
	}
	return other
}

// Name returns o, after following references, as a name; "" for any other object.
func (f *File) Name(o Object) Name {
	n, _ := f.Get(o).(Name)
	return n
}

// load returns the object with this number, from the cache if it has been read before.
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
		o = f.compressed(e, num)
	} else {
		o, ok = f.objectAt(e.offset, num)
		if !ok && !f.rebuilt {
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

// objectAt reads the indirect object with this number at an offset; ok is false if it is not there.
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

// streamData returns the bytes of the stream whose keyword ends at pos. If its Length is wrong, it ends before the next
// "endstream".
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
	if !f.Budget.check() {
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

// objectStream is a decoded object stream (ISO 32000-1, 7.5.7).
type objectStream struct {
	data    []byte
	numbers []int // object numbers
	offsets []int // of the objects in data
}

// compressed returns an object in an object stream.
func (f *File) compressed(e entry, num int) Object {
	p := f.objectStream(e.within)
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

// objectStream returns the object stream with this number, or nil if there is none.
func (f *File) objectStream(num int) *objectStream {
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
	p := &objectStream{data: data}
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

// unlock prepares decryption with the empty password if the file is encrypted.
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
	// Objects read so far have not been decrypted.
	f.crypt = c
	if ref, ok := f.Trailer["Encrypt"].(Ref); ok {
		f.cache = map[int]Object{ref.Num: f.cache[ref.Num]}
	} else {
		f.cache = map[int]Object{}
	}
	f.packs = map[int]*objectStream{}
	return f.Budget.Err()
}
