package glossary

import (
	"container/heap"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"quarry/internal/text/analysis"
)

// Match is a term that a text has, and where it has it first.
type Match struct {
	Entry
	Start, End int // in bytes
}

// Find returns the terms that a text has, each once, in the order in which they stand there, at most so many. The longest terms are found
// first, and where one stands no other is found. Of terms that differ in case alone, or in width, it is the one that is written as the
// text has it, else the first by its bytes.
func (x *Index) Find(text string, most int) []Match {
	if len(x.keys) == 0 || most <= 0 {
		return nil
	}
	f := finder{Index: x, text: analysis.Scan(text)}
	f.taken = make([]bool, len(f.text.Text))
	for at := range f.text.Text {
		f.push(at, len(f.text.Text))
	}
	heap.Init(&f.found)
	for len(f.found) > 0 {
		f.take(f.found[0])
	}
	slices.SortFunc(f.kept, func(a, b candidate) int { return a.at - b.at })
	var out []Match
	seen := map[int]bool{}
	for _, c := range f.kept {
		from, _ := f.text.Begins(c.at)
		to, _ := f.text.Ends(c.at + c.size)
		which := x.written(c.key, text[from:to])
		if seen[which] {
			continue
		}
		if len(out) == most {
			break
		}
		seen[which] = true
		out = append(out, Match{x.entries[which], from, to})
	}
	return out
}

// written returns which of the entries of a key is written as a text has it, the first if none is.
func (x *Index) written(key int, as string) int {
	from, to := int(x.first[key]), int(x.first[key+1])
	if to-from == 1 {
		return from
	}
	as = strings.Join(strings.Fields(as), " ")
	for i := from; i < to; i++ {
		if strings.Join(strings.Fields(x.entries[i].Term), " ") == as {
			return i
		}
	}
	return from
}

// candidate is a key that a text has at a place.
type candidate struct {
	at, size int // in the surface
	runes    int // the length by which the longest is known
	key      int
}

// finder finds terms in one text.
type finder struct {
	*Index
	text  analysis.Surface
	taken []bool     // for each byte of the surface, whether a term stands there
	found candidates // the longest ones of each place, that are still to be decided
	kept  []candidate
}

// push adds the longest key that begins at a place and ends before another, if there is one.
func (f *finder) push(at, end int) bool {
	if _, ok := f.text.Begins(at); !ok {
		return false
	}
	key := f.longest(at, end)
	if key < 0 {
		return false
	}
	size := len(f.keys[key])
	f.found = append(f.found, candidate{at, size, utf8.RuneCountInString(f.keys[key]), key})
	return true
}

// longest returns the longest key that stands at a place and ends with a word, before another place; -1 if none does. Every key that rest
// begins with is the last key that doesn't follow rest, or one that this key begins with.
func (f *finder) longest(at, end int) int {
	rest := f.text.Text[at:end]
	r, _ := utf8.DecodeRuneInString(rest)
	s, ok := f.spans[r]
	if !ok {
		return -1
	}
	keys := f.keys[s.from:s.to]
	i := s.from + sort.Search(len(keys), func(i int) bool { return keys[i] > rest }) - 1
	if i < s.from {
		return -1
	}
	same := common(f.keys[i], rest)
	for ; i >= 0; i = int(f.up[i]) {
		if n := len(f.keys[i]); n <= same {
			if _, ok := f.text.Ends(at + n); ok {
				return i
			}
		}
	}
	return -1
}

// common returns how many bytes two texts begin with alike.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// take decides the first of the candidates: it is kept, or makes room for what stands there, or is dropped.
func (f *finder) take(c candidate) {
	heap.Pop(&f.found)
	room := slices.Index(f.taken[c.at:c.at+c.size], true)
	switch {
	case room < 0:
		f.kept = append(f.kept, c)
		for i := range c.size {
			f.taken[c.at+i] = true
		}
	case room > 0:
		if f.push(c.at, c.at+room) {
			heap.Fix(&f.found, len(f.found)-1)
		}
	}
}

// candidates are a heap, the longest one first, of several the first in the text.
type candidates []candidate

// Len implements heap.Interface.
func (c candidates) Len() int { return len(c) }

// Less implements heap.Interface.
func (c candidates) Less(i, j int) bool {
	if c[i].runes != c[j].runes {
		return c[i].runes > c[j].runes
	}
	return c[i].at < c[j].at
}

// Swap implements heap.Interface.
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push implements heap.Interface.
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

// Pop implements heap.Interface.
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
