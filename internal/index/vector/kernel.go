package vector

import (
	"fmt"
	"sync/atomic"
)

// path is a set of kernels; a higher one is preferred. All give equal integers.
type path int32

const (
	portable path = iota
	avx2
	avx512
)

var pathNames = [...]string{portable: "portable", avx2: "avx2", avx512: "avx512"}

// active is the path in use: the best the CPU has until Use says otherwise.
var active = func() *atomic.Int32 {
	p := new(atomic.Int32)
	p.Store(int32(best()))
	return p
}()

func best() path {
	for p := avx512; p > portable; p-- {
		if supported(p) {
			return p
		}
	}
	return portable
}

// Use selects the path: "auto" (the best of this CPU), "avx512", "avx2" or "portable". It gives an error when the
// name is unknown or the CPU lacks the instructions. Results do not depend on it.
func Use(name string) error {
	if name == "auto" {
		active.Store(int32(best()))
		return nil
	}
	for p, n := range pathNames {
		if n != name {
			continue
		}
		if !supported(path(p)) {
			return fmt.Errorf("vector kernel %s: this CPU lacks the instructions; it has %v", name, Available())
		}
		active.Store(int32(p))
		return nil
	}
	return fmt.Errorf("vector kernel %q: unknown, want auto, avx512, avx2 or portable", name)
}

// Available lists the paths that this CPU can run, slowest first.
func Available() []string {
	var names []string
	for p, n := range pathNames {
		if supported(path(p)) {
			names = append(names, n)
		}
	}
	return names
}

// scan fills out[i] with the sum of q.i8[j] · rows[i·width+j].
func scan(q *Query, rows []byte, out []int32) {
	w := len(q.i8)
	if len(out) == 0 {
		return
	}
	_ = rows[len(out)*w-1]
	switch p := path(active.Load()); {
	case p == avx512 && w == width512:
		scan512(&q.i8[0], &rows[0], len(out), &out[0])
	case p >= avx2:
		scan256(&q.i16[0], &rows[0], w, len(out), &out[0])
	default:
		scanGo(q.i8, rows, out)
	}
}

// width512 is the only width that the AVX-512 kernel knows: it keeps the query in six registers.
const width512 = 384

func scanGo(q []int8, rows []byte, out []int32) {
	for i := range out {
		out[i] = dotGo(q, rows[i*len(q):][:len(q)])
	}
}

// dotGo keeps four sums; the length is a multiple of unit.
func dotGo(q []int8, v []byte) int32 {
	var s0, s1, s2, s3 int32
	for len(q) >= 8 && len(v) >= 8 {
		s0 += int32(q[0])*int32(v[0]) + int32(q[4])*int32(v[4])
		s1 += int32(q[1])*int32(v[1]) + int32(q[5])*int32(v[5])
		s2 += int32(q[2])*int32(v[2]) + int32(q[6])*int32(v[6])
		s3 += int32(q[3])*int32(v[3]) + int32(q[7])*int32(v[7])
		q, v = q[8:], v[8:]
	}
	return s0 + s1 + s2 + s3
}

// dot16 is the sum of q[j] · (256·(hi[j]-128) + lo[j]). Plain Go: a query settles some hundred rows.
func dot16(q []int32, hi, lo []byte) int64 {
	hi, lo = hi[:len(q)], lo[:len(q)]
	var s int64
	for j, x := range q {
		s += int64(x) * int64(int32(hi[j])<<8+int32(lo[j])-32768)
	}
	return s
}
