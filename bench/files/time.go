package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"quarry/bench/service"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
	"quarry/internal/embed"
	"quarry/internal/extract"
	"quarry/internal/extract/samplefile"
	"quarry/internal/reader"
)

// used returns the processor time of this process and of its children that have ended.
func used() (time.Duration, error) {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			return 0, err
		}
		sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return sum, nil
}

// spent returns the processor time that do takes, and its error.
func spent(do func() error) (time.Duration, error) {
	before, err := used()
	if err != nil {
		return 0, err
	}
	err = do()
	after, failed := used()
	return after - before, errors.Join(err, failed)
}

// worker is the argument with which this program is a process that reads: a service starts those of its own build, and no others.
const worker = "worker"

// reading has files read as the service has them read, each so many times by one process, and returns the processor time with that of
// the process, its start included.
func reading(rounds int, files ...extract.Input) (time.Duration, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	return spent(func() error {
		pool := reader.New(reader.Config{Command: []string{program, worker}, Memory: 512 << 20, Time: time.Minute, Log: slog.Default()})
		defer pool.Close() // waits for the process, whose time counts from then on
		for range rounds {
			for _, f := range files {
				if _, err := pool.Read(context.Background(), f); err != nil {
					return fmt.Errorf("%s: %w", f.Name, err)
				}
			}
		}
		return nil
	})
}

// times measures processor time: of the kinds of files that only names, what a core reads in a second, and without it all.
func times(binary, samples string, only []string) error {
	fmt.Printf("| what | measured | bar |\n|---|---|---|\n")
	if len(only) == 0 {
		if err := besidePDF(samples); err != nil {
			return err
		}
	}
	if err := speeds(only); err != nil {
		return err
	}
	if err := sampled(samples, only); err != nil || len(only) > 0 {
		return err
	}
	return besideEncoder(binary, samples)
}

