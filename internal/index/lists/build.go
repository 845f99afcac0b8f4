package lists

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"quarry/internal/index/vector"
)

// From is the number of rows from which on a segment has lists. Below it a scan of all rows is as quick.
const From = 50_000

// Number returns the number of lists for n rows: 4·√n, to the power of two above.
func Number(n int) int {
	return 1 << bits.Len(uint(max(1, 4*math.Sqrt(float64(n))))-1)
}

// Build returns the lists of rows, the same for the same rows. The centroids are those of kept where they are as many as
// is right for so many rows; nil stands for none. Between blocks of work it calls pause, which
// may wait, and whose error ends it.
func Build(rows *vector.Rows, kept *Lists, pause func() error) (*Lists, error) {
	b := &builder{rows: rows, width: rows.Rotation.Width(), pause: pause}
	b.x, b.c = make([]float32, b.width), make([]float32, b.width)
	b.query = vector.Rotated(b.x)
	if kept.fits(rows.Len()) {
		b.centroids = vector.Coarse{Width: b.width, Hi: slices.Clone(kept.Hi), Scale: slices.Clone(kept.Scale)} // kept may be of a file
	} else if err := b.train(Number(rows.Len())); err != nil {
		return nil, err
	}
	if err := b.assign(); err != nil {
		return nil, err
	}
	l, err := b.fill()
	if err != nil {
		return nil, err
	}
	if err := b.calibrate(l); err != nil {
		return nil, err
	}
	return l, nil
}

// fits reports whether the centroids of l are as many as n rows should have, or half or twice as many.
func (l *Lists) fits(n int) bool {
	return l != nil && l.Lists() <= 2*Number(n) && Number(n) <= 2*l.Lists()
}

// builder builds lists. First and second are the lists of each row.
type builder struct {
	rows      *vector.Rows
	width     int
	pause     func() error
	centroids vector.Coarse
	norms     []float32       // squared lengths of centroids
	asked     []*vector.Query // the centroids as queries

	first, second []int32

	query *vector.Query
	x, c  []float32
}

// block is the number of rows between two pauses.
const block = 256

// rest pauses before each block of rows.
func (b *builder) rest(row int) error {
	if row%block != 0 {
		return nil
	}
	return b.pause()
}

// stages are the rounds in which centroids are trained: first on few rows per list, which move them near their places for
// little, then on more.
var stages = []struct{ perList, groups, rounds int }{
	{16, roughGroups, 6},
	{32, nearGroups, 2},
}

// train sets the centroids by spherical k-means on a sample of the rows.
func (b *builder) train(n int) error {
	rng := rand.New(rand.NewPCG(1, 2))
	order := rng.Perm(b.rows.Len())
	means := make([]float32, n*b.width)
	for i := range n {
		b.rows.Values(order[i%len(order)], means[i*b.width:][:b.width])
	}
	for _, s := range stages {
		sample := order[:min(len(order), n*s.perList)]
		for range s.rounds {
			if err := b.round(means, sample, s.groups, rng); err != nil {
				return err
			}
		}
	}
	b.centroids = vector.Coarse{Width: b.width}
	for o := 0; o < len(means); o += b.width {
		b.centroids.Append(means[o : o+b.width])
	}
	return nil
}

// round replaces means by those of the rows of a sample that each is the nearest to.
func (b *builder) round(means []float32, sample []int, groups int, rng *rand.Rand) error {
	unit := coarse(means, b.width)
	near := group(&unit)
	clear(means)
	counts := make([]int, unit.Len())
	for i, row := range sample {
		if err := b.rest(i); err != nil {
			return err
		}
		b.rows.Values(row, b.x)
		b.query.Set(b.x)
		best := ranked{0, -math.MaxFloat32}
		near.near(b.query, groups, func(list int32, dot float32) {
			if dot > best.score {
				best = ranked{list, dot}
			}
		})
		counts[best.list]++
		add(means[int(best.list)*b.width:], b.x)
	}
	for i, count := range counts {
		mean := means[i*b.width:][:b.width]
		if count == 0 { // an empty list takes up some row instead
			b.rows.Values(sample[rng.IntN(len(sample))], mean)
			continue
		}
		for j := range mean {
			mean[j] /= float32(count)
		}
	}
	return nil
}

// coarse returns means as rows of 8 bits at unit length.
func coarse(means []float32, width int) vector.Coarse {
	c, x := vector.Coarse{Width: width}, make([]float32, width)
	for o := 0; o < len(means); o += width {
		var square float64
		for _, v := range means[o : o+width] {
			square += float64(float64(v) * float64(v))
		}
		for i, v := range means[o : o+width] {
			x[i] = float32(float64(v) / math.Sqrt(max(square, 1e-30)))
		}
		c.Append(x)
	}
	return c
}

