package column

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"

	"quarry/internal/expr/filter"
)

// summary is what follows from a column and makes conditions cheaper: for every value that at least common rows have, the
// set of these rows, and for numbers the least and the greatest rank of every zone. A row is an entry of the column: a
// document or a part. A nil summary knows nothing.
type summary struct {
	raw    []byte // all of it, encoded
	n      int    // rows
	keys   []byte // ranks of the values that have a set, ascending, 8 bytes each
	counts []byte // rows in each set, 4 bytes each
	ends   []byte // of each set in sets, 8 bytes each
	zones  []byte // least and greatest rank, 8 bytes each; the least is above the greatest where no row has a value
	rest   []byte // bits of the rows that have a value without a set; nil for none
	rare   int    // rows in rest
	sets   []byte
}

const (
	common    = 64   // rows of a value that has a set
	zoneRows  = 1024 // rows of a zone
	zoneBytes = 16
	// plainShare is the share of the rows from which on a set is stored as bits. Below, it is the gaps between its rows as
	// varints: of a set that thin they take less, and become bits nearly as fast.
	plainShare = 50
	// summaryHead is kind, zeros, rows, keys, zones, rows in rest, zeros, bytes of the sets.
	summaryHead = 32
)

// plain reports whether a set of so many rows is stored as bits.
func (s *summary) plain(count int) bool { return count >= s.n/plainShare }

// Summarised returns c with the summary that Summary encoded. It checks sizes alone, as Open does.
func (c *Column) Summarised(b []byte) (*Column, error) {
	bad := errors.New("open summary: sizes do not fit")
	if len(b) < summaryHead || b[0] != byte(c.kind) || int(u32(b, 4)) != c.n {
		return nil, bad
	}
	s := &summary{raw: b, n: c.n, rare: int(u32(b, 16))}
	keys, zones, sets := int(u32(b, 8)), int(u32(b, 12)), binary.LittleEndian.Uint64(b[24:])
	b = b[summaryHead:]
	fixed := 20*keys + zoneBytes*zones
	if s.rare > 0 {
		fixed += words8(c.n)
	}
	if fixed > len(b) || uint64(len(b)-fixed) != sets || zones != 0 && zones != (c.n+zoneRows-1)/zoneRows {
		return nil, bad
	}
	take := func(n int) (part []byte) {
		part, b = b[:n:n], b[n:]
		return part
	}
	s.keys, s.counts, s.ends, s.zones = take(8*keys), take(4*keys), take(8*keys), take(zoneBytes*zones)
	if s.rare > 0 {
		s.rest = take(words8(c.n))
	}
	s.sets = b
	for k, from := 0, uint64(0); k < keys; k++ {
		to := s.end(k)
		if to < from || to > sets || s.plain(s.count(k)) && to-from != uint64(words8(c.n)) {
			return nil, bad
		}
		from = to
	}
	out := *c
	out.summary = s
	return &out, nil
}

func (s *summary) key(k int) int64  { return int64(binary.LittleEndian.Uint64(s.keys[8*k:])) }
func (s *summary) count(k int) int  { return int(u32(s.counts, 4*k)) }
func (s *summary) end(k int) uint64 { return binary.LittleEndian.Uint64(s.ends[8*k:]) }

// of returns the keys in sp, from the first to behind the last.
func (s *summary) of(sp span) (from, to int) {
	n := len(s.keys) / 8
	from = sort.Search(n, func(k int) bool { return s.key(k) >= sp.lo })
	return from, from + sort.Search(n-from, func(k int) bool { return s.key(from+k) > sp.hi })
}

// known adds the rows of the one value in sp if there is a set of it; then no other row has the value.
func (s *summary) known(sp span, out []uint64) bool {
	if s == nil {
		return false
	}
	from, to := s.of(sp)
	if from == to {
		return false
	}
	s.addSet(from, out)
	return true
}

// add adds the rows of all sets of values in sp.
func (s *summary) add(sp span, out []uint64) {
	if s == nil {
		return
	}
	for k, to := s.of(sp); k < to; k++ {
		s.addSet(k, out)
	}
}

// rowCost is how many rows a scan looks at in about the time that one row takes that stands alone, in a set or in the rest.
const rowCost = 3

// cost returns about how long it takes to add the sets of values in sp and to look at the rest, in rows that a scan looks at.
func (s *summary) cost(sp span) int {
	cost := min(rowCost*s.rare, s.n)
	for k, to := s.of(sp); k < to; k++ {
		if n := s.count(k); s.plain(n) {
			cost += s.n / 64
		} else {
			cost += rowCost * n
		}
	}
	return cost
}

// addSet adds the rows of a set. Of a damaged one, which its checksum would have shown, it adds those that exist.
func (s *summary) addSet(k int, out []uint64) {
	from := uint64(0)
	if k > 0 {
		from = s.end(k - 1)
	}
	set := s.sets[from:s.end(k)]
	if s.plain(s.count(k)) {
		for i := range out {
			out[i] |= word(set, i)
		}
		return
	}
	for row := uint64(0); len(set) > 0; row++ {
		gap, n := uint64(set[0]), 1
		if gap >= 0x80 {
			gap, n = binary.Uvarint(set)
		}
		if n <= 0 || gap >= uint64(s.n)-row {
			return
		}
		row += gap
		set = set[n:]
		out[row>>6] |= 1 << (row & 63)
	}
}

