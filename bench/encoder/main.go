// Command encoder measures the sentence encoder: the speed of every kernel path on one core, scaling to all cores, the
// similarity of its int8 vectors to those of the float32 model, and, if Python has onnxruntime and onnx, the speed of ONNX
// Runtime on the same inputs. It prints Markdown for docs/benchmarks.md. Measurements whose requirements are missing (data,
// checkpoint, Python packages) are skipped with a message.
//
//	QUARRY_CHECKPOINT=<folder> go run ./bench/encoder
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/internal/cpu"
	"quarry/internal/encode"
	"quarry/internal/encode/asset"
)

type settings struct {
	data, checkpoint, python, script string
	rounds, passages, slow           int
	parts                            string
}

// bench is a run of the benchmark.
type bench struct {
	settings
	enc   *encode.Encoder
	texts []string
	long  [][]int32 // sequences of 128 tokens
	short [][]int32 // of 12
}

func main() {
	var s settings
	flag.StringVar(&s.data, "data", "../shared/data", "folder of test collections")
	flag.StringVar(&s.checkpoint, "checkpoint", os.Getenv("QUARRY_CHECKPOINT"), "checkpoint folder, for the float32 reference")
	flag.StringVar(&s.python, "python", "python3", "Python with onnxruntime and onnx")
	flag.StringVar(&s.script, "script", "bench/encoder/ort.py", "script that runs ONNX Runtime")
	flag.IntVar(&s.rounds, "rounds", 15, "interleaved rounds")
	flag.IntVar(&s.passages, "passages", 3000, "passages for the comparison of vectors")
	flag.IntVar(&s.slow, "slow-passages", 300, "the number of these for the portable path, which is slow")
	flag.StringVar(&s.parts, "parts", "speed,scaling,cosine", "what to measure")
	flag.Parse()
	if err := run(s); err != nil {
		log.Fatal(err)
	}
}

func run(s settings) error {
	start := time.Now()
	enc, err := encode.Open(asset.MiniLM())
	if err != nil {
		return err
	}
	opened := time.Since(start)
	b := &bench{settings: s, enc: enc}
	if b.texts, err = sample(s.data, s.passages); err != nil {
		fmt.Printf("skipped: %v\n", err)
		return nil
	}
	b.sequences()
	if len(b.long) == 0 || len(b.short) == 0 {
		return fmt.Errorf("no sequences of 128 and 12 tokens in %s", s.data)
	}
	fmt.Printf("%s, %d cores, %s; kernels %v; opened in %.0f ms\n", cpuName(), runtime.NumCPU(), runtime.Version(), cpu.Available(), ms(opened))
	for _, part := range []struct {
		name string
		run  func() error
	}{{"speed", b.speed}, {"scaling", b.scaling}, {"cosine", b.cosine}} {
		if !strings.Contains(s.parts, part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// sequences collects texts truncated to exactly 128 tokens and texts of exactly 12 tokens.
func (b *bench) sequences() {
	for _, t := range b.texts {
		ids := b.enc.Tokens(t)
		switch {
		case len(ids) == 12 && len(b.short) < 64:
			b.short = append(b.short, ids)
		case len(ids) >= 128 && len(b.long) < 64:
			b.long = append(b.long, append(slices.Clone(ids[:127]), ids[len(ids)-1]))
		}
	}
}

func use(path string) {
	if err := cpu.Use(path); err != nil {
		log.Fatal(err) // paths come from cpu.Available
	}
}

func cpuName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	_, rest, _ := strings.Cut(string(info), "model name\t: ")
	name, _, _ := strings.Cut(rest, "\n")
	return name
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

func median[T ~int64 | ~float64](x []T) T {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
