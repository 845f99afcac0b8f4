package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// sources are files under the data folder, each with texts of another kind or language.
var sources = []string{
	"scifact/corpus.jsonl.gz", "cranfield/corpus.jsonl.gz", "cacm/corpus.jsonl.gz", "cisi/corpus.jsonl.gz", "pubmedqa/corpus.jsonl.gz",
	"win32docs/documents-0.jsonl.gz", "xquad/en/corpus.jsonl.gz", "xquad/de/corpus.jsonl.gz", "xquad/ru/corpus.jsonl.gz", "xquad/zh/corpus.jsonl.gz",
	"xquad/en/queries.jsonl", "scifact/queries.jsonl", "pubmedqa/queries.jsonl", "xquad/es/queries.jsonl",
}

// sample takes n texts in all, as evenly as the sources allow.
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

// read takes n texts spread over a file of JSON lines.
func read(path string, n int) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var all []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var d struct{ Title, Text string }
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if text := strings.TrimSpace(d.Title + " " + d.Text); text != "" {
			all = append(all, text)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	step := max(1, len(all)/max(1, n))
	var out []string
	for i := 0; i < len(all) && len(out) < n; i += step {
		out = append(out, all[i])
	}
	return out, nil
}
