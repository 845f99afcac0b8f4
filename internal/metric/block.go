package metric

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"sort"
)

// Combination is the values that something is counted under, as JSON: a list of texts, ascending, for each label of the family.
// A query over two corpora has two values of one label, so it is one combination and counted once, whoever asks for which.
type Combination string

// maxValue is how many bytes of a value count. No key or name that the service takes is longer; what a model calls a tool may be.
const maxValue = 256

// combine returns the combination of values by label. Empty values are none.
func combine(labels [][]string) Combination {
	out := make([][]string, len(labels))
	for i, values := range labels {
		out[i] = []string{}
		for _, v := range values {
			if v != "" {
				out[i] = append(out[i], v[:min(len(v), maxValue)])
			}
		}
		slices.Sort(out[i])
		out[i] = slices.Compact(out[i])
	}
	raw, _ := json.Marshal(out) // texts always encode
	return Combination(raw)
}

// Values returns the values by label.
func (c Combination) Values() (out [][]string, err error) {
	return out, json.Unmarshal([]byte(c), &out)
}

// Cell is what was counted in one minute.
type Cell struct {
	Minute int64 // since 1970
	Sums   []uint64
	Counts []Count // by bucket, ascending; none is 0
}

// Count is how many durations were in a bucket.
type Count struct {
	Bucket int
	N      uint64
}

// add adds n to a bucket and returns how many buckets are new: 0 or 1.
func (c *Cell) add(bucket int, n uint64) int {
	i := sort.Search(len(c.Counts), func(i int) bool { return c.Counts[i].Bucket >= bucket })
	if i < len(c.Counts) && c.Counts[i].Bucket == bucket {
		c.Counts[i].N += n
		return 0
	}
	c.Counts = slices.Insert(c.Counts, i, Count{bucket, n})
	return 1
}

// merge adds what another cell has. It leaves what copies of the cell share with it as it is.
func (c *Cell) merge(o *Cell) {
	c.Sums = slices.Clone(c.Sums)
	for i, n := range o.Sums {
		c.Sums[i] += n
	}
	if len(o.Counts) == 0 {
		return
	}
	out := make([]Count, 0, len(c.Counts)+len(o.Counts))
	a, b := c.Counts, o.Counts
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Bucket < b[0].Bucket:
			out, a = append(out, a[0]), a[1:]
		case a[0].Bucket > b[0].Bucket:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, Count{a[0].Bucket, a[0].N + b[0].N}), a[1:], b[1:]
		}
	}
	c.Counts = append(append(out, a...), b...)
}

// Block is cells of one combination in ascending order of their minutes, encoded: the same cells are the same bytes.
//
// All numbers are varints: how many sums a cell has; then for each cell its minute less that of the one before it (of the first:
// less where the block begins), the sums, how many bytes of counts follow, and for each count its bucket less that of the one
// before it, and the number.
type Block []byte

// Encode returns the block, beginning at a minute, of cells with a number of sums. No two cells have the same minute.
func Encode(began int64, sums int, cells []Cell) Block {
	out := binary.AppendUvarint(nil, uint64(sums))
	var counts []byte
	for _, c := range cells {
		out = binary.AppendUvarint(out, uint64(c.Minute-began))
		began = c.Minute
		for _, n := range c.Sums {
			out = binary.AppendUvarint(out, n)
		}
		counts = counts[:0]
		last := 0
		for _, n := range c.Counts {
			counts = binary.AppendUvarint(binary.AppendUvarint(counts, uint64(n.Bucket-last)), n.N)
			last = n.Bucket
		}
		out = append(binary.AppendUvarint(out, uint64(len(counts))), counts...)
	}
	return out
}

var errBlock = errors.New("a block of metrics is damaged")

// Decode returns the cells of a block that begins at a minute.
func (b Block) Decode(began int64) (cells []Cell, err error) {
	r := blockReader{rest: b, minute: began}
	sums := r.sums()
	for len(r.rest) > 0 {
		c := Cell{Minute: r.next()}
		for range sums {
			c.Sums = append(c.Sums, r.number())
		}
		inner := blockReader{rest: r.bytes()}
		for bucket := 0; len(inner.rest) > 0; {
			bucket += int(inner.number())
			c.Counts = append(c.Counts, Count{bucket, inner.number()})
		}
		if r.bad || inner.bad {
			return nil, errBlock
		}
		cells = append(cells, c)
	}
	if r.bad {
		return nil, errBlock
	}
	return cells, nil
}

// blockReader reads the numbers of a block.
type blockReader struct {
	rest   []byte
	minute int64
	bad    bool
}

// number returns the next number.
func (r *blockReader) number() uint64 {
	n, size := uvarint(r.rest, 0)
	if size == 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// uvarint returns the number at a place, and where the next one is: 0 if there is none.
func uvarint(b []byte, at int) (n uint64, next int) {
	if at+1 < len(b) { // nearly all have one byte or two
		if b[at] < 0x80 {
			return uint64(b[at]), at + 1
		}
		if b[at+1] < 0x80 {
			return uint64(b[at]&0x7f) | uint64(b[at+1])<<7, at + 2
		}
	}
	n, size := binary.Uvarint(b[min(at, len(b)):])
	if size <= 0 {
		return 0, 0
	}
	return n, at + size
}

// maxSums is more sums than a family has.
const maxSums = 100

// sums returns how many sums a cell has.
func (r *blockReader) sums() uint64 {
	n := r.number()
	if n > maxSums {
		r.bad, r.rest = true, nil
		return 0
	}
	return n
}

// next returns the minute of the cell that begins.
func (r *blockReader) next() int64 {
	r.minute += int64(r.number())
	return r.minute
}

// bytes returns the counts of a cell.
func (r *blockReader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// Merge returns cells in ascending order of their minutes, those of the same minute as one.
func Merge(cells []Cell) []Cell {
	slices.SortStableFunc(cells, func(a, b Cell) int { return int(a.Minute - b.Minute) })
	var out []Cell
	for _, c := range cells {
		if n := len(out); n > 0 && out[n-1].Minute == c.Minute {
			out[n-1].merge(&c)
		} else {
			out = append(out, c)
		}
	}
	return out
}
