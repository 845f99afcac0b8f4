// Package ole reads what the binary formats of Office share: compound files (MS-CFB), which are file systems of storages and
// streams inside a file, their property sets (MS-OLEPS) and code pages. Chains of sectors that run in circles, lead out of the file or
// overlap are refused: reading never takes more memory than a small multiple of the file. All functions are safe for
// concurrent use; an open file is not.
package ole

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"

	"quarry/internal/extract/outline"
)

// signature begins every compound file.
const signature = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

// Marks in tables of sectors and in the directory (MS-CFB, 2.1 and 2.6.1).
const (
	lastRegular = 0xFFFFFFFA // greater numbers are marks
	endOfChain  = 0xFFFFFFFE
	noEntry     = 0xFFFFFFFF
)

// Storage is a folder of a compound file.
type Storage struct {
	Name string
	// Storages are the folders inside, in the order of the directory.
	Storages []*Storage
	file     *file
	streams  map[string]stream // by name in lower case
}

type stream struct {
	start uint32
	size  uint64
}

// table is the list of the sectors, with the one that follows each in its chain.
type table struct {
	next  []uint32
	seen  []uint32 // in which chain each sector was read last
	chain uint32   // the number of the present one
}

func newTable(next []uint32) table { return table{next: next, seen: make([]uint32, len(next))} }

// file is an open compound file.
type file struct {
	data         []byte
	shift        uint // of sectors: 9 or 12
	fat, miniFAT table
	mini         []byte // the stream that small streams are in
	cutoff       uint64 // streams that are shorter are in it
	left         int    // how many bytes may be read yet
}

// Is reports whether data is a compound file with one of these streams at its root.
func Is(data []byte, streams ...string) bool {
	root, err := open(data)
	if err != nil {
		return false
	}
	for _, name := range streams {
		if root.Has(name) {
			return true
		}
	}
	return false
}

// Open opens a compound file and returns its root. Its errors wrap outline.ErrUnparsable, or outline.ErrProtected for the
// wrapping of an encrypted document of the formats since 2007 (MS-OFFCRYPTO, 2.3).
func Open(data []byte) (*Storage, error) {
	root, err := open(data)
	if err == nil && root.Has("EncryptedPackage") {
		err = outline.ErrProtected
	}
	return root, err
}

func open(data []byte) (*Storage, error) {
	if len(data) < 512 || string(data[:8]) != signature {
		return nil, bad("it is no compound file, which %s", looksLike(data))
	}
	f := &file{data: data, shift: uint(binary.LittleEndian.Uint16(data[30:])), cutoff: uint64(binary.LittleEndian.Uint32(data[56:])), left: 2*len(data) + 1<<20}
	if f.shift != 9 && f.shift != 12 || binary.LittleEndian.Uint16(data[32:]) != 6 {
		return nil, bad("its sectors have an impossible size")
	}
	if err := f.readFAT(); err != nil {
		return nil, err
	}
	directory, err := f.chain(binary.LittleEndian.Uint32(data[48:]), &f.fat, f.data, f.shift, noLimit)
	if err != nil || len(directory) < entrySize {
		return nil, bad("its directory is damaged")
	}
	miniFAT, err := f.chain(binary.LittleEndian.Uint32(data[60:]), &f.fat, f.data, f.shift, noLimit)
	if err != nil {
		return nil, err
	}
	f.miniFAT = newTable(numbers(miniFAT))
	root := entry(directory[:entrySize])
	if f.mini, err = f.chain(root.start, &f.fat, f.data, f.shift, root.size); err != nil {
		return nil, err
	}
	return f.tree(directory)
}

// looksLike ends the reason why a file is no compound file with what it seems to be instead.
func looksLike(data []byte) string {
	head := strings.ToLower(strings.TrimSpace(string(data[:min(len(data), 200)])))
	switch {
	case strings.HasPrefix(head, "<") || strings.HasPrefix(head, "\ufeff<"):
		return "documents of Office before 2007 are; it seems to be a page or XML, and can be uploaded with the ending .html or .xml"
	case strings.HasPrefix(head, "{\\rtf"):
		return "documents of Office before 2007 are; it seems to be RTF, and can be uploaded with the ending .rtf"
	case strings.HasPrefix(head, "pk"):
		return "documents of Office before 2007 are; it seems to be a newer one, and can be uploaded with the ending .docx, .xlsx or .pptx"
	}
	return "documents of Office before 2007 are; save it as .docx, .xlsx or .pptx"
}

// readFAT reads the table that says for each sector which one follows it. Its own sectors are listed in the header and in a chain of
// sectors behind it.
func (f *file) readFAT() error {
	size := 1 << f.shift
	most := len(f.data)>>f.shift + 1 // sectors that the file can have
	var list, next []uint32
	for i := range 109 {
		list = append(list, binary.LittleEndian.Uint32(f.data[76+4*i:]))
	}
	more := binary.LittleEndian.Uint32(f.data[68:])
	for seen := 0; more <= lastRegular; seen++ {
		s, ok := sector(f.data, more, f.shift, 1)
		if !ok || len(s) < size || seen > most/(size/4)+1 {
			return bad("its table of sectors is damaged")
		}
		n := numbers(s)
		list, more = append(list, n[:len(n)-1]...), n[len(n)-1]
	}
	for _, at := range list {
		if at > lastRegular {
			continue
		}
		s, ok := sector(f.data, at, f.shift, 1)
		if !ok || len(next) > most {
			return bad("its table of sectors is damaged")
		}
		next = append(next, numbers(s)...)
	}
	f.fat = newTable(next)
	return nil
}

