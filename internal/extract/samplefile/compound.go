package samplefile

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// Sectors and marks of compound files (MS-CFB).
const (
	sectorSize, miniSize, cutoff = 512, 64, 4096
	endOfChain, free             = 0xFFFFFFFE, 0xFFFFFFFF
	fatSector                    = 0xFFFFFFFD
)

// Compound returns a compound file of streams by their names. A name with slashes is that of a stream in storages.
func Compound(streams map[string]string) []byte {
	c := &compound{}
	c.entries = append(c.entries, &compoundEntry{name: "Root Entry", kind: 5})
	folders := map[string]*compoundEntry{"": c.entries[0]}
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		parent := c.folder(folders, name[:max(strings.LastIndex(name, "/"), 0)])
		c.add(parent, &compoundEntry{name: name[strings.LastIndex(name, "/")+1:], kind: 2, content: streams[name]})
	}
	for _, e := range c.entries[1:] {
		e.start = endOfChain
		switch {
		case len(e.content) >= cutoff:
			e.start = c.put([]byte(e.content))
		case len(e.content) > 0:
			e.start = uint32(len(c.mini) / miniSize)
			c.mini = append(c.mini, padded([]byte(e.content), miniSize)...)
			for at := int(e.start) + 1; at < len(c.mini)/miniSize; at++ {
				c.miniFAT = binary.LittleEndian.AppendUint32(c.miniFAT, uint32(at))
			}
			c.miniFAT = binary.LittleEndian.AppendUint32(c.miniFAT, endOfChain)
		}
	}
	c.entries[0].content, c.entries[0].start = string(c.mini), c.put(c.mini)
	var directory []byte
	for _, e := range c.entries {
		directory = append(directory, e.bytes()...)
	}
	return c.file(c.put(directory), c.put(c.miniFAT))
}

// compound is a compound file that is being written.
type compound struct {
	entries       []*compoundEntry
	sectors, mini []byte
	fat           []uint32
	miniFAT       []byte
}

type compoundEntry struct {
	name, content           string
	kind                    byte
	right, child, at, start uint32 // entries: 0 is none, since that is the root
	last                    *compoundEntry
}

// folder returns the storage at a path, which it makes if need be.
func (c *compound) folder(folders map[string]*compoundEntry, path string) *compoundEntry {
	if folders[path] == nil {
		e := &compoundEntry{name: path[strings.LastIndex(path, "/")+1:], kind: 1}
		c.add(c.folder(folders, path[:max(strings.LastIndex(path, "/"), 0)]), e)
		folders[path] = e
	}
	return folders[path]
}

// add puts an entry into a storage, whose entries are a tree with right branches only.
func (c *compound) add(parent, e *compoundEntry) {
	e.at = uint32(len(c.entries))
	c.entries = append(c.entries, e)
	if parent.last == nil {
		parent.child = e.at
	} else {
		parent.last.right = e.at
	}
	parent.last = e
}

// put writes a stream into sectors of its own and returns the first one.
func (c *compound) put(data []byte) uint32 {
	if len(data) == 0 {
		return endOfChain
	}
	start := uint32(len(c.fat))
	c.sectors = append(c.sectors, padded(data, sectorSize)...)
	for len(c.fat) < len(c.sectors)/sectorSize-1 {
		c.fat = append(c.fat, uint32(len(c.fat)+1))
	}
	c.fat = append(c.fat, endOfChain)
	return start
}

// file returns the header, the sectors and the table of sectors. It has room for 109 sectors of the table: 7 MB.
func (c *compound) file(directory, miniFAT uint32) []byte {
	n := 1
	for n*sectorSize/4 < len(c.fat)+n {
		n++
	}
	first := len(c.fat)
	for range n {
		c.fat = append(c.fat, fatSector)
	}
	for len(c.fat) < n*sectorSize/4 {
		c.fat = append(c.fat, free)
	}
	var b bytes.Buffer
	b.WriteString("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 16))
	le := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a buffer takes everything
	le([]uint16{0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0})
	le([]uint32{0, uint32(n), directory, 0, cutoff, miniFAT, 1, endOfChain, 0})
	for i := range 109 {
		if i < n {
			le(uint32(first + i))
		} else {
			le(uint32(free))
		}
	}
	b.Write(c.sectors)
	le(c.fat)
	return b.Bytes()
}

func (e *compoundEntry) bytes() []byte {
	b := make([]byte, 128)
	name := utf16.Encode([]rune(e.name))
	for i, u := range name {
		binary.LittleEndian.PutUint16(b[2*i:], u)
	}
	binary.LittleEndian.PutUint16(b[64:], uint16(2*len(name)+2))
	b[66], b[67] = e.kind, 1
	for at, id := range map[int]uint32{68: 0, 72: e.right, 76: e.child} {
		if id == 0 {
			id = free
		}
		binary.LittleEndian.PutUint32(b[at:], id)
	}
	binary.LittleEndian.PutUint32(b[116:], e.start)
	binary.LittleEndian.PutUint32(b[120:], uint32(len(e.content)))
	return b
}

func padded(data []byte, to int) []byte {
	return append(bytes.Clone(data), make([]byte, (to-len(data)%to)%to)...)
}