// besidePDF compares with pdftotext on the sample PDF files, rounds of both in turn.
func besidePDF(samples string) error {
	paths, err := filepath.Glob(filepath.Join(samples, "pdf", "sources", "*.pdf"))
	if err != nil || len(paths) == 0 {
		return errors.Join(err, errors.New("no PDF files"))
	}
	var files []extract.Input
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, extract.Input{Name: path, Data: data})
	}
	const rounds = 9
	var ratios []float64
	var ours, theirs time.Duration
	for range rounds {
		o, err := reading(1, files...)
		if err != nil {
			return err
		}
		t, err := spent(func() error {
			for _, path := range paths {
				if err := exec.Command("pdftotext", "-q", path, "-").Run(); err != nil {
					return fmt.Errorf("pdftotext %s: %w", path, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		ours, theirs, ratios = ours+o, theirs+t, append(ratios, o.Seconds()/t.Seconds())
	}
	slices.Sort(ratios)
	fmt.Printf("| %d PDF files, ours ÷ pdftotext | %.2f (%.2f to %.2f; %d ÷ %d ms) | ≤ 1.5 |\n", len(paths), ratios[rounds/2], ratios[0], ratios[rounds-1],
		ours.Milliseconds()/rounds, theirs.Milliseconds()/rounds)
	return nil
}

// speeds measures what one core reads in a second, of files of one kind that are written here.
func speeds(only []string) error {
	const paragraphs = 9_000
	texts := make([]string, paragraphs)
	for i := range texts {
		texts[i] = fmt.Sprintf("Valve %d of line %d opens at %d bar; its seal is changed every %d months.", i, i%97, i%13, i%31)
	}
	for _, kind := range slices.Concat(samplefile.Kinds, legacyKinds) {
		if len(only) > 0 && !slices.Contains(only, kind) {
			continue
		}
		write := samplefile.New
		if slices.Contains(legacyKinds, kind) {
			write = legacy
		}
		if err := speed(kind, 1, 6, extract.Input{Name: "a." + kind, Data: write(kind, texts...)}); err != nil {
			return err
		}
	}
	return nil
}

// sampled measures the same of the formats that only small samples are at hand of.
func sampled(samples string, only []string) error {
	for _, kind := range []string{"jats", "asciidoc"} {
		if len(only) > 0 && !slices.Contains(only, kind) {
			continue
		}
		paths, err := filepath.Glob(filepath.Join(samples, kind, "sources", "*"))
		if err != nil || len(paths) == 0 {
			return errors.Join(err, fmt.Errorf("no samples of %s", kind))
		}
		var files []extract.Input
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files = append(files, extract.Input{Name: path, Data: data})
		}
		if err := speed(kind, 5, 50, files...); err != nil {
			return err
		}
	}
	return nil
}

// speed prints what one core reads in a second of these files. They are read few times and many: the difference leaves out the start of
// the process.
func speed(kind string, few, many int, files ...extract.Input) error {
	var a amount
	for _, f := range files {
		doc, err := extract.Read(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		a.add(doc.Sections)
	}
	short, err := reading(few, files...)
	if err != nil {
		return err
	}
	long, err := reading(many, files...)
	if err != nil {
		return err
	}
	unit, n := a.in(kind)
	fmt.Printf("| %s, %s a second and core | %.0f | |\n", kind, unit, n*float64(many-few)/(long-short).Seconds())
	return nil
}

// besideEncoder compares the indexing of all sample files with the encoding of their passages alone.
func besideEncoder(binary, samples string) error {
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.Start(binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer p.Stop()
	if _, err := p.Must(http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "files"}); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(samples, "*", "sources", "*"))
	if err != nil {
		return err
	}
	before, err := tree(p)
	if err != nil {
		return err
	}
	encoders, err := embed.NewRegistry()
	if err != nil {
		return err
	}
	e, _ := encoders.Find("") // the default is always there
	files, passages, alone := 0, 0, time.Duration(0)
	seen := map[string]bool{}    // a service encodes equal files once
	for _, path := range paths { // in turn, so that both sides meet the same load of the machine
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if seen[string(data)] {
			continue
		}
		seen[string(data)] = true
		in := extract.Input{Name: filepath.Base(filepath.Dir(filepath.Dir(path))) + "/" + filepath.Base(path), Data: data}
		status, _, err := upload(p, in.Name, data, false)
		if err != nil {
			return err
		}
		if status != http.StatusCreated {
			continue
		}
		took, n, err := encoding(e, in)
		if err != nil {
			return err
		}
		files, passages, alone = files+1, passages+n, alone+took
	}
	after, err := tree(p)
	if err != nil {
		return err
	}
	fmt.Printf("| %d sample files of all kinds, %d passages: indexing ÷ encoding alone | %.2f (%.1f ÷ %.1f s) | ≤ 1.33 |\n",
		files, passages, (after-before).Seconds()/alone.Seconds(), (after - before).Seconds(), alone.Seconds())
	return nil
}

// tree returns the processor time of the service and of the processes that it has.
func tree(p *service.Process) (time.Duration, error) {
	sum, err := p.ProcessorTime()
	for _, c := range p.Children() {
		t, failed := c.ProcessorTime()
		sum, err = sum+t, errors.Join(err, failed)
	}
	return sum, err
}

// encoding returns the processor time that the passages of a file take to encode, headings included, as a service has them encoded and
// without anything else.
func encoding(e embed.Encoder, f extract.Input) (took time.Duration, passages int, err error) {
	texts, err := passagesOf(f)
	if err != nil {
		return 0, 0, err
	}
	const batch = 256 // as the service has it
	for some := range slices.Chunk(texts, batch) {
		out := make([][]float32, len(some))
		for i := range out {
			out[i] = make([]float32, e.Dim())
		}
		t, err := spent(func() error { return embed.EncodeLong(context.Background(), e, embed.Passage, some, out) })
		if err != nil {
			return 0, 0, err
		}
		took += t
	}
	return took, len(texts), nil
}

// passagesOf returns what a service has encoded of a file.
func passagesOf(f extract.Input) ([]string, error) {
	store := documenttest.New(corpus.Corpus{Key: "files", Enabled: true})
	encoder := &documenttest.Encoder{}
	s := ingest.New(ingest.Config{Corpora: store.Corpora(), Documents: store, Encoders: encoder, Index: store})
	if _, err := s.Upload(context.Background(), "files", ingest.Upload{ID: f.Name, Name: f.Name, Data: f.Data}); err != nil {
		return nil, err
	}
	texts, _, _ := encoder.Asked()
	return texts, nil
}
