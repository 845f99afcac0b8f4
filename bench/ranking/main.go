// Command ranking measures ranking quality on the test collections in ../shared/data and prints the tables of
// docs/benchmarks.md: nDCG@10 of a baseline (lower-cased words split at white space), of lexical, dense and hybrid search
// and of the default reranker, with means; then how well the default reranker's scores are calibrated, and the constants of
// internal/query/rerank/calibrate.go, fitted on the training queries. It ranks with the same code as queries over HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"quarry/bench/cache"
	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/embed"
	"quarry/internal/opt"
	"quarry/internal/query/evaluate"
	"quarry/internal/query/rerank"
)

var english = []string{"scifact", "cranfield", "cacm", "cisi", "pubmedqa", "win32docs", "xquad/en"}

var others = []string{"xquad/de", "xquad/es", "xquad/ru", "xquad/zh", "xquad/ar", "xquad/hi"}

func main() {
	b := bench{}
	flag.StringVar(&b.data, "data", "../shared/data", "folder of the collections")
	only := flag.String("only", "", "comma-separated list of collections; default: all")
	flag.StringVar(&b.vectors, "vectors", cache.Default(), "folder of the vector cache; empty for none")
	flag.StringVar(&b.found, "found", "", "file to write the results of the default search to, for -fit")
	sweep := flag.String("sweep", "", "comma-separated list of lexical shares: only the nDCG@10 of each")
	again := flag.String("fit", "", "file written by -found: only fit and report")
	flag.Parse()
	if *again != "" {
		all, err := readFound(*again)
		if err != nil {
			fmt.Fprintln(os.Stderr, "ranking:", err)
			os.Exit(1)
		}
		report(all)
		return
	}
	if _, err := os.Stat(b.data); err != nil {
		fmt.Println("skipped: the collections are not at", b.data)
		return
	}
	names := append(append([]string{}, english...), others...)
	if *only != "" {
		names = strings.Split(*only, ",")
	}
	err := b.setSweep(*sweep)
	if err == nil {
		err = b.run(context.Background(), names)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ranking:", err)
		os.Exit(1)
	}
}

// bench is a run of the benchmark.
type bench struct {
	data, vectors string
	found         string
	lambdas       []float64 // of a sweep; empty measures evaluate.Runs
	asked         []asked   // queries with the results of the default search, for the calibration
}

// setSweep reads the shares of a sweep.
func (b *bench) setSweep(list string) error {
	for s := range strings.SplitSeq(list, ",") {
		if s == "" {
			continue
		}
		lambda, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("-sweep: %w", err)
		}
		b.lambdas = append(b.lambdas, lambda)
	}
	return nil
}

// runSweep prints the nDCG@10 of each collection at each share.
func (b *bench) runSweep(ctx context.Context, names []string) error {
	fmt.Printf("| collection |%s\n|---|%s\n", columns(b.lambdas, " λ = %v |"), strings.Repeat("---|", len(b.lambdas)))
	for _, name := range names {
		d, err := read(b.data, name)
		if err != nil {
			return err
		}
		var scores []float64
		err = b.indexed(ctx, d, func(e *app.Evaluation) error {
			for _, lambda := range b.lambdas {
				run := evaluate.Run{Lambda: opt.Some(lambda), Reranker: rerank.Spec{Type: "none"}}
				s, err := evaluate.Measure(ctx, e.Retrieve(), app.EvaluationCorpus, d, run, func() {})
				if err != nil {
					return err
				}
				scores = append(scores, s.NDCG10)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("| %s |%s\n", name, columns(scores, " %.4f |"))
	}
	return nil
}

func columns(all []float64, format string) (out string) {
	for _, v := range all {
		out += fmt.Sprintf(format, v)
	}
	return out
}

func (b *bench) run(ctx context.Context, names []string) error {
	if len(b.lambdas) > 0 {
		return b.runSweep(ctx, names)
	}
	fmt.Println("| collection | documents | queries | words | lexical | dense | hybrid | default | hybrid recall@100 |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	var all, mean [5]float64
	count, total := 0, 0
	for _, name := range names {
		d, err := read(b.data, name)
		if err != nil {
			return err
		}
		row, recall, err := b.collection(ctx, name, d)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		printRow(name, fmt.Sprintf("%d | %d", len(d.Documents), len(d.Queries)), row, fmt.Sprintf("%.4f", recall))
		total++
		for i, v := range row {
			all[i] += v
			if slices.Contains(english, name) {
				mean[i] += v
			}
		}
		if slices.Contains(english, name) {
			count++
		}
	}
	if count == len(english) {
		printMean("mean of the seven English sets", mean, count)
	}
	if total > count {
		printMean("mean of all sets", all, total)
	}
	fmt.Println()
	return b.calibration()
}

func printRow(name, size string, row [5]float64, recall string) {
	fmt.Printf("| %s | %s | %.4f | %.4f | %.4f | %.4f | %.4f | %s |\n", name, size, row[0], row[1], row[2], row[3], row[4], recall)
}

func printMean(name string, sums [5]float64, n int) {
	for i := range sums {
		sums[i] /= float64(n)
	}
	printRow("**"+name+"**", " | ", sums, "")
}

// indexed runs use over an index of d.
func (b *bench) indexed(ctx context.Context, d *evaluate.Dataset, use func(*app.Evaluation) error) (err error) {
	var cached *cache.Encoder
	keep := func(r *embed.Registry) {
		if b.vectors != "" {
			r.Decorate(func(e embed.Encoder) embed.Encoder {
				if cached, err = cache.Open(b.vectors, e); err != nil {
					return e
				}
				return cached
			})
		}
	}
	e, openErr := app.OpenEvaluation(ctx, config.Default(), d, silent, keep)
	if err = errors.Join(err, openErr); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close(), cached.Close()) }()
	return use(e)
}

// collection indexes d and ranks its queries by every method. The row holds the baseline, then evaluate.Runs.
func (b *bench) collection(ctx context.Context, name string, d *evaluate.Dataset) (row [5]float64, recall float64, err error) {
	err = b.indexed(ctx, d, func(e *app.Evaluation) error {
		report, err := e.Measure(ctx)
		if err != nil {
			return err
		}
		row[0] = rankWords(d)
		for i, s := range report.Runs {
			row[i+1] = s.NDCG10
			if s.Run == "hybrid" {
				recall = s.Recall100
			}
		}
		return b.ask(ctx, name, d, e)
	})
	return row, recall, err
}

func silent(string, int) func() { return func() {} }

func read(data, name string) (*evaluate.Dataset, error) {
	if name == "win32docs" {
		return readWin32(filepath.Join(data, name))
	}
	return evaluate.Read(filepath.Join(data, name))
}

// win32Distractors is the number of pages in the collection besides the relevant ones, and win32Chars the size of each in
// bytes: encoding whole pages, some of which are long tables, takes half an hour on two cores.
const (
	win32Distractors = 4000
	win32Chars       = 1500
)

// readWin32 returns the known-item queries with the beginnings of their 1,000 pages and of the first 4,000 others.
func readWin32(dir string) (*evaluate.Dataset, error) {
	d, err := evaluate.ReadQueries(filepath.Join(dir, "known-item"))
	if err != nil {
		return nil, err
	}
	d.Name = "win32docs"
	wanted := map[string]bool{}
	for _, j := range d.Judged {
		for id := range j {
			wanted[id] = true
		}
	}
	distractors := 0
	for i := range 4 {
		err := evaluate.Each(filepath.Join(dir, fmt.Sprintf("documents-%d.jsonl", i)), func(p page) error {
			if !wanted[p.ID] {
				if distractors == win32Distractors {
					return nil
				}
				distractors++
			}
			d.Documents = append(d.Documents, p.record())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// page is a page of win32docs.
type page struct {
	ID, Title string
	Sections  []struct{ Title, Text string }
}

func (p page) record() evaluate.Record {
	var text strings.Builder
	for _, s := range p.Sections {
		if s.Title != p.Title {
			text.WriteString(s.Title + "\n\n")
		}
		text.WriteString(s.Text + "\n\n")
	}
	return evaluate.Record{ID: p.ID, Title: p.Title, Text: cut(text.String(), win32Chars)}
}

// cut truncates text to at most n bytes, at white space if possible.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if i := strings.LastIndexAny(text[:n], " \n"); i > 0 {
		return text[:i]
	}
	return strings.ToValidUTF8(text[:n], "")
}
