package xls

import (
	"encoding/binary"
	"slices"
	"unicode/utf16"

	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// records reads a stream of records: a type, a length and a body, each of 8,224 bytes at most. What is longer goes on in records of the
// type CONTINUE.
type records struct {
	data []byte
	kind int
	body []byte
}

// next goes to the next record that continues no other one; it returns false behind the last one that is whole.
func (r *records) next() bool {
	for r.take() {
		if r.kind != recContinue {
			return true
		}
	}
	return false
}

func (r *records) take() bool {
	if len(r.data) < 4 {
		return false
	}
	end := 4 + u16(r.data, 2)
	if end > len(r.data) {
		return false
	}
	r.kind, r.body, r.data = u16(r.data, 0), r.data[4:end], r.data[end:]
	return true
}

// segments returns a reader of the record and what continues it.
func (r *records) segments() *segments {
	s := &segments{now: r.body}
	for rest := *r; rest.take() && rest.kind == recContinue; {
		s.rest = append(s.rest, rest.body)
		r.data = rest.data
	}
	return s
}

// continued returns what continues the record.
func (r *records) continued() []byte {
	s := r.segments()
	s.now = nil
	return s.remainder()
}

// segments reads a record that goes on in others.
type segments struct {
	now  []byte
	rest [][]byte
	cut  bool // there was less than was asked for
}

// more goes to the next segment when the present one is read.
func (s *segments) more() bool {
	for len(s.now) == 0 && len(s.rest) > 0 {
		s.now, s.rest = s.rest[0], s.rest[1:]
	}
	return len(s.now) > 0
}

// number reads a number of a few bytes, the low one first.
func (s *segments) number(size int) int {
	n := 0
	for i := range size {
		if !s.more() {
			s.cut = true
			return 0
		}
		n |= int(s.now[0]) << (8 * i)
		s.now = s.now[1:]
	}
	return n
}

// remainder returns what was not read.
func (s *segments) remainder() []byte { return slices.Concat(s.now, slices.Concat(s.rest...)) }

func (s *segments) skip(n int) {
	for n > 0 && s.more() {
		k := min(n, len(s.now))
		s.now, n = s.now[k:], n-k
	}
	s.cut = s.cut || n > 0
}

// chars reads characters, of two bytes each or of one, which is the low one. Each segment inside says anew which.
func (s *segments) chars(count int, wide bool) string {
	var out []uint16
	for len(out) < count {
		if len(s.now) == 0 {
			if !s.more() {
				s.cut = true
				break
			}
			wide, s.now = s.now[0]&1 != 0, s.now[1:]
			continue
		}
		if !wide {
			k := min(count-len(out), len(s.now))
			for _, c := range s.now[:k] {
				out = append(out, uint16(c))
			}
			s.now = s.now[k:]
			continue
		}
		if len(s.now) == 1 { // no program cuts a character
			s.cut = true
			break
		}
		for len(out) < count && len(s.now) > 1 {
			out = append(out, binary.LittleEndian.Uint16(s.now))
			s.now = s.now[2:]
		}
	}
	return string(utf16.Decode(out))
}

// text reads a text from a place in a record on: its length, which is a number of lengthSize bytes, and its characters.
func (b *book) text(s *segments, at, lengthSize int) string {
	s.skip(at)
	count := s.number(lengthSize)
	if !b.old {
		return s.unicode(count)
	}
	return ole.Decode(s.now[:min(count, len(s.now))], b.page)
}

// unicode reads a text behind its length (MS-XLS, 2.5.293): runs of formats and aids to reading may follow it.
func (s *segments) unicode(count int) string {
	const wide, extended, rich = 1, 4, 8
	flags := s.number(1)
	runs, aids := 0, 0
	if flags&rich != 0 {
		runs = s.number(2)
	}
	if flags&extended != 0 {
		aids = s.number(4)
	}
	out := s.chars(count, flags&wide != 0)
	s.skip(4 * runs)
	s.skip(aids)
	return out
}

// readStrings reads the texts that cells refer to by number.
func (b *book) readStrings(s *segments) error {
	s.skip(4)
	for n := s.number(4); n > 0 && s.more(); n-- {
		text := outline.OneLine(s.unicode(s.number(2)))
		if s.cut {
			return bad("the texts of its cells are cut off")
		}
		b.strings = append(b.strings, text)
	}
	return nil
}