func (s *summary) zone(z int) span {
	b := s.zones[zoneBytes*z:]
	return span{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))}
}

// meets reports whether two spans have a rank in common.
func (s span) meets(o span) bool { return !s.empty() && s.lo <= o.hi && o.lo <= s.hi }

// inside reports whether all of s is in o, and that is something.
func (s span) inside(o span) bool { return !s.empty() && o.lo <= s.lo && s.hi <= o.hi }

// Summary returns the encoded summary of c, for Summarised; nil where there is nothing to summarise: booleans are
// bits already, and few rows are looked at as fast.
func (c *Column) Summary() []byte {
	if c.summary != nil {
		return c.summary.raw
	}
	if c.kind == filter.Boolean || c.n < common {
		return nil
	}
	keys := c.commonRanks()
	rows, rest, rare := c.rowsOf(keys)
	s := &summary{n: c.n}
	var counts, ends, sets []byte
	for _, r := range rows {
		counts = binary.LittleEndian.AppendUint32(counts, uint32(len(r)))
		sets = s.appendSet(sets, r)
		ends = binary.LittleEndian.AppendUint64(ends, uint64(len(sets)))
	}
	zones := c.zones()
	out := make([]byte, summaryHead, summaryHead+20*len(keys)+len(zones)+len(rest)+len(sets))
	out[0] = byte(c.kind)
	for at, n := range map[int]int{4: c.n, 8: len(keys), 12: len(zones) / zoneBytes, 16: rare} {
		binary.LittleEndian.PutUint32(out[at:], uint32(n))
	}
	binary.LittleEndian.PutUint64(out[24:], uint64(len(sets)))
	for _, k := range keys {
		out = binary.LittleEndian.AppendUint64(out, uint64(k))
	}
	if rare == 0 {
		rest = nil
	}
	return slices.Concat(out, counts, ends, zones, rest, sets)
}

// elements returns the elements of a row, from the first to behind the last; none where it has no value.
func (c *Column) elements(row int) (from, to int) {
	switch {
	case !bit(c.present, row):
		return 0, 0
	case c.kind.IsList():
		return int(u32(c.offsets, 4*row)), int(u32(c.offsets, 4*row+4))
	}
	return row, row + 1
}

// commonRanks returns the ranks that at least common elements have, ascending.
func (c *Column) commonRanks() (keys []int64) {
	var all []int64
	for row := range c.n {
		for e, to := c.elements(row); e < to; e++ {
			all = append(all, c.rank(e))
		}
	}
	slices.Sort(all)
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to] == all[from] {
			to++
		}
		if to-from >= common {
			keys = append(keys, all[from])
		}
		from = to
	}
	return keys
}

// rowsOf returns the rows with each of some ranks, ascending, and as bits those that have another one, with their number.
func (c *Column) rowsOf(keys []int64) (rows [][]uint32, rest []byte, rare int) {
	rows, rest = make([][]uint32, len(keys)), make([]byte, words8(c.n))
	for row := range c.n {
		other := false
		for e, to := c.elements(row); e < to; e++ {
			k, found := slices.BinarySearch(keys, c.rank(e))
			if !found {
				other = true
			} else if r := rows[k]; len(r) == 0 || r[len(r)-1] != uint32(row) {
				rows[k] = append(r, uint32(row))
			}
		}
		if other {
			rest[row>>3] |= 1 << (row & 7)
			rare++
		}
	}
	return rows, rest, rare
}

// appendSet appends rows, as bits or as the gaps before each.
func (s *summary) appendSet(dst []byte, rows []uint32) []byte {
	if s.plain(len(rows)) {
		at := len(dst)
		dst = append(dst, make([]byte, words8(s.n))...)
		for _, r := range rows {
			dst[at+int(r>>3)] |= 1 << (r & 7)
		}
		return dst
	}
	next := uint32(0)
	for _, r := range rows {
		dst = binary.AppendUvarint(dst, uint64(r-next))
		next = r + 1
	}
	return dst
}

// zones returns the least and the greatest rank of every zone; nothing for texts and lists.
func (c *Column) zones() (out []byte) {
	if c.kind != filter.Integer && c.kind != filter.RealNumber {
		return nil
	}
	for from := 0; from < c.n; from += zoneRows {
		zone := span{math.MaxInt64, math.MinInt64}
		for row := from; row < min(from+zoneRows, c.n); row++ {
			if bit(c.present, row) {
				zone = span{min(zone.lo, c.rank(row)), max(zone.hi, c.rank(row))}
			}
		}
		out = binary.LittleEndian.AppendUint64(out, uint64(zone.lo))
		out = binary.LittleEndian.AppendUint64(out, uint64(zone.hi))
	}
	return out
}
