// Package glossary finds the terms of a glossary in texts: whole words of any number, in whatever case and width.
//
// Text and terms are compared by their surface (text/analysis), so what a word is follows from the analysis of lexical search; nothing is
// stemmed. A term may have marks of punctuation, which then have to stand in the text as they do in the term.
//
// A glossary is a sorted list of surfaces. It is never changed: a change makes another one, which shares the texts of the first.
package glossary

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/text/analysis"
)

// Entry is a term and what it stands for.
type Entry struct{ Term, Expansion string }

// Findable reports whether a term has anything that can be found in a text.
func Findable(term string) bool { return analysis.Whole(term) != "" }

// Index is the terms of a glossary, ready to be found. Its zero value has none. Safe for concurrent use.
type Index struct {
	keys    []string      // surfaces of the terms, each once, in order
	up      []int32       // for each key, the longest other key that it begins with; -1 for none
	first   []int32       // for each key, its first entry; one element more, for the end
	entries []Entry       // by key, then by term
	spans   map[rune]span // the keys that begin with a character
}

// span is a part of a list.
type span struct{ from, to int }

// keyed is an entry with its key.
type keyed struct {
	key string
	Entry
}

func (k *keyed) compare(o *keyed) int {
	return cmp.Or(strings.Compare(k.key, o.key), strings.Compare(k.Term, o.Term))
}

// With returns an index that also has some entries, in the place of those of the same terms. x stays as it is.
func (x *Index) With(entries []Entry) *Index {
	more := make([]keyed, 0, len(entries))
	for _, e := range entries {
		if key := analysis.Whole(e.Term); key != "" {
			more = append(more, keyed{key, e})
		}
	}
	slices.SortStableFunc(more, func(a, b keyed) int { return a.compare(&b) })
	b := builder{out: Index{
		keys: make([]string, 0, len(x.keys)+len(more)), first: make([]int32, 0, len(x.keys)+len(more)+1),
		entries: make([]Entry, 0, len(x.entries)+len(more)),
	}}
	for i, key := range x.keys {
		for _, e := range x.entries[x.first[i]:x.first[i+1]] {
			was := keyed{key, e}
			for len(more) > 0 && more[0].compare(&was) < 0 {
				more = b.add(more)
			}
			if len(more) > 0 && more[0].compare(&was) == 0 {
				more = b.add(more)
				continue
			}
			b.put(&was)
		}
	}
	for len(more) > 0 {
		more = b.add(more)
	}
	return b.done()
}

// Len returns how many entries there are.
func (x *Index) Len() int { return len(x.entries) }

// What a key and an entry take beside their texts, in bytes.
const (
	keyBytes   = 16 + 4 + 4
	entryBytes = 2 * 16
)

// Size returns about how much memory the index takes, in bytes.
func (x *Index) Size() int64 {
	n := int64(len(x.keys))*keyBytes + int64(len(x.entries))*entryBytes
	for _, key := range x.keys {
		n += int64(len(key))
	}
	for i := range x.entries {
		n += int64(len(x.entries[i].Term) + len(x.entries[i].Expansion))
	}
	return n
}

// builder is an index whose entries come in order.
type builder struct{ out Index }

// add adds the first of some entries and returns the rest; of several of one term the last counts.
func (b *builder) add(more []keyed) []keyed {
	for len(more) > 1 && more[0].compare(&more[1]) == 0 {
		more = more[1:]
	}
	b.put(&more[0])
	return more[1:]
}

func (b *builder) put(k *keyed) {
	o := &b.out
	if n := len(o.keys); n == 0 || o.keys[n-1] != k.key {
		o.keys, o.first = append(o.keys, k.key), append(o.first, int32(len(o.entries)))
	}
	o.entries = append(o.entries, k.Entry)
}

// done returns the index with what is looked up in it.
func (b *builder) done() *Index {
	o := &b.out
	o.first = append(o.first, int32(len(o.entries)))
	o.up, o.spans = make([]int32, len(o.keys)), map[rune]span{}
	from, begins := 0, rune(-1) // the keys that begin as the last one
	for i, key := range o.keys {
		o.up[i] = int32(i) - 1
		for o.up[i] >= 0 && !strings.HasPrefix(key, o.keys[o.up[i]]) {
			o.up[i] = o.up[o.up[i]]
		}
		if r, _ := utf8.DecodeRuneInString(key); r != begins {
			o.spans[begins] = span{from, i}
			from, begins = i, r
		}
	}
	o.spans[begins] = span{from, len(o.keys)}
	return o
}
