package vector

import "golang.org/x/sys/cpu"

// supported says whether the CPU has the instructions of p and the operating system saves their registers.
func supported(p path) bool {
	x := &cpu.X86
	switch p {
	case avx512:
		return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI && x.HasAVX2
	case avx2:
		return x.HasAVX2
	default:
		return true
	}
}

//go:noescape
func scan512(q *int8, base *byte, n int, out *int32)

//go:noescape
func scan256(q *int16, base *byte, width, n int, out *int32)
