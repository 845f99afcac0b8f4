// Command folder measures quarry index on a folder of many files: the first run, a second one when nothing has changed,
// and one when a few files have, compared with those files alone. It needs a built binary. The results are for
// docs/benchmarks.md.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"quarry/bench/service"
)

type settings struct {
	binary, dir     string
	files, changed  int
	short, extended int // sentences of a file, and of one that changes
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "binary", "./quarry", "the program")
	flag.StringVar(&s.dir, "dir", "", "folder to work in; default: a temporary one")
	flag.IntVar(&s.files, "files", 10_000, "files of the folder")
	flag.IntVar(&s.changed, "changed", 10, "files that change")
	flag.IntVar(&s.short, "short", 1, "sentences of a file")
	flag.IntVar(&s.extended, "extended", 150, "sentences of a file that changes")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "folder:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	dir, remove, err := service.Folder(s.dir)
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.Start(s.binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer p.Stop()
	tree, few := filepath.Join(dir, "tree"), filepath.Join(dir, "few")
	if err := errors.Join(s.write(tree, s.files, "first"), s.write(few, s.changed, "alone")); err != nil {
		return err
	}
	c := command{s, dir, p}
	first, err := c.index(tree, "%d new, 0 changed", s.files)
	if err != nil {
		return err
	}
	second, err := c.index(tree, "0 new, 0 changed, %d unchanged", s.files)
	if err != nil {
		return err
	}
	alone, err := c.index(few, "%d new, 0 changed", s.changed)
	if err != nil {
		return err
	}
	if err := s.write(tree, s.changed, "second"); err != nil {
		return err
	}
	third, err := c.index(tree, "0 new, %d changed", s.changed)
	if err != nil {
		return err
	}
	fmt.Printf("| what | measured | bar |\n|---|---|---|\n")
	fmt.Printf("| first run, %d files | %s, %.0f files/s, %d MB | |\n", s.files, first.took.Round(time.Second), float64(s.files)/first.took.Seconds(), first.memory>>20)
	fmt.Printf("| second run, nothing changed | %s, %d MB | ≤ 10 s, ≤ 100 MB |\n", second.took.Round(10*time.Millisecond), second.memory>>20)
	fmt.Printf("| %d files of %d sentences alone | %s | |\n", s.changed, s.extended, alone.took.Round(10*time.Millisecond))
	fmt.Printf("| the same number changed among %d | %s, %d MB | |\n", s.files, third.took.Round(10*time.Millisecond), third.memory>>20)
	fmt.Printf("| changed ÷ alone | %.2f | ≤ 1.5 |\n", third.took.Seconds()/alone.took.Seconds())
	return nil
}

// write writes n files into dir; the ones that change are long. No two versions have a sentence in common.
func (s settings) write(dir string, n int, version string) error {
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("%02d", i%50), fmt.Sprintf("%05d.md", i))
		sentences := s.short
		if i < s.changed {
			sentences = s.extended
		}
		var text strings.Builder
		fmt.Fprintf(&text, "# Note %d\n\n", i)
		for k := range sentences {
			fmt.Fprintf(&text, "In the %s version of note %d, step %d turns valve %d until gauge %d shows %d bar.\n", version, i, k, i*7+k, k, (i+k)%90)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

type command struct {
	settings
	dir string
	p   *service.Process
}

// measured is a run of the command.
type measured struct {
	took   time.Duration
	memory int64 // the most that it had resident, in bytes
}

// index runs quarry index, whose last line must hold want.
func (c command) index(folder, want string, n int) (measured, error) {
	cmd := exec.Command(c.binary, "index", folder, "--url", "http://"+c.p.Address(), "--key", c.p.Key())
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(c.dir, "cache"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	began := time.Now()
	err := cmd.Run()
	m := measured{took: time.Since(began)}
	if want = fmt.Sprintf(want, n); err == nil && !strings.Contains(out.String(), want) {
		err = fmt.Errorf("%s: got %q, want %q", folder, out.String(), want)
	}
	if err == nil {
		m.memory = peak(cmd.ProcessState)
	}
	return m, err
}
