package vector

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"quarry/internal/index/rowset"
)

// Rows is a read-only view of the rotated rows of a segment. Safe for concurrent use.
type Rows struct {
	Rotation *Rotation
	Planes   Planes
	Limits   Limits
	Low      Part // reads single rows of the low plane, nil where Planes.Lo does
}

// Part reads bytes of a plane at an offset. It panics where they can't be read.
type Part interface{ Read(to []byte, at int64) }

// Planes are the bytes of rows: row i has Width bytes in Hi and Lo each and a float32 in Scale. Its value at dimension
// j is scale · (256·(hi-128) + lo).
type Planes struct{ Hi, Lo, Scale []byte }

// Limits bound what the high plane alone leaves out. They are the largest of all rows.
type Limits struct {
	Norm     float64 `json:"norm"`     // length of a row as its high plane has it
	Residual float64 `json:"residual"` // length of the difference between a row and its high plane
}

// Or returns the limits of the rows of both.
func (l Limits) Or(o Limits) Limits {
	return Limits{Norm: max(l.Norm, o.Norm), Residual: max(l.Residual, o.Residual)}
}

// Builder builds the planes of a new segment. Not safe for concurrent use.
type Builder struct {
	rotation *Rotation
	planes   Planes
	limits   Limits
	x, tmp   []float32
}

// NewBuilder returns an empty builder with room for n rows.
func NewBuilder(r *Rotation, n int) *Builder {
	return &Builder{rotation: r, x: make([]float32, r.width), tmp: make([]float32, r.width), planes: Planes{
		Hi: make([]byte, 0, n*r.width), Lo: make([]byte, 0, n*r.width), Scale: make([]byte, 0, 4*n),
	}}
}

// Add appends a packed vector, brought to unit length.
func (b *Builder) Add(packed []byte) error {
	clear(b.x)
	if err := unpackTo(b.x[:b.rotation.dim], packed); err != nil {
		return err
	}
	b.rotation.apply(b.x, b.tmp)
	var top float32
	var square float64
	for _, v := range b.x {
		top = max(top, v, -v)
		square += float64(float64(v) * float64(v))
	}
	scale := float32(float64(top) / levels)
	if scale == 0 || math.IsInf(square, 0) {
		return fmt.Errorf("add vector: no direction, the squared length is %v", square)
	}
	for _, v := range b.x {
		n := math.RoundToEven(float64(v) / float64(scale))
		u := uint32(int32(min(levels, max(-levels, n))) + 32768)
		b.planes.Hi, b.planes.Lo = append(b.planes.Hi, byte(u>>8)), append(b.planes.Lo, byte(u))
	}
	scale = float32(float64(scale) / math.Sqrt(square)) // unit length from here on
	b.planes.Scale = binary.LittleEndian.AppendUint32(b.planes.Scale, math.Float32bits(scale))
	b.measure(scale)
	return nil
}

// measure widens the limits for the row added last.
func (b *Builder) measure(scale float32) {
	w := b.rotation.width
	at := len(b.planes.Hi) - w
	var norm, rest float64
	for i := range w {
		c := (float64(b.planes.Hi[at+i]) - 127.5) * 256
		d := float64(b.planes.Lo[at+i]) - 128
		norm += float64(c * c)
		rest += float64(d * d)
	}
	b.limits.Norm = max(b.limits.Norm, math.Sqrt(norm)*float64(scale))
	b.limits.Residual = max(b.limits.Residual, math.Sqrt(rest)*float64(scale))
}

// Copy appends row i of r, which has the same rotation, without rounding again.
func (b *Builder) Copy(r *Rows, i int) {
	w := b.rotation.width
	b.planes.Hi = append(b.planes.Hi, r.Planes.Hi[i*w:(i+1)*w]...)
	b.planes.Lo = append(b.planes.Lo, r.Planes.Lo[i*w:(i+1)*w]...)
	b.planes.Scale = append(b.planes.Scale, r.Planes.Scale[4*i:4*i+4]...)
	b.limits = b.limits.Or(r.Limits)
}

// Rows returns what was added. The builder must not be used afterwards.
func (b *Builder) Rows() *Rows {
	return &Rows{Rotation: b.rotation, Planes: b.planes, Limits: b.limits}
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Planes.Scale) / 4 }

func (r *Rows) scale(i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(r.Planes.Scale[4*i:])))
}

// Query is a rotated query of unit length with its 8-bit and its 24-bit code. Safe for concurrent use.
type Query struct {
	i8     []int8
	i16    []int16 // i8 widened, for kernels that multiply 16-bit integers
	fine   []int32 // value = fineScale · fine
	sum    int32   // of i8
	scale  float64 // value ≈ scale · i8
	fscale float64
	norm   float64 // of the value
	missed float64 // length of the difference between the value and scale · i8
	middle []byte  // a low plane of 128, for rows that have none
}

func newQuery(width int) *Query {
	q := &Query{i8: make([]int8, width), i16: make([]int16, width), fine: make([]int32, width)}
	if width > len(middle) {
		q.middle = bytes.Repeat(middle[:1], width)
	} else {
		q.middle = middle[:width]
	}
	return q
}

// middle is shared by the queries of usual widths.
var middle = bytes.Repeat([]byte{128}, 4096)

// fineLevels keeps the sum of 16-bit × 24-bit products of 65,536 dimensions inside 64 bits.
const fineLevels = 1<<23 - 1

