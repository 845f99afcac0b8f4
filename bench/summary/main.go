// Command summary measures the summaries of the embedded generator and prints the tables of docs/benchmarks.md, section
// Summaries: how much of what people wrote about a document is in its summary, and how long a long document takes over HTTP.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the collections; empty for the time alone")
	most := flag.Int("documents", 200, "documents of each collection, evenly sampled; 0 for all")
	show := flag.Int("show", 0, "so many documents of each collection are printed with their summaries")
	binary := flag.String("binary", "", "the program, to time a long document over HTTP; empty for the collections alone")
	parts := flag.Int("parts", 10_000, "parts of the long document")
	flag.Parse()
	err := collections(context.Background(), *data, *most, *show)
	if err == nil && *binary != "" {
		err = timed(*binary, *parts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

// collections prints how close summaries are to what people wrote.
func collections(ctx context.Context, folder string, most, show int) error {
	if _, err := os.Stat(folder); folder == "" || err != nil {
		fmt.Println("skipped: the collections are not at", folder)
		return nil
	}
	encoders, err := embed.NewRegistry()
	if err != nil {
		return err
	}
	m := measurer{encoders: encoders, model: builtin.New(encoders)}
	fmt.Println("| collection | documents | sentences | ROUGE-1 / ROUGE-2 recall: with vectors | without | first | ROUGE-1 / ROUGE-2 F1: with vectors | without | first | nearness: with vectors | without | first |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range []struct {
		name string
		read func(folder string) ([]text, error)
	}{{"pubmedqa", readAbstracts}, {"qags", readNews}, {"win32docs", readPages}} {
		all, err := c.read(filepath.Join(folder, c.name))
		if err != nil {
			return err
		}
		if most > 0 && len(all) > most {
			all = spread(all, most)
		}
		if err := m.run(ctx, c.name, all, show); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// spread returns n of all texts, evenly.
func spread(all []text, n int) []text {
	out := make([]text, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// measurer measures collections.
type measurer struct {
	encoders *embed.Registry
	model    *builtin.Provider
}

// scores are sums over documents.
type scores struct{ recall1, recall2, f1, f2, near float64 }

func (s scores) over(n float64) scores {
	return scores{s.recall1 / n, s.recall2 / n, s.f1 / n, s.f2 / n, s.near / n}
}

func (m *measurer) run(ctx context.Context, name string, all []text, show int) error {
	var with, without, first scores
	n, sentences := 0.0, 0.0
	for i, t := range all {
		document, err := m.evidence(ctx, t)
		if err != nil {
			return err
		}
		if len(document) < 5 {
			continue
		}
		chosen, err := m.summarize(ctx, document)
		if err != nil {
			return err
		}
		bare := make([]llm.Evidence, len(document))
		for j, e := range document {
			e.Vector = nil
			bare[j] = e
		}
		plain, err := m.summarize(ctx, bare)
		if err != nil {
			return err
		}
		n++
		sentences += float64(len(chosen))
		lead := opening(document, len(chosen))
		with.add(chosen, t.reference, document)
		without.add(plain, t.reference, document)
		first.add(lead, t.reference, document)
		if i < show {
			fmt.Fprintf(os.Stderr, "== %s: %s\n", t.title, t.reference)
			for _, s := range chosen {
				fmt.Fprintln(os.Stderr, "  *", s)
			}
			for _, s := range plain {
				fmt.Fprintln(os.Stderr, "  -", s)
			}
		}
	}
	w, p, f := with.over(n), without.over(n), first.over(n)
	fmt.Printf("| %s | %.0f | %.1f | %.3f / %.3f | %.3f / %.3f | %.3f / %.3f | %.3f / %.3f | %.3f / %.3f | %.3f / %.3f | %.3f | %.3f | %.3f |\n", name, n, sentences/n,
		w.recall1, w.recall2, p.recall1, p.recall2, f.recall1, f.recall2, w.f1, w.f2, p.f1, p.f2, f.f1, f.f2, w.near, p.near, f.near)
	return nil
}

// summarize returns the sentences of a summary.
func (m *measurer) summarize(ctx context.Context, document []llm.Evidence) (out []string, err error) {
	_, err = m.model.Stream(ctx, llm.Request{Evidence: document, Summarize: true}, func(e llm.Event) error {
		out = append(out, e.Text)
		return nil
	})
	return out, err
}
