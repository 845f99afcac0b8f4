package lexical

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"quarry/internal/index/postings"
	"quarry/internal/index/rowset"
)

// phrase returns, per segment, the live rows in which words stand one behind the other, and how often.
func (c *Corpus) phrase(words []string) []list {
	lists := make([]list, len(c.Segments))
	for i := range c.Segments {
		lists[i] = c.Segments[i].phrase(words)
	}
	return lists
}

func (s *Segment) phrase(words []string) list {
	if n := len(words) - 1; n >= 0 && strings.HasSuffix(words[n], Beginning) {
		return s.openPhrase(words[:n], strings.TrimSuffix(words[n], Beginning))
	}
	return s.closedPhrase(words)
}

// Beginning, at the end of the last word of a phrase, stands for every word that begins so.
const Beginning = "*"

// openPhrase returns the sum of the lists of the phrases that end in any of the first maxExpansion words of a prefix.
func (s *Segment) openPhrase(words []string, prefix string) list {
	freqs, n := map[uint32]uint32{}, 0
	for w := s.Words.Prefix(prefix); w.Next() && n < maxExpansion; n++ {
		l := s.closedPhrase(append(words[:len(words):len(words)], string(w.Term)))
		for i, row := range l.rows {
			freqs[row] += l.freqs[i]
		}
	}
	out := list{stem: -1, rows: slices.Sorted(maps.Keys(freqs))}
	for _, row := range out.rows {
		out.freqs = append(out.freqs, freqs[row])
	}
	return out
}

// closedPhrase intersects the lists of all words, from the rarest one, and then their positions.
func (s *Segment) closedPhrase(words []string) list {
	out := list{stem: -1}
	if len(words) == 0 {
		return out
	}
	terms := make([]int, len(words))
	rarest := 0
	for i, w := range words {
		t, ok := s.Words.Find(w)
		if !ok {
			return out
		}
		terms[i] = t
		if s.Words.DF(t) < s.Words.DF(terms[rarest]) {
			rarest = i
		}
	}
	cursors := make([]postings.Cursor, len(words))
	for i, t := range terms {
		cursors[i].Reset(s.Words, t)
	}
	places := make([]int, len(words))
	var starts, next []uint32
	for cursors[rarest].Next() {
		for p, row := range cursors[rarest].Rows {
			places[rarest] = p
			if !rowset.Has(s.Live, int(row)) || !together(cursors, places, rarest, row) {
				continue
			}
			starts = cursors[0].Positions(starts[:0], places[0])
			for i := 1; i < len(words) && len(starts) > 0; i++ {
				next = cursors[i].Positions(next[:0], places[i])
				starts = behind(starts, next, uint32(i))
			}
			if len(starts) > 0 {
				out.rows, out.freqs = append(out.rows, row), append(out.freqs, uint32(len(starts)))
			}
		}
	}
	return out
}

// together moves the other cursors to row and reports whether all have it.
func together(cursors []postings.Cursor, places []int, rarest int, row uint32) bool {
	for i := range cursors {
		if i == rarest {
			continue
		}
		p, ok := cursors[i].Seek(row)
		if !ok {
			return false
		}
		places[i] = p
	}
	return true
}

// behind returns the starts that have a position offset further on; both ascend.
func behind(starts, positions []uint32, offset uint32) []uint32 {
	kept, j := starts[:0], 0
	for _, s := range starts {
		for j < len(positions) && positions[j] < s+offset {
			j++
		}
		if j < len(positions) && positions[j] == s+offset {
			kept = append(kept, s)
		}
	}
	return kept
}

// maxExpansion is the number of words that a prefix may stand for; the most frequent ones are taken. Without
// a bound one letter would cost as much as the whole dictionary.
const maxExpansion = 1024

// prefix returns, per segment, the live rows that have a word of the prefix, and how many.
func (c *Corpus) prefix(prefix string) []list {
	chosen := c.mostFrequent(prefix)
	lists := make([]list, len(c.Segments))
	for i := range c.Segments {
		lists[i] = c.Segments[i].prefix(prefix, chosen)
	}
	return lists
}

// prefix returns the sum of the lists of the chosen words of the prefix, of all when chosen is nil.
func (s *Segment) prefix(prefix string, chosen map[string]bool) list {
	out := list{stem: -1}
	var counts []uint32
	var set []uint64
	for w := s.Words.Prefix(prefix); w.Next(); {
		if chosen != nil && !chosen[string(w.Term)] {
			continue
		}
		if counts == nil {
			counts, set = make([]uint32, s.Rows), make([]uint64, rowset.Words(s.Rows))
		}
		eachPosting(s.Words, w.Ordinal, func(row, freq uint32) {
			counts[row] += freq
			set[row>>6] |= 1 << (row & 63)
		})
	}
	for i, b := range set {
		if s.Live != nil {
			b &= s.Live[i]
		}
		for ; b != 0; b &= b - 1 {
			row := uint32(i<<6 + bits.TrailingZeros64(b))
			out.rows, out.freqs = append(out.rows, row), append(out.freqs, counts[row])
		}
	}
	return out
}

// mostFrequent returns the words that a prefix with more than maxExpansion words stands for: those in the most live
// rows, then by their bytes. nil = all.
func (c *Corpus) mostFrequent(prefix string) map[string]bool {
	if !c.mayExceed(prefix) {
		return nil
	}
	df := map[string]int{}
	for i := range c.Segments {
		s := &c.Segments[i]
		for w := s.Words.Prefix(prefix); w.Next(); {
			df[string(w.Term)] += s.liveWords(w.Ordinal)
		}
	}
	names := make([]string, 0, len(df))
	for name, n := range df {
		if n > 0 {
			names = append(names, name)
		}
	}
	if len(names) <= maxExpansion {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(df[b], df[a]), cmp.Compare(a, b)) })
	chosen := map[string]bool{}
	for _, name := range names[:maxExpansion] {
		chosen[name] = true
	}
	return chosen
}

// mayExceed reports whether a prefix might stand for more than maxExpansion words.
func (c *Corpus) mayExceed(prefix string) bool {
	n := 0
	for i := range c.Segments {
		s := &c.Segments[i]
		for w := s.Words.Prefix(prefix); w.Next() && n <= maxExpansion; {
			n++
		}
	}
	return n > maxExpansion
}

// liveWords returns the number of live rows with a word.
func (s *Segment) liveWords(word int) int {
	if s.Live == nil {
		return s.Words.DF(word)
	}
	n := 0
	eachPosting(s.Words, word, func(row, _ uint32) {
		if rowset.Has(s.Live, int(row)) {
			n++
		}
	})
	return n
}

// EachWith calls drop for every row of the segment whose text has one of the words, or a word with one of the prefixes,
// once for each.
func (s *Segment) EachWith(words, prefixes []string, drop func(row int)) {
	each := func(row, _ uint32) { drop(int(row)) }
	for _, w := range words {
		if term, ok := s.Words.Find(w); ok {
			eachPosting(s.Words, term, each)
		}
	}
	for _, p := range prefixes {
		for w := s.Words.Prefix(p); w.Next(); {
			eachPosting(s.Words, w.Ordinal, each)
		}
	}
}

// EachWithPhrase calls drop for every live row of the segment in which words stand one behind the other.
func (s *Segment) EachWithPhrase(words []string, drop func(row int)) {
	for _, row := range s.phrase(words).rows {
		drop(int(row))
	}
}