// NewQuery prepares v for rows of rotation r; it is brought to unit length first.
func NewQuery(r *Rotation, v []float32) (*Query, error) {
	if len(v) != r.dim {
		return nil, fmt.Errorf("query vector has %d dimensions, want %d", len(v), r.dim)
	}
	var square float64
	for _, x := range v {
		square += float64(float64(x) * float64(x))
	}
	if !(square > 1e-30) || math.IsInf(square, 0) {
		return nil, fmt.Errorf("query vector has no direction: squared length %v", square)
	}
	var room [2 * 1024]float32 // for usual widths
	x, tmp := room[:], room[len(room)/2:]
	if r.width > len(tmp) {
		x, tmp = make([]float32, r.width), make([]float32, r.width)
	}
	x, tmp = x[:r.width], tmp[:r.width]
	for i, y := range v {
		x[i] = float32(float64(y) / math.Sqrt(square))
	}
	r.apply(x, tmp)
	q := newQuery(r.width)
	q.code(x)
	return q, nil
}

// code sets both codes of x, and what the 8-bit one misses, which slack needs.
func (q *Query) code(x []float32) {
	var top float64
	for _, v := range x {
		top = max(top, math.Abs(float64(v)))
	}
	if top == 0 {
		top = 1 // all codes are 0 then
	}
	q.scale, q.fscale = top/127, top/fineLevels
	var norm, missed float64
	for i, v := range x {
		q.fine[i] = int32(math.RoundToEven(float64(v) / q.fscale))
		c := math.RoundToEven(float64(v) / q.scale)
		q.i8[i], q.i16[i] = int8(c), int16(c)
		q.sum += int32(c)
		exact := q.fscale * float64(q.fine[i])
		d := exact - float64(q.scale*c)
		norm += float64(exact * exact)
		missed += float64(d * d)
	}
	q.norm, q.missed = math.Sqrt(norm), math.Sqrt(missed)
}

// Score returns the inner product of the query with row i from both planes: their cosine.
func (r *Rows) Score(q *Query, i int) float64 {
	buf := lows.Get().(*[]byte)
	score := float64(dot16(q.fine, r.Planes.Hi[i*r.Rotation.width:], r.low(i, buf))) * (q.fscale * r.scale(i))
	lows.Put(buf)
	return score
}

// lows has room for rows of low planes that are read, as *[]byte.
var lows = sync.Pool{New: func() any { return new([]byte) }}

// low returns row i of the low plane, in buf if it has to be read.
func (r *Rows) low(i int, buf *[]byte) []byte {
	w := r.Rotation.width
	if r.Low == nil {
		return r.Planes.Lo[i*w:][:w]
	}
	*buf = slices.Grow((*buf)[:0], w)[:w]
	r.Low.Read(*buf, int64(i)*int64(w))
	return *buf
}

// coarse returns the score by the high plane: hi - 127.5 stands for the 16-bit value over 256.
func (r *Rows) coarse(q *Query, i int, dot int32) float64 {
	return (float64(dot) - 127.5*float64(q.sum)) * (256 * q.scale * r.scale(i))
}

// slack returns a bound of the difference between coarse and Score, by the inequality of Cauchy and Schwarz: with row v
// = v̂ + r and query q = q̂ + e it is |⟨q,r⟩ + ⟨e,v̂⟩| ≤ ‖q‖·‖r‖ + ‖e‖·‖v̂‖. The last term is for float64 rounding.
func (r *Rows) slack(q *Query) float64 {
	return q.norm*r.Limits.Residual + q.missed*r.Limits.Norm + 1e-9
}

// About returns the score by the high plane with the query as it is, which lies within Slack of Score.
func (r *Rows) About(q *Query, i int) float64 {
	return float64(dot16(q.fine, r.Planes.Hi[i*r.Rotation.width:], q.middle)) * (q.fscale * r.scale(i))
}

// Slack returns a bound of the difference between About and Score, of which only the low plane is missing.
func (r *Rows) Slack(q *Query) float64 { return q.norm*r.Limits.Residual + 1e-9 }

// Ahead has the processor fetch what Candidates reads of row i. Rows that are looked at lie far apart, and several can be on
// their way at a time.
func (r *Rows) Ahead(i int) {
	w := r.Rotation.width
	prefetch(&r.Planes.Hi[i*w], w)
	prefetch(&r.Planes.Scale[4*i], 4)
}

// step is the number of rows per kernel call: assembly cannot be preempted.
const step = 512

// Want is what a search asks for: the rows among which to look (nil for all), how many of the best, and the score below
// which a row is of no use.
type Want struct {
	Allow []uint64
	K     int
	Floor float64
}

// Search offers rows with their Score, among them the K best that are allowed and reach the floor. offer returns the
// floor from then on.
func (r *Rows) Search(q *Query, w Want, offer func(row int, score float64) float64) {
	var c Candidates
	r.Gather(q, w, &c)
	c.Settle(r, q, w.Floor, offer)
}

// Gather resets c and adds the rows that may be among the K best that are allowed and reach the floor.
func (r *Rows) Gather(q *Query, w Want, c *Candidates) {
	c.Reset(r, q, w.K, w.Floor)
	switch {
	case r.Len() == 0 || w.K < 1:
	case w.Allow != nil && 8*rowset.Count(w.Allow) < r.Len():
		rowset.Each(w.Allow, func(row int) { c.Add(r, q, row) }) // below one row in eight cheaper than the whole scan
	default:
		r.scanAll(q, w.Allow, c)
	}
}

// scanAll gathers candidates from a scan of the whole high plane.
func (r *Rows) scanAll(q *Query, allow []uint64, c *Candidates) {
	var dots [step]int32
	w := r.Rotation.width
	for o := 0; o < r.Len(); o += step {
		d := dots[:min(step, r.Len()-o)]
		scan(q, r.Planes.Hi[o*w:], d)
		for i, dot := range d {
			row := o + i
			if x := r.coarse(q, row, dot); x+c.slack >= c.floor && rowset.Has(allow, row) {
				c.add(row, x)
			}
		}
	}
}
