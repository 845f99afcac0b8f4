// Package cpu holds the one choice of the process between vector instructions: AVX-512 with VNNI, AVX2 with FMA, or
// plain Go. The kernels of the encoder and of the vector scan read it. They compute the same values on every path, so
// that the choice is one of speed alone. Safe for concurrent use.
package cpu

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/cpu"
)

// Path is a set of instructions; a higher one is faster.
type Path int32

// The paths. AVX512 stands for F, BW, DQ, VL and VNNI, AVX2 for AVX2 and FMA.
const (
	Portable Path = iota
	AVX2
	AVX512
)

var names = [...]string{Portable: "portable", AVX2: "avx2", AVX512: "avx512"}

// String returns the name of p as the setting kernel has it.
func (p Path) String() string { return names[p] }

// available reports whether the CPU has the instructions of p and the operating system saves their registers. On other
// architectures than amd64 none of the features is set.
func (p Path) available() bool {
	x := &cpu.X86
	switch p {
	case AVX512:
		return AVX2.available() && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI
	case AVX2:
		return x.HasAVX2 && x.HasFMA
	}
	return p == Portable
}

// Available returns the paths that this CPU can run, slowest first.
func Available() []Path {
	var paths []Path
	for p := range Path(len(names)) {
		if p.available() {
			paths = append(paths, p)
		}
	}
	return paths
}

// active is the path in use: the best one that the CPU has, until Use chooses another.
var active atomic.Int32

func init() { active.Store(int32(best())) }

func best() Path {
	paths := Available()
	return paths[len(paths)-1]
}

// Current returns the path in use.
func Current() Path { return Path(active.Load()) }

// Use chooses the path: "auto" (the best of this CPU), "avx512", "avx2" or "portable". It returns an error and changes
// nothing when the name is unknown or the CPU lacks the instructions. Calls under way may mix paths.
func Use(name string) error {
	if name == "auto" {
		active.Store(int32(best()))
		return nil
	}
	for p, n := range names {
		if n != name {
			continue
		}
		if !Path(p).available() {
			return fmt.Errorf("kernel %s: this CPU lacks the instructions; it has %v", name, Available())
		}
		active.Store(int32(p))
		return nil
	}
	return fmt.Errorf("kernel %q: unknown, want auto, avx512, avx2 or portable", name)
}
