package data

import (
	"errors"
	"math"
)

// Map takes static vectors to where the encoder puts such texts: a linear map, fitted by least squares with a small ridge.
// Queries that the service encodes meet neighbours among rows that were mapped, which static vectors alone would not be.
type Map struct {
	dim    int
	weight []float64 // row after row, by dimension of the static vector
	from   []float64 // mean of the static vectors
	mean   []float64 // of the encoder's
}

// ridge is added to the diagonal, as a share of the number of rows.
const ridge = 1e-4

// Fit returns the map that takes the rows of static to those of real best.
func Fit(static, real Vectors) (*Map, error) {
	d := static.Dim
	m := &Map{dim: d, from: make([]float64, d), mean: make([]float64, d)}
	n := min(static.Len(), real.Len())
	for i := range n {
		for j, y := range real.Row(i) {
			m.mean[j] += float64(y) / float64(n)
			m.from[j] += float64(static.Row(i)[j]) / float64(n)
		}
	}
	square, product := make([]float64, d*d), make([]float64, d*d)
	err := each(d, func(a int) error { // a row of each, alone
		for i := range n {
			row, y, x := static.Row(i), real.Row(i), float64(static.Row(i)[a])-m.from[a]
			for b := range d {
				square[a*d+b] += x * (float64(row[b]) - m.from[b])
				product[a*d+b] += x * (float64(y[b]) - m.mean[b])
			}
		}
		square[a*d+a] += ridge * float64(n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := factor(square, d); err != nil {
		return nil, err
	}
	solve(square, product, d)
	m.weight = product
	return m, nil
}

// factor replaces a symmetric matrix by its Cholesky factor, in the lower triangle.
func factor(a []float64, d int) error {
	for j := range d {
		for k := range j {
			for i := j; i < d; i++ {
				a[i*d+j] -= a[i*d+k] * a[j*d+k]
			}
		}
		if a[j*d+j] <= 0 {
			return errors.New("the vectors do not span their dimensions")
		}
		root := math.Sqrt(a[j*d+j])
		for i := j; i < d; i++ {
			a[i*d+j] /= root
		}
	}
	return nil
}

// solve replaces the columns of b by the solutions of the system whose factor is l.
func solve(l, b []float64, d int) {
	for i := range d {
		for k := range i {
			subtract(b[i*d:(i+1)*d], b[k*d:(k+1)*d], l[i*d+k])
		}
		scale(b[i*d:(i+1)*d], 1/l[i*d+i])
	}
	for i := d - 1; i >= 0; i-- {
		for k := i + 1; k < d; k++ {
			subtract(b[i*d:(i+1)*d], b[k*d:(k+1)*d], l[k*d+i])
		}
		scale(b[i*d:(i+1)*d], 1/l[i*d+i])
	}
}

func subtract(to, from []float64, times float64) {
	for i := range to {
		to[i] -= times * from[i]
	}
}

func scale(row []float64, by float64) {
	for i := range row {
		row[i] *= by
	}
}

// Apply returns the mapped rows, at unit length.
func (m *Map) Apply(static Vectors) (Vectors, error) {
	out := New(static.Len(), m.dim)
	return out, each(static.Len(), func(i int) error {
		sum := append([]float64(nil), m.mean...)
		for a, x := range static.Row(i) {
			subtract(sum, m.weight[a*m.dim:(a+1)*m.dim], m.from[a]-float64(x))
		}
		for j, y := range sum {
			out.Row(i)[j] = float32(y)
		}
		return unit(out.Row(i))
	})
}
