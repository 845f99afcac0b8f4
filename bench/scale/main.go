// Command scale measures the search index with a million passages of the Win32 documentation: vectors beside hnswlib and
// faiss, words beside Lucene and Bleve, filters, and the built program over HTTP with its memory, its start, its merges
// and its rate of indexing. Foreign engines run through their own packages in processes of their own, in rounds that take
// turns with ours; what is missing on the machine is left out with a message. README.md beside this file has the parts and
// what each needs. The results are for docs/benchmarks.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/bench/scale/course"
	"quarry/bench/scale/data"
	"quarry/internal/cpu"
	"quarry/internal/encode"
	"quarry/internal/encode/asset"
)

type settings struct {
	parts, data, dir, binary, python, source string
	engines                                  string
	passages, real, queries, rounds          int
	asked, ingest                            int
	peers                                    bool
}

func main() {
	var s settings
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.StringVar(&s.parts, "parts", "", "what to measure, separated by commas; all where none is named: "+strings.Join(names(), ","))
	flag.StringVar(&s.data, "data", "../shared/data/win32docs", "the collection")
	flag.StringVar(&s.dir, "dir", filepath.Join(cache, "quarry-scale"), "folder for data and indexes, kept from run to run; 20 GB for a million passages")
	flag.StringVar(&s.binary, "binary", "./quarry", "the program")
	flag.StringVar(&s.source, "source", "bench/scale", "folder of this command, with the foreign engines")
	flag.StringVar(&s.python, "python", "python3", "Python, to make an environment with hnswlib and faiss in the folder")
	flag.IntVar(&s.passages, "passages", 1_000_000, "passages")
	flag.IntVar(&s.real, "real", 100_000, "passages that the encoder encodes: half an hour of a core for a million")
	flag.IntVar(&s.queries, "queries", 1000, "queries of each kind")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds in which engines take turns")
	flag.IntVar(&s.asked, "asked", 10_000, "queries over HTTP before memory is read")
	flag.IntVar(&s.ingest, "ingest", 100_000, "passages indexed over HTTP")
	flag.StringVar(&s.engines, "engines", "hnswlib,faiss-hnsw,faiss-fastscan,faiss-rabitq", "foreign engines for vectors; the last two take an hour to build on two cores")
	flag.BoolVar(&s.peers, "peers", true, "foreign engines, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// part is a measurement that can be run by itself.
type part struct {
	name string
	run  func(*bench) error
}

// known are the parts in the order in which they run.
var known = []part{
	{"data", (*bench).prepare},
	{"dense", (*bench).dense},
	{"filters", (*bench).filters},
	{"lexical", (*bench).lexical},
	{"http", (*bench).http},
	{"memory", (*bench).memory},
	{"merge", (*bench).merge},
	{"ingest", (*bench).indexing},
}

// indexing measures indexing over HTTP.
func (b *bench) indexing() error {
	m := course.Measurement{Binary: b.binary, Data: b.data, Passages: b.ingest, Encoder: b.enc}
	return m.Run(b.ctx)
}

func names() (out []string) {
	for _, p := range known {
		out = append(out, p.name)
	}
	return out
}

// chosen returns the parts that are named, all where none is.
func chosen(list string) ([]part, error) {
	if list == "" {
		return known, nil
	}
	named := strings.Split(list, ",")
	for _, n := range named {
		if !slices.Contains(names(), n) {
			return nil, fmt.Errorf("there is no part %q; parts are %s", n, strings.Join(names(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(known), func(p part) bool { return !slices.Contains(named, p.name) }), nil
}

// bench is a run. What several parts need is made at first use.
type bench struct {
	settings
	ctx       context.Context
	enc       *encode.Encoder
	passages  *data.Passages
	questions []string

	static       *data.Static
	staticRows   data.Vectors // by passage
	realRows     data.Vectors // by place in the order
	order        []int
	staticAsked  data.Vectors
	encodedAsked data.Vectors
}

func run(ctx context.Context, s settings) error {
	parts, err := chosen(s.parts)
	if err != nil {
		return err
	}
	if _, err := os.Stat(s.data); err != nil {
		fmt.Println("skipped: the collection is not at", s.data)
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return err
	}
	b := &bench{settings: s, ctx: ctx}
	if b.enc, err = encode.Open(asset.MiniLM()); err != nil {
		return err
	}
	began := time.Now()
	if b.passages, err = data.Cut(s.data, s.passages); err != nil {
		return err
	}
	b.order = b.passages.Order()
	if b.questions, err = data.Questions(s.data, s.queries); err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s, paths %v; load %s\n", machine(), runtime.NumCPU(), runtime.Version(), cpu.Available(), load())
	fmt.Printf("features: %s\n", features())
	fmt.Printf("%d passages of %d documents, %d questions, cut in %v\n", len(b.passages.Texts), len(b.passages.Documents), len(b.questions), time.Since(began).Round(time.Second))
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		fmt.Printf("\n## %s\n", p.name)
		began := time.Now()
		if err := p.run(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("\n(%s took %v; load %s)\n", p.name, time.Since(began).Round(time.Second), load())
	}
	return nil
}

// file returns the path of something kept about so many passages.
func (b *bench) file(format string, values ...any) string {
	return filepath.Join(b.dir, fmt.Sprintf("%d-%s", b.settings.passages, fmt.Sprintf(format, values...)))
}

// machine returns the name of the CPU.
func machine() string { return cpuInfo("model name") }

// features returns those features of the CPU that kernels could use.
func features() string {
	var some []string
	for f := range strings.FieldsSeq(cpuInfo("flags")) {
		if strings.Contains(f, "avx") || strings.Contains(f, "amx") || slices.Contains([]string{"fma", "popcnt", "bmi2", "gfni"}, f) {
			some = append(some, f)
		}
	}
	return strings.Join(some, " ")
}

// cpuInfo returns what Linux says about the first CPU, and the architecture elsewhere.
func cpuInfo(what string) string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == what {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// load returns the load of the machine, which says how far times can be trusted.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(raw))[:3], " ")
}
