package vector

//go:noescape
func scan512(q *int8, base *byte, n int, out *int32)

//go:noescape
func scan256(q *int16, base *byte, width, n int, out *int32)

//go:noescape
func fine256(q *int32, hi, lo *byte, width int) int64

//go:noescape
func prefetch(base *byte, n int)
