package vector

import (
	"encoding/binary"
	"math"
)

// Coarse holds rows of 8 bits a value in the rotated space, of any length: value = scale · (hi - 127.5). It is what
// the centroids of inverted lists are kept in. Safe for concurrent use.
type Coarse struct {
	Width     int
	Hi, Scale []byte // Width bytes a row, and a float32
}

// Len returns the number of rows.
func (c *Coarse) Len() int { return len(c.Scale) / 4 }

func (c *Coarse) scale(i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(c.Scale[4*i:])))
}

// Append adds a row, rounded; len(x) is Width.
func (c *Coarse) Append(x []float32) {
	var top float32
	for _, v := range x {
		top = max(top, v, -v)
	}
	scale := float32(float64(top) / 127.5)
	for _, v := range x {
		u := 127.5
		if scale > 0 {
			u = math.Floor(float64(v)/float64(scale)) + 128
		}
		c.Hi = append(c.Hi, byte(min(255, max(0, u))))
	}
	c.Scale = binary.LittleEndian.AppendUint32(c.Scale, math.Float32bits(scale))
}

// Values writes row i to x, which has Width values.
func (c *Coarse) Values(i int, x []float32) {
	scale := c.scale(i)
	for j, b := range c.Hi[i*c.Width:][:len(x)] {
		x[j] = float32(scale * (float64(b) - 127.5))
	}
}

// Scan sets out[i] to about the inner product of the query with row from+i: the rows are exact, the query has 8 bits.
func (c *Coarse) Scan(q *Query, from int, out []float32) {
	var dots [step]int32
	for len(out) > 0 {
		d := dots[:min(step, len(out))]
		scan(q, c.Hi[from*c.Width:], d)
		for i, dot := range d {
			out[i] = float32((float64(dot) - 127.5*float64(q.sum)) * (q.scale * c.scale(from+i)))
		}
		out, from = out[len(d):], from+len(d)
	}
}

// Score returns the inner product of the query with row i.
func (c *Coarse) Score(q *Query, i int) float64 {
	return float64(dot16(q.fine, c.Hi[i*c.Width:], q.middle)) * (q.fscale * c.scale(i) / 256)
}

// Values writes row i, as it was rotated, to x, which has as many values as the rows are wide.
func (r *Rows) Values(i int, x []float32) {
	scale, at := r.scale(i), i*r.Rotation.width
	hi, lo := r.Planes.Hi[at:][:len(x)], r.Planes.Lo[at:][:len(x)]
	for j := range x {
		x[j] = float32(scale * float64(int32(hi[j])<<8+int32(lo[j])-32768))
	}
}

// Values writes the query, as it was rotated, to x, which has as many values as the rows are wide.
func (q *Query) Values(x []float32) {
	for j, v := range q.fine {
		x[j] = float32(q.fscale * float64(v))
	}
}

// Rotated returns the query that x is, in the rotated space.
func Rotated(x []float32) *Query {
	q := newQuery(len(x))
	q.code(x)
	return q
}

// Set sets q to the query that x is, in the rotated space and as wide as q, so that no other need be made.
func (q *Query) Set(x []float32) {
	q.sum = 0
	q.code(x)
}