// sector returns a sector of data, of which the first skip ones are not counted. The last one may be cut short.
func sector(data []byte, at uint32, shift, skip uint) ([]byte, bool) {
	from := (uint64(at) + uint64(skip)) << shift
	if from >= uint64(len(data)) {
		return nil, false
	}
	return data[from:min(from+1<<shift, uint64(len(data)))], true
}

// noLimit is the size of a chain that is read to its end.
const noLimit = 1<<64 - 1

// chain reads the sectors from start on, at most size bytes of them, out of data, which is the file or its stream of small streams.
func (f *file) chain(start uint32, in *table, data []byte, shift uint, size uint64) ([]byte, error) {
	skip := uint(1) // the header of the file stands before its first sector
	if shift == miniShift {
		skip = 0
	}
	var out []byte
	in.chain++
	for at := start; at != endOfChain && uint64(len(out)) < size; at = in.next[at] {
		s, ok := sector(data, at, shift, skip)
		if !ok || at >= uint32(len(in.next)) {
			if at == noEntry && len(out) == 0 { // an empty stream
				break
			}
			return nil, bad("a chain of sectors leads out of the file, which may be cut off")
		}
		if f.left -= len(s); f.left < 0 || in.seen[at] == in.chain {
			return nil, bad("chains of sectors overlap or run in a circle")
		}
		in.seen[at] = in.chain
		out = append(out, s...)
	}
	if size != noLimit {
		if uint64(len(out)) < size {
			return nil, bad("a stream is shorter than the directory says")
		}
		out = out[:size:size]
	}
	return out, nil
}

// miniShift is that of the sectors of small streams.
const miniShift = 6

// Has reports whether there is a stream of this name, in upper or lower case.
func (s *Storage) Has(name string) bool {
	_, found := s.streams[strings.ToLower(name)]
	return found
}

// Read returns the content of a stream, nil if there is none. Its error wraps outline.ErrUnparsable.
func (s *Storage) Read(name string) ([]byte, error) {
	in, found := s.streams[strings.ToLower(name)]
	if !found {
		return nil, nil
	}
	f := s.file
	if in.size < f.cutoff {
		return f.chain(in.start, &f.miniFAT, f.mini, miniShift, in.size)
	}
	return f.chain(in.start, &f.fat, f.data, f.shift, in.size)
}

// Storage returns the folder of this name, or nil if there is none.
func (s *Storage) Storage(name string) *Storage {
	for _, in := range s.Storages {
		if strings.EqualFold(in.Name, name) {
			return in
		}
	}
	return nil
}

// entrySize is the size of an entry of the directory.
const entrySize = 128

// node is an entry of the directory (MS-CFB, 2.6.1): entries of one storage are a binary tree.
type node struct {
	name               string
	kind               byte
	left, right, child uint32
	stream
}

func entry(b []byte) node {
	u32 := binary.LittleEndian.Uint32
	n := node{kind: b[66], left: u32(b[68:]), right: u32(b[72:]), child: u32(b[76:]), stream: stream{u32(b[116:]), uint64(u32(b[120:]))}}
	if length := int(binary.LittleEndian.Uint16(b[64:])); length >= 2 && length <= 64 {
		n.name = UTF16(b[:length-2])
	}
	return n
}

// Kinds of entries.
const (
	storageEntry = 1
	streamEntry  = 2
	rootEntry    = 5
)

// tree reads the directory. Entries that are reached twice are an error.
func (f *file) tree(directory []byte) (*Storage, error) {
	count := uint32(len(directory) / entrySize)
	seen := make([]bool, count)
	seen[0] = true // the root
	root := &Storage{file: f, streams: map[string]stream{}}
	type visit struct {
		at uint32
		in *Storage
	}
	todo := []visit{{entry(directory).child, root}}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.at == noEntry {
			continue
		}
		if v.at >= count || seen[v.at] {
			return nil, bad("its directory is damaged")
		}
		seen[v.at] = true
		n := entry(directory[v.at*entrySize:])
		switch n.kind {
		case storageEntry:
			inside := &Storage{Name: n.name, file: f, streams: map[string]stream{}}
			v.in.Storages = append(v.in.Storages, inside)
			todo = append(todo, visit{n.child, inside})
		case streamEntry:
			v.in.streams[strings.ToLower(n.name)] = n.stream
		}
		todo = append(todo, visit{n.right, v.in}, visit{n.left, v.in})
	}
	return root, nil
}

func numbers(b []byte) []uint32 {
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// UTF16 returns the text of characters of two bytes each, the low one first.
func UTF16(b []byte) string {
	out := make([]uint16, len(b)/2)
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(out))
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{outline.ErrUnparsable}, args...)...)
}
