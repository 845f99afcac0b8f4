//go:build !amd64

package kernel

// Only the portable path exists here: supported never names another, so none of the functions below is reached.

func supported(p path) bool { return p == portable }

type gemmF32 struct {
	k        int
	a, b     *float32
	c, bias  *float32
	lda      int
	ldb, ldc int
}

type gemmI8 struct {
	w      *MatI8
	a      *Levels
	out    []float32
	stride int
}

const unreachable = "kernel: no assembly on this architecture"

func sgemm(path, int, gemmF32)                               { panic(unreachable) }
func qgemm(path, int, int, int, gemmI8)                      { panic(unreachable) }
func (l *Levels) widen(int)                                  { panic(unreachable) }
func quantRow(path, []float32, []uint8, *float32, *float32)  { panic(unreachable) }
func geluQuant(path, []float32, []uint8, *float32, *float32) { panic(unreachable) }
func geluVec(path, []float32)                                { panic(unreachable) }
func addNorm(path, *Norm, []float32, []float32, []float32)   { panic(unreachable) }
func softmax(path, []float32, int, int, int)                 { panic(unreachable) }
func transpose(path, *Head, []float32, int)                  { panic(unreachable) }
