// Command console measures what the console weighs and how quick it is: the bytes that browsers load, the program and its build with
// and without it, its start, and, by the benchmarks of test/browser, the time to the first corpora, the tasks while a long answer
// comes, and the list of very many documents. Those live in the module of the tests in a browser, since the product's own module must
// not depend on a driver of browsers; they need Chromium, and web/node_modules. The results are for docs/benchmarks.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"quarry/bench/service"
)

func main() {
	documents := flag.Int("documents", 100_000, "documents in the long list")
	build := flag.Bool("build", true, "build the program with and without the console, twice from an empty cache")
	browser := flag.Bool("browser", true, "run the benchmarks in a browser")
	flag.Parse()
	if err := run(*documents, *build, *browser); err != nil {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func run(documents int, build, browser bool) error {
	if err := shown("go", "test", "-count=1", "-v", "-run", "TestSize", "./internal/console"); err != nil {
		return err
	}
	if build {
		if err := programs(); err != nil {
			return err
		}
	}
	if !browser {
		return nil
	}
	return shown("go", "test", "-C", "test/browser", "-timeout", "60m", "-run", "^$", "-bench", ".", "-benchtime", "1x", ".", "-documents", strconv.Itoa(documents))
}

// shown runs a program and shows what it prints.
func shown(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %q: %w", name, args, err)
	}
	return nil
}

// starts is how often each program is started.
const starts = 9

// programs builds the program with the console and without, and starts both by turns.
func programs() error {
	work, err := os.MkdirTemp("", "quarry-console-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	overlay, err := without(work)
	if err != nil {
		return err
	}
	kinds := []string{"with", "without"}
	for i, args := range [][]string{nil, {"-overlay", overlay}} {
		program := filepath.Join(work, kinds[i])
		cache := filepath.Join(work, "cache-"+kinds[i])
		first, err := compile(program, cache, args)
		if err != nil {
			return err
		}
		full, err := os.Stat(program)
		if err != nil {
			return err
		}
		if _, err := compile(program, cache, append(args, "-ldflags", "-s -w")); err != nil {
			return err
		}
		stripped, err := os.Stat(program)
		if err != nil {
			return err
		}
		fmt.Printf("%-8s the console: %.2f MB, %.2f MB stripped, built in %.1f s from an empty cache\n", kinds[i], float64(full.Size())/1e6, float64(stripped.Size())/1e6, first.Seconds())
	}
	took := map[string][]time.Duration{}
	for i := range starts {
		for _, kind := range kinds {
			p, err := service.Start(filepath.Join(work, kind), filepath.Join(work, fmt.Sprint("data", i)))
			if err != nil {
				return err
			}
			p.Stop()
			took[kind] = append(took[kind], p.Took)
		}
	}
	for _, kind := range kinds {
		slices.Sort(took[kind])
		fmt.Printf("%-8s the console: start to the first answer, p50 of %d: %v\n", kind, starts, took[kind][starts/2].Round(time.Millisecond))
	}
	return nil
}

// compile builds the program with a cache of its own and returns how long it took.
func compile(program, cache string, args []string) (time.Duration, error) {
	began := time.Now()
	cmd := exec.Command("go", append([]string{"build", "-o", program}, append(args, "./cmd/quarry")...)...)
	cmd.Env = append(os.Environ(), "GOCACHE="+cache, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build: %w\n%s", err, out)
	}
	return time.Since(began), nil
}

// without writes an overlay for builds in which every file of the console is empty.
func without(work string) (string, error) {
	empty := filepath.Join(work, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		return "", err
	}
	replaced := map[string]string{}
	err := filepath.WalkDir(filepath.Join("internal", "console", "dist"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, err = filepath.Abs(path)
		replaced[path] = empty
		return err
	})
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, raw, 0o600)
}
