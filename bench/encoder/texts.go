package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"quarry/internal/query/evaluate"
)

// sources are files in the data folder with texts of different kinds and languages.
var sources = []string{
	"scifact/corpus.jsonl", "cranfield/corpus.jsonl", "cacm/corpus.jsonl", "cisi/corpus.jsonl", "pubmedqa/corpus.jsonl",
	"win32docs/documents-0.jsonl", "xquad/en/corpus.jsonl", "xquad/de/corpus.jsonl", "xquad/ru/corpus.jsonl", "xquad/zh/corpus.jsonl",
	"xquad/en/queries.jsonl", "scifact/queries.jsonl", "pubmedqa/queries.jsonl", "xquad/es/queries.jsonl",
}

// sample returns n texts, taken from the sources as evenly as possible.
func sample(dir string, n int) ([]string, error) {
	var texts []string
	for i, name := range sources {
		share := (n - len(texts)) / (len(sources) - i)
		more, err := read(filepath.Join(dir, filepath.FromSlash(name)), share)
		if err != nil {
			return nil, fmt.Errorf("test collections: %w", err)
		}
		texts = append(texts, more...)
	}
	return texts, nil
}

// read returns an even sample of n texts from a file of JSON lines.
func read(path string, n int) ([]string, error) {
	type text struct{ Title, Text string }
	var all []string
	err := evaluate.Each(path, func(t text) error {
		if text := strings.TrimSpace(t.Title + " " + t.Text); text != "" {
			all = append(all, text)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	step := max(1, len(all)/max(1, n))
	var out []string
	for i := 0; i < len(all) && len(out) < n; i += step {
		out = append(out, all[i])
	}
	return out, nil
}
