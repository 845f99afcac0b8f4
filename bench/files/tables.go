package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/bench/service"
)

// plumber prints the cells of the tables that pdfplumber finds in a file, as JSON.
const plumber = `
import json, sys, pdfplumber
with pdfplumber.open(sys.argv[1]) as f:
    print(json.dumps([c or "" for p in f.pages for t in p.extract_tables() for r in t for c in r]))
`

// rightToLeft matches letters of scripts that are written so; pdftotext and we do not agree on how their words are told apart.
var rightToLeft = regexp.MustCompile(`\p{Arabic}|\p{Hebrew}`)

// tables compares PDF files: the cells of their tables, beside pdfplumber where a Python has it, and all of their words with pdftotext's.
func tables(binary, samples, python string) error {
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
	files, err := filepath.Glob(filepath.Join(samples, "*", "sources", "*.pdf"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("no PDF files in %s", samples))
	}
	fmt.Printf("| file | cells F1 | pdfplumber's | words F1, with pdftotext | with tables looked for |\n|---|---|---|---|---|\n")
	var cells, beside, plain, found []float64
	for _, file := range files {
		r, err := comparePDF(p, file, python)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		fmt.Printf("| %s | %s | %s | %s | %s |\n", filepath.Base(file), figure(r.cells >= 0, r.cells), figure(r.plumber >= 0, r.plumber), figure(r.words >= 0, r.words), figure(r.tabled >= 0, r.tabled))
		if r.cells >= 0 {
			cells = append(cells, r.cells)
		}
		if r.plumber >= 0 {
			beside = append(beside, r.plumber)
		}
		if r.words >= 0 {
			plain, found = append(plain, r.words), append(found, r.tabled)
		}
	}
	fmt.Printf("\n| what | measured | bar |\n|---|---|---|\n")
	fmt.Printf("| %d files with tables, cells F1, mean | %.3f (pdfplumber %s) | ≥ 0.65 |\n", len(cells), mean(cells), figure(len(beside) > 0, mean(beside)))
	fmt.Printf("| %d files from left to right, words F1 with pdftotext, mean, least | %.3f, %.3f (with tables looked for %.3f, %.3f) | ≥ 0.97, ≥ 0.9 |\n",
		len(plain), mean(plain), slices.Min(plain), mean(found), slices.Min(found))
	return nil
}

// compared is what a PDF has in common with what others find in it, -1 where nothing is compared.
type compared struct{ cells, plumber, words, tabled float64 }

func comparePDF(p *service.Process, file, python string) (compared, error) {
	out := compared{-1, -1, -1, -1}
	data, err := os.ReadFile(file)
	if err != nil {
		return out, err
	}
	read := func(tables bool) (d document, err error) {
		id := fmt.Sprint(filepath.Base(file), " ", tables)
		status, answer, err := upload(p, id, data, tables)
		if err != nil || status != http.StatusCreated {
			return d, errors.Join(err, fmt.Errorf("%d %s", status, answer))
		}
		raw, err := p.Must(http.StatusOK, "GET", "/v2/corpora/files/documents/"+url.PathEscape(id), nil)
		if err != nil {
			return d, err
		}
		return d, json.Unmarshal(raw, &d)
	}
	plain, err := read(false)
	if err != nil {
		return out, err
	}
	found, err := read(true)
	if err != nil {
		return out, err
	}
	want, err := expectation(file)
	if err != nil {
		return out, err
	}
	if cells := keys(markdownCells(want)); len(cells) > 0 {
		out.cells = f1(cells, found.cells())
		if python != "" {
			theirs, err := plumbed(python, file)
			if err != nil {
				return out, err
			}
			out.plumber = f1(cells, theirs)
		}
	}
	text, err := exec.Command("pdftotext", "-q", "-enc", "UTF-8", file, "-").Output()
	if err != nil {
		return out, fmt.Errorf("pdftotext: %w", err)
	}
	if len(rightToLeft.FindAll(text, 100)) < 100 {
		out.words, out.tabled = wordsF1(words(string(text)), words(plain.text())), wordsF1(words(string(text)), words(found.text()))
	}
	return out, nil
}

// plumbed returns the cells that pdfplumber finds.
func plumbed(python, file string) (cells []string, err error) {
	var complaints bytes.Buffer
	c := exec.Command(python, "-c", plumber, file)
	c.Stderr = &complaints
	raw, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("pdfplumber: %w: %s", err, strings.TrimSpace(complaints.String()))
	}
	return cells, json.Unmarshal(raw, &cells)
}

// wordsF1 compares words as multisets.
func wordsF1(a, b []string) float64 {
	share, _ := recall(a, b)
	return 2 * share * float64(len(a)) / float64(max(len(a)+len(b), 1))
}
