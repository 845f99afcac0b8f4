package lexical

import (
	"math/bits"
	"slices"

	"quarry/internal/index/postings"
	"quarry/internal/index/rowset"
)

// windowRows is the number of rows that are scored together; their sums stay in the first-level cache.
const windowRows = 4096

// slack is what a bound is raised by before it is held against the floor, for the rounding of the sums on both sides,
// which is smaller by several orders of magnitude for any query.
const slack = 1 + 1e-9

// window sums the scores of a run of rows, list by list.
type window struct {
	s       *Scorer
	segment int
	norms   []byte
	walks   []walk  // in the order of the query
	rising  []int   // walks by their best, the lowest first
	left    []int   // of those, the walks whose lists are not read for this window
	rest    float64 // what those add to a row at most
	read    int     // postings, since start

	// The run that is searched, the rows in it that may be found, and the floor at its beginning.
	from, end uint32
	allow     []uint64
	floor     float64

	sums [windowRows]float64
	set  [windowRows / 64]uint64
}

// walk is a position in the list of one term.
type walk struct {
	weight float64
	best   float64 // nothing in the window adds more to a row

	// The list of a stem.
	field  *postings.Field // nil for the list of a phrase or prefix
	cursor postings.Cursor
	block  int // the first block that reaches into the window
	within int // number of the blocks that do; 0 where it is one and reaches beyond
	end    int
	bound  float64 // of block known
	known  int

	// The list of a phrase or prefix.
	rows  []uint32 // from the window on
	freqs []uint32
}

// start turns to a segment and returns the most that a row of it can score.
func (w *window) start(s *Scorer, segment int) (most float64) {
	sg := &s.c.Segments[segment]
	w.s, w.segment, w.norms = s, segment, sg.Norms
	w.walks, w.rising, w.read = w.walks[:0], w.rising[:0], 0
	for _, t := range s.terms {
		l := t.lists[segment]
		k := walk{weight: t.weight, rows: l.rows, freqs: l.freqs}
		if l.stem >= 0 {
			k.field = sg.Stems
			k.cursor.Reset(sg.Stems, l.stem)
			k.block, k.end = sg.Stems.Blocks(l.stem)
			k.known = -1
			most += k.weight * s.highest(sg.Stems.ListBound(l.stem))
		} else if len(k.rows) > 0 {
			most += k.weight * (k1 + 1)
		}
		if k.block < k.end || len(k.rows) > 0 {
			w.rising = append(w.rising, len(w.walks))
			w.walks = append(w.walks, k)
		}
	}
	return most
}

// unpacked returns how many blocks of postings were unpacked since start. A block in which two windows meet may be
// unpacked for each, and counts once.
func (w *window) unpacked() int {
	n := 0
	for i := range w.walks {
		if k := &w.walks[i]; k.field != nil {
			n += k.cursor.Unpacked
		}
	}
	return n
}

// search offers the rows from … end-1 that reach the floor, and returns the floor.
func (w *window) search(from, end uint32, allow []uint64, floor float64, offer func(row int, score float64) float64) float64 {
	w.from, w.end, w.allow, w.floor = from, end, allow, floor
	total := 0.0
	for i := range w.walks {
		k := &w.walks[i]
		k.enter(w.s, from, end)
		total += k.best
	}
	if total == 0 || total*slack < floor {
		return floor
	}
	w.leave()
	for i := range w.walks {
		if k := &w.walks[i]; k.best > 0 && !slices.Contains(w.left, i) {
			w.take(k, total-k.best)
		}
	}
	if w.rest > 0 {
		w.complete()
	}
	return w.collect(offer)
}

// leave chooses the lists that no row is taken from: as many, of those with the lowest best, as together don't reach the
// floor.
func (w *window) leave() {
	slices.SortFunc(w.rising, func(a, b int) int {
		switch x, y := w.walks[a].best, w.walks[b].best; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return a - b
	})
	n := 0
	w.rest = 0
	for ; n < len(w.rising); n++ {
		sum := w.rest + w.walks[w.rising[n]].best
		if !(sum*slack < w.floor) {
			break
		}
		w.rest = sum
	}
	w.left = w.rising[:n]
}

// enter moves to the first block that reaches into the window from … end-1 and finds the best that the list has there.
func (k *walk) enter(s *Scorer, from, end uint32) {
	k.best, k.within = 0, 0
	if k.field == nil {
		n, _ := slices.BinarySearch(k.rows, from)
		k.rows, k.freqs = k.rows[n:], k.freqs[n:]
		if len(k.rows) > 0 && k.rows[0] < end {
			k.best = k.weight * (k1 + 1)
		}
		return
	}
	for k.block < k.end && k.field.LastRow(k.block) < from {
		k.block++
	}
	if k.block == k.end {
		return
	}
	if k.field.LastRow(k.block) >= end {
		// The list is thin here: its rows say more than their bound.
		k.cursor.Block(k.block)
		n, _ := slices.BinarySearch(k.cursor.Rows, from)
		if k.cursor.Rows[n] < end {
			k.best = k.blockBound(s, k.block)
		}
		return
	}
	for b := k.block; b < k.end; b++ {
		k.best = max(k.best, k.blockBound(s, b))
		k.within++
		if k.field.LastRow(b) >= end-1 {
			break
		}
	}
}

