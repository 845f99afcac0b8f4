package pdf

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"quarry/internal/extract/pdf/syntax"
)

// maxRows is the largest number of rows of a page that is searched for columns.
const maxRows = 1500

// span is a horizontal interval of the page.
type span struct{ x0, x1 float32 }

// columns divides a page into regions that are read one after another. Each column of a run of rows that is set in
// columns is a region; the rows between such runs are read from left to right. Tables and forms remain rows, since their
// cells are too short to be columns of text.
func columns(rows []row, b *syntax.Budget) [][]row {
	var regions [][]row
	if len(rows) > maxRows {
		return [][]row{rows}
	}
	if left, right := spread(rows); left != nil {
		return append(columns(left, b), columns(right, b)...)
	}
	var plain []row
	flush := func() {
		if len(plain) > 0 {
			regions = append(regions, plain)
			plain = nil
		}
	}
	for i := 0; i < len(rows); {
		cols, n := run(rows[i:], b)
		if n == 0 {
			plain = append(plain, rows[i])
			i++
			continue
		}
		flush()
		regions = append(regions, cols...)
		i += n
	}
	flush()
	return regions
}

// spread returns the rows of two facing pages that are one page of the file: its text is wider than high, and nothing crosses
// the middle. Sides of a few lines are no pages.
func spread(rows []row) (left, right []row) {
	const fewest = 10
	if len(rows) < fewest {
		return nil, nil
	}
	x0, x1 := rows[0].x0, rows[0].x1
	for i := range rows {
		x0, x1 = min(x0, rows[i].x0), max(x1, rows[i].x1)
	}
	if x1-x0 < rows[0].y-rows[len(rows)-1].y {
		return nil, nil
	}
	middle := (x0 + x1) / 2
	gutter := medianSize(rows) // on each side of the middle
	halves := []span{{x0, middle - gutter}, {middle + gutter, x1}}
	for i := range rows {
		for _, s := range rows[i].segments {
			if s.x1 > halves[0].x1 && s.x0 < halves[1].x0 {
				return nil, nil
			}
		}
	}
	if sides := split(rows, halves); len(sides[0]) >= fewest && len(sides[1]) >= fewest {
		return sides[0], sides[1]
	}
	return nil, nil
}

// run returns the columns of the longest run of rows, from the first one on, that is set in columns, and the number of
// its rows, which is 0 if there is none. Columns are separated by gutters, vertical strips that no segment of the run
// covers.
func run(rows []row, b *syntax.Budget) ([][]row, int) {
	left, right := rows[0].x0, rows[0].x1
	for i := range rows {
		left, right = min(left, rows[i].x0), max(right, rows[i].x1)
	}
	gutter := 0.9 * medianSize(rows) // the least width
	var covered []span
	best, size := []span(nil), 0
	for i := range rows {
		if !b.Step() {
			return nil, 0
		}
		for _, s := range rows[i].segments {
			covered = union(covered, span{s.x0, s.x1}, gutter)
		}
		if len(covered) > 1 {
			best, size = slices.Clone(covered), i+1
		} else if covered[0].x1-covered[0].x0 > 0.55*(right-left) {
			break
		}
	}
	if size < 3 {
		return nil, 0
	}
	cols := split(rows[:size], best)
	for _, c := range cols {
		if !prose(c) {
			return nil, 0
		}
	}
	return cols, size
}

// medianSize returns the median font size of the rows.
func medianSize(rows []row) float32 {
	sizes := make([]float32, len(rows))
	for i := range rows {
		sizes[i] = rows[i].size
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}

// union adds s to disjoint spans in ascending order; spans closer than gutter are merged.
func union(all []span, s span, gutter float32) []span {
	out := all[:0:0]
	for _, o := range all {
		if o.x1+gutter < s.x0 || s.x1+gutter < o.x0 {
			out = append(out, o)
			continue
		}
		s = span{min(s.x0, o.x0), max(s.x1, o.x1)}
	}
	out = append(out, s)
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.x0, b.x0) })
	return out
}

// split returns the rows of each column.
func split(rows []row, spans []span) [][]row {
	cols := make([][]row, len(spans))
	for i := range rows {
		for c, at := range spans {
			var part row
			for _, s := range rows[i].segments {
				if s.x0 < at.x0-0.01 || s.x0 > at.x1 {
					continue
				}
				if len(part.segments) == 0 {
					part.x0, part.x1, part.y, part.size = s.x0, s.x1, s.y, s.size
				}
				part.segments = append(part.segments, s)
				part.x0, part.x1 = min(part.x0, s.x0), max(part.x1, s.x1)
				if s.size > part.size {
					part.size, part.y = s.size, s.y
				}
			}
			if len(part.segments) > 0 {
				cols[c] = append(cols[c], part)
			}
		}
	}
	return cols
}

// prose reports whether a column holds lines of text rather than cells: several lines, most of which fill it.
func prose(col []row) bool {
	if len(col) < 3 {
		return false
	}
	left, right := col[0].x0, col[0].x1
	for i := range col {
		left, right = min(left, col[i].x0), max(right, col[i].x1)
	}
	filled, letters := 0, 0
	for i := range col {
		if col[i].x1-col[i].x0 >= 0.7*(right-left) {
			filled++
		}
		for _, s := range col[i].segments {
			letters += utf8.RuneCountInString(s.text)
		}
	}
	return filled*2 >= len(col) && letters >= 16*len(col)
}
