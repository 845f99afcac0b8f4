// Command consistency measures the factual-consistency score on sets of texts that people have judged: how well it
// separates supported from unsupported texts, compared with word overlap and cosine similarity, where each set is scored
// with weights fitted on the others; how much wrong numbers, names and negations lower it; how well it is calibrated; and
// how long it takes. With -fit it prints the weights that the product ships, which are fitted on all sets.
package main

import (
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"quarry/internal/answer/verify"
	"quarry/internal/cpu"
	"quarry/internal/embed"
)

func main() {
	data := flag.String("data", filepath.Join("..", "shared", "data"), "folder of the collections")
	keep := flag.String("states", "", "file that caches the encoder's output")
	fitAll := flag.Bool("fit", false, "print the weights fitted on all sets")
	flag.BoolVar(&verbose, "v", false, "print the changes that did not lower the score")
	flag.Parse()
	if err := run(context.Background(), *data, *keep, *fitAll); err != nil {
		fmt.Fprintln(os.Stderr, "consistency:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data, keep string, fitAll bool) error {
	if _, err := os.Stat(filepath.Join(data, "qags")); errors.Is(err, fs.ErrNotExist) {
		fmt.Println("no collections at", data, "- nothing measured")
		return nil
	}
	encoders, err := embed.NewRegistry()
	if err != nil {
		return err
	}
	e, err := encoders.Get("")
	if err != nil {
		return err
	}
	m := &memory{Reader: e.(embed.Reader), seen: map[string]embed.States{}}
	if err := m.load(keep); err != nil {
		return err
	}
	fmt.Printf("encoder %s, %s kernels\n\n", e.Name(), cpu.Current())
	s := verify.New(verify.Config{Encoder: m})
	sets, err := readSets(data)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if err := set.examine(ctx, s); err != nil {
			return err
		}
	}
	reportSets(sets)
	reportRules(sets)
	reportHalves(sets, 0)
	reportRates(sets)
	reportFlat(sets)
	if fitAll {
		fmt.Printf("shipped weights, fitted on all sets:\n%+v\n\n", fit(sets))
	}
	if err := reportSwaps(ctx, s, sets); err != nil {
		return err
	}
	reportCalibration(sets)
	if err := m.save(keep); err != nil {
		return err
	}
	return reportTime(ctx, verify.New(verify.Config{Encoder: e}), sets)
}

// memory is an encoder that caches its output.
type memory struct {
	embed.Reader
	seen    map[string]embed.States
	changed bool // since load
}

func (m *memory) States(ctx context.Context, texts []string) ([]embed.States, error) {
	var missing []string
	for _, t := range texts {
		if _, ok := m.seen[t]; !ok {
			missing = append(missing, t)
		}
	}
	fresh, err := m.Reader.States(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, t := range missing {
		m.seen[t], m.changed = fresh[i], true
	}
	out := make([]embed.States, len(texts))
	for i, t := range texts {
		out[i] = m.seen[t]
	}
	return out, nil
}

func (m *memory) load(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewDecoder(f).Decode(&m.seen)
}

func (m *memory) save(file string) error {
	if file == "" || !m.changed {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(f).Encode(m.seen), f.Close())
}

// reportTime prints the time of scoring texts without a cache.
func reportTime(ctx context.Context, s *verify.Service, sets []*set) error {
	fmt.Println("time of a score, nothing encoded before")
	for _, set := range sets {
		var took []time.Duration
		sources := 0
		for i := 0; i < len(set.cases) && len(took) < 40; i += 1 + len(set.cases)/40 {
			c := set.cases[i]
			start := time.Now()
			if _, err := s.Score(ctx, c.claim()); err != nil {
				return err
			}
			took = append(took, time.Since(start))
			sources += len(c.Source)
		}
		slices.Sort(took)
		fmt.Printf("  %-20s p50 %8v  p95 %8v  (sources of %d bytes on average)\n", set.name,
			took[len(took)/2].Round(time.Microsecond*100), took[len(took)*95/100].Round(time.Microsecond*100), sources/len(took))
	}
	return nil
}