// prepare sets what assign needs of the centroids.
func (b *builder) prepare() {
	n := b.centroids.Len()
	b.norms, b.asked = make([]float32, n), make([]*vector.Query, n)
	for i := range n {
		b.centroids.Values(i, b.c)
		var square float32
		for _, v := range b.c {
			square += float32(v * v)
		}
		b.norms[i], b.asked[i] = square, vector.Rotated(b.c)
	}
}

// rivals is the number of near lists among which the second is chosen.
const rivals = 12

// assign sets the lists of each row: the nearest centroid c by distance, and of the next ones that with the least
// ‖r'‖² + ⟨r',r⟩²/‖r‖², where r and r' are the differences from the one and the other. A second residual at a right angle to the
// first is small for queries that the first one hides the row from.
func (b *builder) assign() error {
	b.prepare()
	n := b.rows.Len()
	b.first, b.second = make([]int32, n), make([]int32, n)
	tree, near := group(&b.centroids), make([]ranked, 0, rivals)
	var pair [1]float32
	for row := range n {
		if err := b.rest(row); err != nil {
			return err
		}
		b.rows.Values(row, b.x)
		b.query.Set(b.x)
		near = near[:0]
		tree.near(b.query, nearGroups, func(list int32, dot float32) {
			if score := 2*dot - b.norms[list]; len(near) < rivals || score > near[rivals-1].score {
				near = insert(near, ranked{list, score})
			}
		})
		c := near[0].list
		b.first[row], b.second[row] = c, c
		distance := max(1-near[0].score, 1e-9) // of unit vectors to a centroid, squared
		least := float32(math.MaxFloat32)
		for _, o := range near[1:] {
			b.centroids.Scan(b.asked[c], int(o.list), pair[:])
			across := 1 - (near[0].score+b.norms[c]+o.score+b.norms[o.list])/2 + pair[0]
			if loss := 1 - o.score + float32(across*across)/distance; loss < least {
				least, b.second[row] = loss, o.list
			}
		}
	}
	return nil
}

// insert puts r in its place among the nearest, of which the last goes when there are too many.
func insert(near []ranked, r ranked) []ranked {
	if len(near) == rivals {
		near = near[:rivals-1]
	}
	at := len(near)
	for at > 0 && near[at-1].score < r.score {
		at--
	}
	return slices.Insert(near, at, r)
}

// fill lays out the entries of the lists.
func (b *builder) fill() (*Lists, error) {
	n := b.rows.Len()
	l := &Lists{Head: Head{Lists: b.centroids.Len(), Share: 1}, rows: b.rows, centroids: b.centroids, runs: make([]run, b.centroids.Len())}
	for row := range n {
		l.runs[b.first[row]].first++
		l.runs[b.first[row]].all++
		if b.second[row] != b.first[row] {
			l.runs[b.second[row]].all++
		}
	}
	blocks := 0
	next := make([][2]int, len(l.runs)) // entries of the next first and second row
	for i := range l.runs {
		r := &l.runs[i]
		r.block = blocks
		next[i] = [2]int{blocks * perBlock, blocks*perBlock + r.first}
		blocks += r.blocks()
		for _, v := range []int{r.block, r.first, r.all} {
			l.Runs = binary.LittleEndian.AppendUint32(l.Runs, uint32(v))
		}
	}
	l.Hi, l.Scale = b.centroids.Hi, b.centroids.Scale
	l.Row, l.Factor = make([]byte, 4*blocks*perBlock), make([]byte, 4*blocks*perBlock)
	l.Code, l.At = make([]byte, blocks*blockBytes(b.width)), make([]byte, 4*n)
	for e := range blocks * perBlock {
		binary.LittleEndian.PutUint32(l.Row[4*e:], none)
	}
	for row := range n {
		if err := b.rest(row); err != nil {
			return nil, err
		}
		b.rows.Values(row, b.x)
		for k, list := range [...]int32{b.first[row], b.second[row]} {
			if k == 1 && list == b.first[row] {
				continue
			}
			e := next[list][k]
			next[list][k]++
			binary.LittleEndian.PutUint32(l.Row[4*e:], uint32(row))
			if k == 0 {
				binary.LittleEndian.PutUint32(l.At[4*row:], uint32(e))
			}
			b.encode(l, e, int(list))
		}
	}
	l.measure()
	return l, nil
}

// encode writes the bits and the factor ‖r‖²/‖r‖₁ of the difference r between b.x and the centroid of a list.
func (b *builder) encode(l *Lists, e, list int) {
	b.centroids.Values(list, b.c)
	var square, sum float64
	block, at := l.Code[e/perBlock*blockBytes(b.width):][:blockBytes(b.width)], e%perBlock
	for i, v := range b.x {
		d := float64(v) - float64(b.c[i])
		square += float64(d * d)
		sum += math.Abs(d)
		if d > 0 {
			block[i/8*perBlock+at] |= 1 << (i % 8)
		}
	}
	if sum > 0 {
		putFloat(l.Factor[4*e:], float32(square/sum))
	}
}

func putFloat(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }
