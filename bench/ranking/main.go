// Command ranking measures ranking quality on every test collection of ../shared/data and prints the tables of
// docs/benchmarks.md: lexical, dense, hybrid and default nDCG@10, with the mean of the seven English sets. It ranks
// through the same code as the HTTP query.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/evaluate"
)

var english = []string{"scifact", "cranfield", "cacm", "cisi", "pubmedqa", "win32docs", "xquad/en"}

var others = []string{"xquad/de", "xquad/es", "xquad/ru", "xquad/zh", "xquad/ar", "xquad/hi"}

func main() {
	data := flag.String("data", "../shared/data", "folder of the collections")
	only := flag.String("only", "", "comma list of collections; default all")
	flag.Parse()
	if _, err := os.Stat(*data); err != nil {
		fmt.Println("skipped: the collections are not at", *data)
		return
	}
	if err := run(*data, *only); err != nil {
		fmt.Fprintln(os.Stderr, "ranking:", err)
		os.Exit(1)
	}
}

func run(data, only string) error {
	names := append(append([]string{}, english...), others...)
	if only != "" {
		names = strings.Split(only, ",")
	}
	fmt.Println("| collection | documents | queries | lexical | dense | hybrid | default | hybrid recall@100 |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	sums, count := map[string]float64{}, 0
	for _, name := range names {
		d, err := read(data, name)
		if err != nil {
			return err
		}
		report, err := app.Evaluate(context.Background(), config.Default(), d, silent)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		by := map[string]evaluate.Score{}
		for _, s := range report.Runs {
			by[s.Run] = s
		}
		fmt.Printf("| %s | %d | %d | %.4f | %.4f | %.4f | %.4f | %.4f |\n", name, len(d.Documents), len(d.Queries),
			by["lexical"].NDCG10, by["dense"].NDCG10, by["hybrid"].NDCG10, by["default"].NDCG10, by["hybrid"].Recall100)
		if isEnglish(name) {
			count++
			for run, s := range by {
				sums[run] += s.NDCG10
			}
		}
	}
	if count == len(english) {
		n := float64(count)
		fmt.Printf("| **mean of the seven English sets** | | | **%.4f** | **%.4f** | **%.4f** | **%.4f** | |\n",
			sums["lexical"]/n, sums["dense"]/n, sums["hybrid"]/n, sums["default"]/n)
	}
	return nil
}

func isEnglish(name string) bool {
	for _, e := range english {
		if e == name {
			return true
		}
	}
	return false
}

func silent(string, int) func() { return func() {} }

func read(data, name string) (*evaluate.Dataset, error) {
	if name == "win32docs" {
		return readWin32(filepath.Join(data, name))
	}
	return evaluate.Read(filepath.Join(data, name))
}

// win32Distractors is how many pages besides the wanted ones stand in the collection, and win32Chars how much of each
// page: whole pages, some of them long tables, take half an hour to encode on two cores.
const (
	win32Distractors = 4000
	win32Chars       = 1500
)

// readWin32 gives the known-item queries over the beginnings of their 1,000 pages and of the first 4,000 others.
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
		err := eachPage(filepath.Join(dir, fmt.Sprintf("documents-%d.jsonl.gz", i)), func(r evaluate.Record) {
			if !wanted[r.ID] {
				if distractors == win32Distractors {
					return
				}
				distractors++
			}
			d.Documents = append(d.Documents, r)
		})
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func eachPage(name string, use func(evaluate.Record)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(make([]byte, 1<<20), 64<<20)
	for lines.Scan() {
		var page struct {
			ID, Title string
			Sections  []struct{ Title, Text string }
		}
		if err := json.Unmarshal(lines.Bytes(), &page); err != nil {
			return err
		}
		var text strings.Builder
		for _, s := range page.Sections {
			if s.Title != page.Title {
				text.WriteString(s.Title + "\n\n")
			}
			text.WriteString(s.Text + "\n\n")
		}
		use(evaluate.Record{ID: page.ID, Title: page.Title, Text: cut(text.String(), win32Chars)})
	}
	return lines.Err()
}

// cut shortens text to n bytes at most, at a white space.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if i := strings.LastIndexAny(text[:n], " \n"); i > 0 {
		return text[:i]
	}
	return strings.ToValidUTF8(text[:n], "")
}
