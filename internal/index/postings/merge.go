package postings

import "bytes"

// Dropped is the new row of a row that a merge leaves out, and the new ordinal of a term without rows.
const Dropped = ^uint32(0)

// Source is a field that goes into a merge.
type Source struct {
	Field *Field
	Rows  []uint32 // row → new row, ascending but for Dropped; all new rows of a source lie behind the one's before it
}

// many is how many postings are merged between two pauses.
const many = 1 << 14

// Merge returns one field of several, and for each source the map from its ordinals to the new ones. The field has bounds
// where the length bytes of the new rows are given. pause is called again and again; its error ends the merge.
func Merge(sources []Source, lengths []byte, pause func() error) (*Field, [][]uint32, error) {
	b := Builder{Lengths: lengths}
	ordinals := make([][]uint32, len(sources))
	walks := make([]*Walk, len(sources))
	for i, s := range sources {
		ordinals[i] = make([]uint32, s.Field.Len())
		walks[i] = s.Field.from(0)
		if !walks[i].Next() {
			walks[i] = nil
		}
	}
	var list List
	var cursor Cursor
	var term []byte
	var holders []int
	for done := many; ; done += len(list.Rows) + 1 {
		if done >= many {
			if err := pause(); err != nil {
				return nil, nil, err
			}
			done = 0
		}
		holders = lowest(walks, holders[:0])
		if len(holders) == 0 {
			return b.Field(), ordinals, nil
		}
		term = append(term[:0], walks[holders[0]].Term...)
		list.reset()
		for _, i := range holders {
			cursor.Reset(sources[i].Field, walks[i].Ordinal)
			list.take(&cursor, &sources[i])
		}
		ordinal := Dropped
		if len(list.Rows) > 0 {
			ordinal = uint32(b.Add(term, &list))
		}
		for _, i := range holders {
			ordinals[i][walks[i].Ordinal] = ordinal
			if !walks[i].Next() {
				walks[i] = nil
			}
		}
	}
}

// lowest appends the walks that stand at the lowest term.
func lowest(walks []*Walk, out []int) []int {
	for i, w := range walks {
		if w == nil {
			continue
		}
		c := -1
		if len(out) > 0 {
			c = bytes.Compare(w.Term, walks[out[0]].Term)
		}
		if c < 0 {
			out = out[:0]
		}
		if c <= 0 {
			out = append(out, i)
		}
	}
	return out
}

// take appends the surviving postings of c.
func (l *List) take(c *Cursor, s *Source) {
	for c.Next() {
		freqs := c.Freqs()
		at := c.positions()
		for i, r := range c.Rows {
			to := s.Rows[r]
			if to == Dropped {
				at = c.skip(at, freqs[i])
				continue
			}
			l.Rows = append(l.Rows, to)
			l.Freqs = append(l.Freqs, freqs[i])
			if len(s.Field.Positions) > 0 {
				l.Positions, at = c.read(l.Positions, at, freqs[i])
			}
		}
	}
}
