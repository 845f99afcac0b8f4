// Command first measures the first hour of a new user: a clone, the build with empty caches, the start, a folder indexed,
// the first answer, and what lies on the disk afterwards. Modules come from wherever this machine gets them, so the
// time of the download is a fact about its network. The results are for docs/benchmarks.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"quarry/bench/service"
)

func main() {
	source := flag.String("source", ".", "the repository to clone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *source)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "first:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, source string) error {
	work, err := os.MkdirTemp("", "quarry-first-")
	if err != nil {
		return err
	}
	defer remove(work)
	n := newcomer{ctx: ctx, work: work, began: time.Now(), env: append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=",
		"GOMODCACHE="+filepath.Join(work, "modules"), "GOCACHE="+filepath.Join(work, "builds"), "XDG_CACHE_HOME="+filepath.Join(work, "cache"),
		"QUARRY_DATA="+filepath.Join(work, "data"))}
	for _, step := range []struct {
		name, dir string
		args      []string
	}{
		{"clone", ".", []string{"git", "clone", "--quiet", source, filepath.Join(work, "quarry")}},
		{"download modules", n.clone(), []string{"go", "mod", "download", "-x"}},
		{"build", n.clone(), []string{"make", "--silent", "build"}},
	} {
		if err := n.step(step.name, step.dir, step.args...); err != nil {
			return err
		}
	}
	server, err := service.Start(filepath.Join(n.clone(), "quarry"), filepath.Join(work, "data"))
	if err != nil {
		return err
	}
	defer server.Stop()
	fmt.Printf("%-24s %6.1f s\n", "start, first answer", server.Took.Seconds())
	for _, args := range [][]string{{"index", "docs"}, {"ask", "docs", "when is a write acknowledged?"}} {
		if err := n.step("quarry "+args[0], n.clone(), append([]string{"./quarry"}, args...)...); err != nil {
			return err
		}
	}
	fmt.Printf("%-24s %6.1f s\n", "together", time.Since(n.began).Seconds())
	for _, place := range []string{"modules", "builds", "data", "quarry/quarry"} {
		fmt.Printf("%-24s %6.0f MB\n", "on disk: "+place, float64(size(filepath.Join(work, place)))/1e6)
	}
	return nil
}

// newcomer is somebody whose machine has Go and nothing of Quarry.
type newcomer struct {
	ctx   context.Context
	work  string
	env   []string
	began time.Time
}

func (n *newcomer) clone() string { return filepath.Join(n.work, "quarry") }

func (n *newcomer) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(n.ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, n.env
	return cmd
}

// step runs a command and prints how long it took.
func (n *newcomer) step(name, dir string, args ...string) error {
	began := time.Now()
	if out, err := n.command(dir, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	fmt.Printf("%-24s %6.1f s\n", name, time.Since(began).Seconds())
	return nil
}

// size returns the bytes of the files below path.
func size(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// remove deletes a folder with the modules inside, which go makes read-only.
func remove(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
