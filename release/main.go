// Command release builds what people download: for each platform an archive with the stripped program, the licences of all
// that it contains, a list of its parts in the CycloneDX format, and the checksums. The same commit gives the same
// bytes, wherever it is built; -twice proves it.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	var r release
	targets := flag.String("targets", "", "platforms such as linux/amd64, comma-separated; default: all")
	flag.StringVar(&r.version, "version", "", "version to build; default: what git describe answers")
	flag.StringVar(&r.out, "out", "dist", "folder for the files; what an earlier build left there is removed")
	twice := flag.Bool("twice", false, "build each platform in two copies of the commit, one of them with an empty cache, and compare, instead of releasing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := r.choose(*targets)
	switch {
	case err != nil:
	case *twice:
		err = r.compare(ctx)
	default:
		err = r.build(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one build of all its targets.
type release struct {
	version string
	out     string
	targets []target
	commit  string
	made    time.Time // of the commit: the only time that is written anywhere
}

// choose sets the targets by their names, "" for all.
func (r *release) choose(names string) error {
	if r.targets = every; names == "" {
		return nil
	}
	r.targets = nil
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(every, func(t target) bool { return t.String() == name })
		if i < 0 {
			return fmt.Errorf("there is no platform %q; there are %v", name, every)
		}
		r.targets = append(r.targets, every[i])
	}
	return nil
}

// describe sets the version, unless it is given, and the commit with its time.
func (r *release) describe(ctx context.Context) error {
	described, err := git(ctx, "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return err
	}
	r.version = cmp.Or(r.version, strings.TrimPrefix(described, "v"))
	last, err := git(ctx, "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(last, " ")
	r.commit = commit
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.made = time.Unix(n, 0).UTC()
	return err
}

func (r *release) stamp() stamp { return stamp{r.version, r.commit, r.made.Format(time.RFC3339)} }

// build writes the archives of all targets, their list of parts and the checksums.
func (r *release) build(ctx context.Context) error {
	if err := r.describe(ctx); err != nil {
		return err
	}
	if err := clear(r.out); err != nil {
		return err
	}
	parts, err := inventory(ctx, every)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "quarry-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, t := range r.targets {
		began := time.Now()
		binary := filepath.Join(work, t.os+"-"+t.arch, t.program())
		if err := t.build(ctx, ".", binary, r.stamp()); err != nil {
			return err
		}
		archive := filepath.Join(r.out, r.name(t)+t.ending())
		if err := pack(archive, r.name(t), r.made, contents(binary, parts)); err != nil {
			return err
		}
		report(archive, binary, time.Since(began))
	}
	bill, err := billOfMaterials(r.version, r.made, parts)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "quarry-"+r.version+".cdx.json"), bill, 0o644); err != nil {
		return err
	}
	return sum(r.out)
}

// name returns the name of an archive without its ending, which is also the folder inside.
func (r *release) name(t target) string { return "quarry-" + r.version + "-" + t.os + "-" + t.arch }

// report prints what was built, its size and how long that took.
func report(archive, binary string, took time.Duration) {
	size := func(path string) float64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return float64(info.Size()) / 1e6
	}
	fmt.Printf("%-46s %5.1f MB, program %5.1f MB, %3.0f s\n", filepath.Base(archive), size(archive), size(binary), took.Seconds())
}

// compare builds each target in two fresh clones at different paths and returns an error unless the programs are equal byte by byte.
// One is made with what the cache of the machine has, which was compiled in other places, the other from nothing in a cache of its own.
func (r *release) compare(ctx context.Context) error {
	if err := r.describe(ctx); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "quarry-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, t := range r.targets {
		var sums []string
		for _, place := range []string{"one", "another/place"} {
			dir := filepath.Join(work, place)
			var cache []string
			if len(sums) > 0 {
				cache = []string{"GOCACHE=" + filepath.Join(dir, "cache")}
			}
			if _, err := git(ctx, "clone", "--quiet", ".", filepath.Join(dir, "quarry")); err != nil {
				return err
			}
			binary := filepath.Join(dir, "built", t.program())
			if err := t.build(ctx, filepath.Join(dir, "quarry"), binary, r.stamp(), cache...); err != nil {
				return err
			}
			raw, err := os.ReadFile(binary)
			if err != nil {
				return err
			}
			sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(raw)))
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		if sums[0] != sums[1] {
			return fmt.Errorf("%s: two builds of one commit differ: %s and %s", t, sums[0], sums[1])
		}
		fmt.Printf("%s: two builds are equal, sha256 %s\n", t, sums[0])
	}
	return nil
}

// clear makes an empty folder for a release. It removes only what a release consists of.
func clear(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, pattern := range []string{"quarry-*.tar.gz", "quarry-*.zip", "quarry-*.cdx.json", sums} {
		old, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// sums is the file with the checksums, as sha256sum --check reads it.
const sums = "SHA256SUMS"

// sum writes the checksums of the files in dir.
func sum(dir string) error {
	all, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), "quarry-") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(raw), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, sums), []byte(list.String()), 0o644)
}

// git runs git in the working folder and returns what it prints.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
