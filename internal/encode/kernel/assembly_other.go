//go:build !amd64

package kernel

import "quarry/internal/cpu"

// This architecture has only the portable path, so the functions below are never called.

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

func sgemm(cpu.Path, int, gemmF32)                               { panic(unreachable) }
func qgemm(cpu.Path, int, int, int, gemmI8)                      { panic(unreachable) }
func (l *Levels) widen(int)                                      { panic(unreachable) }
func quantRow(cpu.Path, []float32, []uint8, *float32, *float32)  { panic(unreachable) }
func geluQuant(cpu.Path, []float32, []uint8, *float32, *float32) { panic(unreachable) }
func geluVec(cpu.Path, []float32)                                { panic(unreachable) }
func addNorm(cpu.Path, *Norm, []float32, []float32, []float32)   { panic(unreachable) }
func softmax(cpu.Path, []float32, int, int, int)                 { panic(unreachable) }
func transpose(cpu.Path, *Head, []float32, int)                  { panic(unreachable) }
