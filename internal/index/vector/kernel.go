package vector

import "quarry/internal/cpu"

// Kernel returns the path that a scan of vectors of width values takes. Every path computes equal integers.
func Kernel(width int) cpu.Path {
	p := cpu.Current()
	if p == cpu.AVX512 && width != width512 {
		return cpu.AVX2
	}
	return p
}

// width512 is the only width that the AVX-512 kernel knows: it keeps the query in six registers.
const width512 = 384

// scan fills out[i] with the sum of q.i8[j] · rows[i·width+j].
func scan(q *Query, rows []byte, out []int32) {
	w := len(q.i8)
	if len(out) == 0 {
		return
	}
	_ = rows[len(out)*w-1]
	switch Kernel(w) {
	case cpu.AVX512:
		scan512(&q.i8[0], &rows[0], len(out), &out[0])
	case cpu.AVX2:
		scan256(&q.i16[0], &rows[0], w, len(out), &out[0])
	default:
		scanGo(q.i8, rows, out)
	}
}

func scanGo(q []int8, rows []byte, out []int32) {
	for i := range out {
		out[i] = dotGo(q, rows[i*len(q):][:len(q)])
	}
}

// dotGo returns the inner product of q and v in four sums, which do not wait for one another; the length is a multiple
// of unit.
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

// dot16 returns the sum of q[j] · (256·(hi[j]-128) + lo[j]).
func dot16(q []int32, hi, lo []byte) int64 {
	hi, lo = hi[:len(q)], lo[:len(q)]
	if len(q) > 0 && cpu.Current() >= cpu.AVX2 {
		return fine256(&q[0], &hi[0], &lo[0], len(q))
	}
	return dot16Go(q, hi, lo)
}

func dot16Go(q []int32, hi, lo []byte) int64 {
	hi, lo = hi[:len(q)], lo[:len(q)]
	var s int64
	for j, x := range q {
		s += int64(x) * int64(int32(hi[j])<<8+int32(lo[j])-32768)
	}
	return s
}
