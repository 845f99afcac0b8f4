package doc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"quarry/internal/extract/numeral"
)

// maxLevels is the number of levels that a list has.
const maxLevels = 9

// level is how one level of a list is numbered (MS-DOC, 2.9.150).
type level struct {
	start  int
	format int    // of numbers
	text   string // in which the characters 0 to 8 stand for the numbers of the levels
}

// override is a list as paragraphs name it: one of the lists, perhaps with levels of its own.
type override struct {
	list   uint32
	levels map[int]level
	starts map[int]int
}

// readLists reads the lists.
func (f *file) readLists() {
	const listSize, overrideSize = 28, 16
	f.lists = map[uint32][]level{}
	if b := f.part(partLists); len(b) >= 2 {
		levels := f.table[u32(f.main, f.parts+8*partLists)+uint32(len(b)):] // they follow the lists
		for i := 0; i < u16(b, 0) && len(b) >= 2+(i+1)*listSize; i++ {
			one := b[2+i*listSize:]
			count := maxLevels
			if one[26]&1 != 0 {
				count = 1
			}
			for range count {
				var in level
				if in, levels = readLevel(levels); levels == nil {
					break
				}
				f.lists[u32(one, 0)] = append(f.lists[u32(one, 0)], in)
			}
		}
	}
	b := f.part(partOverrides)
	if len(b) < 4 {
		return
	}
	count := int(min(u32(b, 0), uint32((len(b)-4)/overrideSize)))
	rest := b[4+count*overrideSize:]
	for i := range count {
		one := b[4+i*overrideSize:]
		o := override{list: u32(one, 0), levels: map[int]level{}, starts: map[int]int{}}
		rest = o.read(rest, int(one[12]))
		f.overrides = append(f.overrides, o)
	}
}

// read reads the levels that the override has itself, and returns what follows them.
func (o *override) read(b []byte, count int) []byte {
	const restarts, own = 0x10, 0x20
	if len(b) < 4 {
		return nil
	}
	b = b[4:]
	for range count {
		if len(b) < 8 {
			return nil
		}
		start, flags := int(int32(u32(b, 0))), b[4]
		b = b[8:]
		at := int(flags & 0xF)
		if flags&own != 0 {
			if o.levels[at], b = readLevel(b); b == nil {
				return nil
			}
		} else if flags&restarts != 0 {
			o.starts[at] = start
		}
	}
	return b
}

// readLevel reads a level and returns what follows it, nil if it is cut off.
func readLevel(b []byte) (level, []byte) {
	const fixed = 28
	if len(b) < fixed {
		return level{}, nil
	}
	out := level{start: int(int32(u32(b, 0))), format: int(b[4])}
	at := fixed + int(b[24]) + int(b[25])
	end := at + 2 + 2*u16(b, at)
	if end > len(b) {
		return level{}, nil
	}
	units := make([]uint16, (end-at-2)/2)
	for i := range units {
		units[i] = uint16(u16(b, at+2+2*i))
	}
	out.text = string(utf16.Decode(units))
	return out, b[end:]
}

// counter holds the present numbers of one list.
type counter struct {
	at   [maxLevels]int
	seen [maxLevels]bool // whether the level has had an item since the last one of a higher level
}

// mark counts an item of a list and returns its bullet or number, "" if it has none.
func (r *reader) mark(number, at int) string {
	if number > len(r.overrides) {
		return "-"
	}
	o := &r.overrides[number-1]
	levels := func(i int) (level, bool) {
		if in, own := o.levels[i]; own {
			return in, true
		}
		if i >= len(r.lists[o.list]) {
			return level{start: 1}, false
		}
		in := r.lists[o.list][i]
		if start, own := o.starts[i]; own {
			in.start = start
		}
		return in, true
	}
	in, known := levels(at)
	if !known {
		return "-"
	}
	id := int(o.list)
	if len(o.levels)+len(o.starts) > 0 {
		id = -number // those with overrides count for themselves
	}
	c := r.counters[id]
	if c == nil {
		c = &counter{}
		r.counters[id] = c
	}
	if c.seen[at] {
		c.at[at]++
	} else {
		c.at[at], c.seen[at] = in.start, true
	}
	for i := at + 1; i < maxLevels; i++ {
		c.seen[i] = false
	}
	const bullet, none = 23, 255
	switch in.format {
	case bullet:
		return "-"
	case none:
		return ""
	}
	var b strings.Builder
	for _, char := range in.text {
		if char >= maxLevels {
			b.WriteRune(char)
			continue
		}
		of, _ := levels(int(char))
		n := c.at[char]
		if !c.seen[char] {
			n = of.start
		}
		b.WriteString(spell(n, of.format))
	}
	return strings.TrimSpace(b.String())
}

// spell returns n in one of Word's formats ([MS-OSHARED], 2.2.1.3). Rare formats are written in digits.
func spell(n, format int) string {
	const upperRoman, lowerRoman, upperLetter, lowerLetter, twoDigits = 1, 2, 3, 4, 22
	switch format {
	case upperRoman:
		return numeral.Roman(n)
	case lowerRoman:
		return strings.ToLower(numeral.Roman(n))
	case upperLetter:
		return numeral.Letters(n)
	case lowerLetter:
		return strings.ToLower(numeral.Letters(n))
	case twoDigits:
		return fmt.Sprintf("%02d", n)
	}
	return strconv.Itoa(n)
}
