package ppt

import (
	"encoding/binary"
	"quarry/internal/extract/officeart"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Kinds of texts (MS-PPT, 2.13.33).
const (
	kindTitle, kindBody, kindNotes         = 0, 1, 2
	kindCenterTitle, kindHalf, kindQuarter = 6, 7, 8
)

// text is a text with its formats.
type text struct {
	kind    uint32
	units   []uint16 // its characters
	style   []byte   // of its paragraphs and characters
	numbers []byte   // the formats of numbered lists
}

// texts reads records that are texts.
type texts struct{ all []*text }

// record reads one record: a text begins with its kind.
func (t *texts) record(r officeart.Record) {
	if r.Kind == recTextHeader {
		t.all = append(t.all, &text{kind: u32(r.Body, 0)})
		return
	}
	if len(t.all) == 0 {
		return
	}
	now := t.all[len(t.all)-1]
	switch r.Kind {
	case recTextChars:
		now.units = make([]uint16, len(r.Body)/2)
		for i := range now.units {
			now.units[i] = binary.LittleEndian.Uint16(r.Body[2*i:])
		}
	case recTextBytes: // the low bytes of characters
		now.units = make([]uint16, len(r.Body))
		for i, c := range r.Body {
			now.units[i] = uint16(c)
		}
	case recTextStyle:
		now.style = r.Body
	case recSlideNumber, recDateTime, recGenericDate, recHeader, recFooter, recRTFDate: // a sign stands for it
		if at := u32(r.Body, 0); uint64(at) < uint64(len(now.units)) {
			now.units[at] = 0
		}
	}
}

// paragraph is a paragraph; bullet is empty for those that are no item of a list.
type paragraph struct {
	text, bullet string
	level        int
}

// paragraphs returns the paragraphs of a text that are not empty.
func (t *text) paragraphs() (out []paragraph) {
	const line, end = '\v', '\r'
	listed := t.kind == kindBody || t.kind == kindHalf || t.kind == kindQuarter // by the layout
	styles := t.styles(listed)
	counts := map[int]int{}
	for from := 0; from <= len(t.units); {
		to := from
		for to < len(t.units) && t.units[to] != end {
			to++
		}
		var b strings.Builder
		for _, c := range utf16.Decode(t.units[from:to]) {
			switch {
			case c == line:
				b.WriteByte('\n')
			case c == '\t':
				b.WriteByte(' ')
			case c >= ' ':
				b.WriteRune(c)
			}
		}
		p := paragraph{text: strings.TrimSpace(b.String())}
		style := styles.at(from)
		p.level = style.level
		for level := range counts { // a list ends with those below it
			if level > p.level {
				delete(counts, level)
			}
		}
		switch {
		case p.text == "":
		case style.number > 0:
			counts[p.level] = max(counts[p.level]+1, style.number)
			p.bullet = strconv.Itoa(counts[p.level]) + "."
		case style.bullet:
			p.bullet = "-"
		}
		if p.bullet == "" || p.bullet == "-" {
			delete(counts, p.level)
		}
		if p.text != "" {
			out = append(out, p)
		}
		from = to + 1
	}
	if listed && len(out) == 1 && out[0].bullet == "-" { // one item is no list
		out[0].bullet = ""
	}
	return out
}

// paragraphStyle is what is known of the paragraphs in a stretch of a text.
type paragraphStyle struct {
	to     int // where it ends, in characters
	level  int
	bullet bool
	number int // of the first paragraph in a numbered list, 0 in others
}

// styles are those of stretches, the last one for what follows as well.
type styles struct {
	paragraphs []paragraphStyle
	numbers    []paragraphStyle // of stretches of characters
	listed     bool
}

// at returns the style of a place.
func (s *styles) at(place int) paragraphStyle {
	out := paragraphStyle{bullet: s.listed}
	for len(s.paragraphs) > 0 && s.paragraphs[0].to <= place {
		s.paragraphs = s.paragraphs[1:]
	}
	if len(s.paragraphs) > 0 {
		out = s.paragraphs[0]
	}
	for len(s.numbers) > 0 && s.numbers[0].to <= place {
		s.numbers = s.numbers[1:]
	}
	if len(s.numbers) > 0 && out.bullet {
		out.number = s.numbers[0].number
	}
	return out
}

// reader reads numbers one after the other; behind the end they are 0.
type reader struct{ b []byte }

func (r *reader) u16() int {
	n := u16(r.b, 0)
	r.b = r.b[min(2, len(r.b)):]
	return n
}

func (r *reader) u32() uint32 {
	n := u32(r.b, 0)
	r.b = r.b[min(4, len(r.b)):]
	return n
}

func (r *reader) skip(n int) { r.b = r.b[min(n, len(r.b)):] }

// styles reads the formats of a text: stretches of paragraphs, and then of characters (MS-PPT, 2.9.44).
func (t *text) styles(listed bool) *styles {
	out := &styles{listed: listed}
	r := &reader{t.style}
	for to := 0; to <= len(t.units) && len(r.b) > 0; {
		to += int(min(r.u32(), 1<<20))
		one := paragraphStyle{to: to, level: r.u16(), bullet: listed}
		one.read(r)
		out.paragraphs = append(out.paragraphs, one)
	}
	numbers := t.autoNumbers()
	for to := 0; len(numbers) > 0 && to <= len(t.units) && len(r.b) > 0; {
		to += int(min(r.u32(), 1<<20))
		one := paragraphStyle{to: to}
		if at := characterFormat(r); at < len(numbers) {
			one.number = numbers[at]
		}
		out.numbers = append(out.numbers, one)
	}
	return out
}

// read reads the format of paragraphs (MS-PPT, 2.9.20): a mask says which values follow.
func (s *paragraphStyle) read(r *reader) {
	const anyFlag, hasBullet = 0xF, 1
	mask := r.u32()
	if mask&anyFlag != 0 {
		if flags := r.u16(); mask&hasBullet != 0 {
			s.bullet = flags&hasBullet != 0
		}
	}
	for _, value := range []struct {
		bits uint32
		size int
	}{
		{0x80, 2}, {0x10, 2}, {0x40, 2}, {0x20, 4}, // the sign of the bullet, its font, size and colour
		{0x800, 2}, {0x1000, 2}, {0x2000, 2}, {0x4000, 2}, {0x100, 2}, {0x400, 2}, {0x8000, 2}, // alignment, distances
	} {
		if mask&value.bits != 0 {
			r.skip(value.size)
		}
	}
	if mask&0x100000 != 0 { // stops of tabs
		r.skip(4 * r.u16())
	}
	for _, bits := range []uint32{0x10000, 0xE0000, 0x200000} {
		if mask&bits != 0 {
			r.skip(2)
		}
	}
}

// characterFormat reads a format of characters (MS-PPT, 2.9.13) and returns the number of the further format that it names.
func characterFormat(r *reader) int {
	const anyFlag = 0xFFFF
	mask := r.u32()
	further := 0
	if mask&anyFlag != 0 {
		further = r.u16() >> 10 & 0xF
	}
	for _, value := range []struct {
		bits uint32
		size int
	}{{1 << 16, 2}, {1 << 21, 2}, {1 << 22, 2}, {1 << 23, 2}, {1 << 17, 2}, {1 << 18, 4}, {1 << 19, 2}} {
		if mask&value.bits != 0 {
			r.skip(value.size)
		}
	}
	return further
}

// autoNumbers returns for each further format the number that a list begins with, 0 for those without numbers (MS-PPT, 2.9.67).
func (t *text) autoNumbers() (out []int) {
	const most = 16 // can be named
	r := &reader{t.numbers}
	for len(r.b) > 0 && len(out) < most {
		number := 0
		mask := r.u32()
		if mask&(1<<23) != 0 { // a picture as bullet
			r.skip(2)
		}
		if mask&(1<<25) != 0 && r.u16() != 0 {
			number = 1
		}
		if mask&(1<<24) != 0 {
			r.skip(2) // whether digits or letters
			if start := r.u16(); number > 0 && start > 0 {
				number = start
			}
		}
		out = append(out, number)
		if r.u32()&(1<<20) != 0 { // of characters
			r.skip(4)
		}
		mask = r.u32() // of languages and spelling
		for _, value := range []struct {
			bits uint32
			size int
		}{{1, 2}, {2, 2}, {4, 2}, {1 << 6, 2}, {1 << 5, 4}} {
			if mask&value.bits != 0 {
				r.skip(value.size)
			}
		}
		if mask&(1<<9) != 0 {
			r.skip(4 * int(min(r.u32(), 1<<20)))
		}
	}
	return out
}