// blockBound returns what a posting of a block adds to a row at most.
func (k *walk) blockBound(s *Scorer, block int) float64 {
	if block != k.known {
		k.known, k.bound = block, k.weight*s.highest(k.field.BlockBound(block))
	}
	return k.bound
}

// highest returns the most that a posting of a bound adds to the score of a row, for a term of weight 1.
func (s *Scorer) highest(b postings.Bound) float64 {
	best := 0.0
	for _, p := range b {
		switch {
		case p.Freq == postings.Unbounded:
			return k1 + 1
		case p.Freq > 0:
			best = max(best, s.share(uint32(p.Freq), p.Length))
		}
	}
	return best
}

// take adds the postings of a list in the window but for blocks that cannot lift a row to the floor with all that others
// add to it.
func (w *window) take(k *walk, others float64) {
	if k.field == nil {
		n, _ := slices.BinarySearch(k.rows, w.end)
		w.add(k.rows[:n], k.freqs[:n], k.weight)
		return
	}
	for b := k.block; b < k.end; b++ {
		if !((k.blockBound(w.s, b)+others)*slack < w.floor) {
			rows, at := k.postings(b, w.from, w.end)
			if len(rows) > 0 {
				w.add(rows, k.cursor.Freqs()[at:], k.weight)
			}
		}
		if k.field.LastRow(b) >= w.end-1 {
			return
		}
	}
}

// postings moves to a block and returns its rows from … end-1, of which the first stands at place at of the block.
func (k *walk) postings(block int, from, end uint32) (rows []uint32, at int) {
	k.cursor.Block(block)
	rows = k.cursor.Rows
	if last := rows[len(rows)-1]; last >= end {
		to, _ := slices.BinarySearch(rows, end)
		rows = rows[:to]
	}
	if len(rows) > 0 && rows[0] < from {
		at, _ = slices.BinarySearch(rows, from)
	}
	return rows[at:], at
}

func (w *window) add(rows, freqs []uint32, weight float64) {
	w.read += len(rows)
	freqs = freqs[:len(rows)]
	for i, row := range rows {
		o := (row - w.from) & (windowRows - 1)
		w.sums[o] += float64(weight * w.s.share(freqs[i], w.norms[row]))
		w.set[o>>6] |= 1 << (o & 63)
	}
}

// complete adds to the rows that are there what they have of the lists that were left, the best first, and drops rows
// that what may still come doesn't lift to the floor, wherever looking at them costs less than reading on.
func (w *window) complete() {
	rows := w.narrow()
	for n := len(w.left) - 1; n >= 0; n-- {
		k := &w.walks[w.left[n]]
		if k.best == 0 {
			return
		}
		if k.within*postings.BlockSize > rows {
			rows = w.narrow()
		}
		if rows == 0 {
			return
		}
		if k.field == nil {
			end, _ := slices.BinarySearch(k.rows, w.end)
			w.addTo(k.rows[:end], k.freqs[:end], k.weight)
		} else {
			w.completeFrom(k)
		}
		w.rest = max(0, w.rest-k.best)
	}
}

// completeFrom adds to the rows that are there what they have of one list.
func (w *window) completeFrom(k *walk) {
	first := w.from
	for b := k.block; b < k.end && first < w.end; b++ {
		last := min(k.field.LastRow(b), w.end-1)
		if rowset.Any(w.set[:], int(first-w.from), int(last-w.from)+1) {
			if rows, at := k.postings(b, w.from, w.end); len(rows) > 0 {
				w.addTo(rows, k.cursor.Freqs()[at:], k.weight)
			}
		}
		first = last + 1
	}
}

// addTo adds postings to those of their rows that are there.
func (w *window) addTo(rows, freqs []uint32, weight float64) {
	w.read += len(rows)
	freqs = freqs[:len(rows)]
	for i, row := range rows {
		o := (row - w.from) & (windowRows - 1)
		if w.set[o>>6]>>(o&63)&1 == 1 {
			w.sums[o] += float64(weight * w.s.share(freqs[i], w.norms[row]))
		}
	}
}

// narrow drops the rows that are not allowed or cannot reach the floor any more, and returns how many are left.
func (w *window) narrow() int {
	for i, set := range w.set {
		for b := set; b != 0; b &= b - 1 {
			o := uint32(i<<6 + bits.TrailingZeros64(b))
			if (w.sums[o]+w.rest)*slack < w.floor || !rowset.Has(w.allow, int(w.from+o)) {
				w.sums[o] = 0
				w.set[i] &^= b & -b
			}
		}
	}
	return rowset.Count(w.set[:])
}

// collect offers the rows that are there, clears them and returns the floor. Where no list was left a sum that reaches the floor
// is the score: all lists were added in the order of the query, and no row of a block that was not gets there.
func (w *window) collect(offer func(row int, score float64) float64) float64 {
	floor, ordered := w.floor, len(w.left) == 0 || w.walks[w.left[len(w.left)-1]].best == 0
	for i, set := range w.set {
		w.set[i] = 0
		for b := set; b != 0; b &= b - 1 {
			o := uint32(i<<6 + bits.TrailingZeros64(b))
			score, row := w.sums[o], int(w.from+o)
			w.sums[o] = 0
			if score*slack < floor || !rowset.Has(w.allow, row) {
				continue
			}
			if !ordered {
				score = w.s.Score(w.segment, row)
			}
			if score >= floor {
				floor = offer(row, score)
			}
		}
	}
	return floor
}
