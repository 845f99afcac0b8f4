package mask

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// block is how many bytes of a pattern are looked up at once: each has as many.
const block = Shortest

// finder finds many patterns in one pass over a text: a filter of few bits rules out nearly every place by its next eight bytes, and
// where it doesn't, the patterns that begin with them are compared. It is made in as many steps as the patterns have bytes.
type finder struct {
	filter  []uint64
	heads   map[uint64][]pattern // by the first bytes, the longest first
	sorted  []string
	longest int
	blank   bool // there are patterns with a blank, which a query writes as +
}

// filterBits is the size of the filter, as a power of two.
const filterBits = 18

func newFinder(all []pattern) *finder {
	f := &finder{filter: make([]uint64, 1<<filterBits/64), heads: map[uint64][]pattern{}}
	for _, p := range all {
		head := load(p.text)
		f.filter[slot(head)/64] |= 1 << (slot(head) % 64)
		f.heads[head] = append(f.heads[head], p)
		f.sorted = append(f.sorted, p.text)
		f.longest = max(f.longest, len(p.text))
		f.blank = f.blank || strings.Contains(p.text, " ")
	}
	slices.Sort(f.sorted)
	for _, same := range f.heads {
		slices.SortStableFunc(same, func(a, b pattern) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return f
}

// load returns the first bytes of s.
func load(s string) (head uint64) {
	for i := range block {
		head = head>>8 | uint64(s[i])<<56
	}
	return head
}

// slot returns where the filter has a head.
func slot(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> (64 - filterBits) }

// span is a part of a text.
type span struct{ from, to int }

// spans returns where patterns stand in s, escaped in whatever way, sorted and without overlaps. partly is whether the beginning of
// one is enough. The values whose patterns were found are added to found, if that is not nil.
func (f *finder) spans(s string, partly bool, found map[string]bool) (out []span) {
	f.views(view{text: s}, most, func(v *view) { out = f.scan(v, partly, found, out) })
	if len(out) < 2 {
		return out
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	merged := out[:1]
	for _, next := range out[1:] {
		if last := &merged[len(merged)-1]; next.from <= last.to {
			last.to = max(last.to, next.to)
			continue
		}
		merged = append(merged, next)
	}
	return merged
}

// replaced returns s with Masked in the place of spans.
func replaced(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, x := range spans {
		b.WriteString(s[at:x.from])
		b.WriteString(Masked)
		at = x.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// scan adds to out where patterns stand in a view, as places of the text that it is of.
func (f *finder) scan(v *view, partly bool, found map[string]bool, out []span) []span {
	s := v.text
	if len(s) < block {
		return out
	}
	head := load(s)
	for i := 0; ; i++ {
		if f.filter[slot(head)/64]&(1<<(slot(head)%64)) != 0 {
			from, to := i, i
			for _, p := range f.heads[head] {
				n := len(p.text)
				if partly {
					n = common(s[i:], p.text)
				} else if !strings.HasPrefix(s[i:], p.text) {
					continue
				}
				if to = max(to, i+n); p.base64 {
					from, to = around(s, i, to)
				}
				if found != nil {
					found[p.value] = true
				}
			}
			if to > i {
				out = append(out, span{v.source(from), v.source(to)})
			}
		}
		if i+block >= len(s) {
			return out
		}
		head = head>>8 | uint64(s[i+block])<<56
	}
}

// common returns how many bytes a and b begin with together, up to where a character begins.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n < len(a) && !utf8.RuneStart(a[n]) {
		n++
	}
	return n
}

// around returns a span with the characters of base64 beside it, which hold a part of the first and of the last byte.
func around(s string, from, to int) (int, int) {
	if from > 0 && isBase64(s[from-1]) {
		from--
	}
	if to < len(s) && isBase64(s[to]) {
		to++
	}
	return from, to
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_", c) >= 0
}

// tail returns where the end of s begins that may be the beginning of a pattern, len(s) if there is none.
func (f *finder) tail(s string) int {
	cut := unfinished(s)
	f.views(view{text: s[:cut]}, most, func(v *view) {
		text := v.text[:begun(v.text)]
		for i := max(0, len(text)-f.longest+1); i < len(text); i++ {
			if f.begins(text[i:]) {
				cut = min(cut, v.source(i))
				return
			}
		}
	})
	return cut
}

// begins reports whether a pattern begins with s.
func (f *finder) begins(s string) bool {
	i := sort.SearchStrings(f.sorted, s)
	return i < len(f.sorted) && strings.HasPrefix(f.sorted[i], s)
}
