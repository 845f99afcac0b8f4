package rows

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"quarry/internal/index/layer"
	"quarry/internal/index/rowset"
	"quarry/internal/index/segment"
)

// View is a segment with its values and what is deleted in it.
type View struct {
	*Segment
	Values   *layer.Set // nil while the attributes are of a version that is not known
	Live     []uint64   // one bit per row; nil = all
	LiveRows int
	LiveDocs int
	Length   int64    // sum of the lengths of live rows
	Dead     []uint32 // per stem: rows that are deleted; nil = none
}

// NewView returns a view in which all of s is live.
func NewView(s *Segment) View {
	v := View{Segment: s, Values: s.Values, LiveRows: s.Rows, LiveDocs: s.Docs}
	for i := range s.Rows {
		v.Length += int64(le32(s.length, i))
	}
	return v
}

// IsLive reports whether a row is not deleted.
func (v *View) IsLive(row int) bool { return rowset.Has(v.Live, row) }

// Has reports whether the document with a number is live, and which it is.
func (v *View) Has(no int64) (d int, ok bool) {
	if d, ok = v.Find(no); !ok {
		return 0, false
	}
	from, _ := v.Run(d)
	return d, v.IsLive(from)
}

// Clone returns a copy of which Delete may be called.
func (v *View) Clone() View {
	c := *v
	if c.Live == nil {
		c.Live = rowset.All(v.Rows)
		c.Dead = make([]uint32, v.Stems.Len())
	} else {
		c.Live, c.Dead = slices.Clone(v.Live), slices.Clone(v.Dead)
	}
	return c
}

// Delete deletes a live document and returns how many rows it had; v is a clone.
func (v *View) Delete(d int) (rows int) {
	from, to := v.Run(d)
	for row := from; row < to; row++ {
		rowset.Remove(v.Live, row)
		v.Length -= int64(le32(v.length, row))
		for w := v.Forward.Row(row); w.Next(); {
			v.Dead[w.Ordinal]++
		}
	}
	v.LiveRows -= to - from
	v.LiveDocs--
	return to - from
}

// EachGone calls f with the number of every document that is live in v and not in now, which is of the same segment; nil has
// none.
func (v *View) EachGone(now *View, f func(no int64)) {
	for w := range rowset.Words(v.Rows) {
		gone := word(v, w)
		if now != nil {
			gone &^= word(now, w)
		}
		for ; gone != 0; gone &= gone - 1 {
			row := 64*w + bits.TrailingZeros64(gone)
			d := v.DocOf(row)
			if from, _ := v.Run(d); from == row {
				f(v.No(d))
			}
		}
	}
}

// word returns the live rows from 64·w on, one bit each.
func word(v *View, w int) uint64 {
	if v.Live != nil {
		return v.Live[w]
	}
	if rest := v.Rows - 64*w; rest < 64 {
		return 1<<rest - 1
	}
	return ^uint64(0)
}

// LiveSection returns the section of a file that holds which rows of v are live.
func (v *View) LiveSection() segment.Section {
	live := make([]byte, 0, 8*len(v.Live))
	for _, w := range v.Live {
		live = binary.LittleEndian.AppendUint64(live, w)
	}
	return section("live", live)
}

// BindLive returns v without the rows that the section of file lacks. It keeps nothing of the file.
func (v *View) BindLive(file *segment.File) (View, error) {
	b := binder{file: file}
	live := b.get("live", 8*rowset.Words(v.Rows))
	if b.err != nil {
		return *v, b.err
	}
	fresh := v.Clone()
	for d := range v.Docs {
		if from, to := v.Run(d); from < to && live[from>>3]>>(from&7)&1 == 0 {
			fresh.Delete(d)
		}
	}
	return fresh, nil
}
