// Command files measures what becomes of files: it uploads each sample file, reads the document back and compares its words and the
// cells of its tables with what another parser found. Other parts measure the time and the memory that reading takes, with the processes
// that read counted in. It needs a built binary and the sample files; pdftotext is one of the peers. The results are for docs/benchmarks.md.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/bench/service"
	"quarry/internal/reader"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == worker {
		if err := reader.Work(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "files:", err)
			os.Exit(1)
		}
		return
	}
	binary := flag.String("binary", "./quarry", "the program")
	samples := flag.String("samples", "../shared/data/parse-samples", "folder of sample files")
	only := flag.String("only", "", "kinds of files, separated by commas, for the parts words and time; all if empty")
	list := flag.Bool("list", false, "show the words that are missing, too")
	part := flag.String("part", "words", "what is measured: words (and cells), time (of the processor, beside pdftotext and the encoder), tables (of PDF, beside pdfplumber, and words beside pdftotext), ocr (text recognised in pictures, beside tesseract by hand), or load (of a service that indexes many files)")
	python := flag.String("python", "", "a Python that has pdfplumber, for the part tables")
	files := flag.Int("files", 10_000, "files of the part load")
	flag.Parse()
	var err error
	switch *part {
	case "words":
		err = run(*binary, *samples, kinds(*only), *list)
	case "time":
		err = times(*binary, *samples, kinds(*only))
	case "tables":
		err = tables(*binary, *samples, *python)
	case "ocr":
		err = recognition(*binary, *samples)
	case "load":
		err = load(*binary, *files)
	default:
		err = fmt.Errorf("no part %q", *part)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

// kinds returns those that are named, nil for all.
func kinds(only string) []string {
	if only == "" {
		return nil
	}
	return strings.Split(only, ",")
}

// result is what came of one file.
type result struct {
	kind, name string
	status     int
	expected   bool // there is something to compare with
	words      float64
	cells      float64 // F1, -1 where neither has a table
	missing    []string
	reason     string
}

func run(binary, samples string, only []string, list bool) error {
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
	files, err := filepath.Glob(filepath.Join(samples, "*", "sources", "*"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("no sample files in %s", samples))
	}
	var all []result
	for _, file := range files {
		kind := filepath.Base(filepath.Dir(filepath.Dir(file)))
		if len(only) > 0 && !slices.Contains(only, kind) {
			continue
		}
		if kind == "odf" && filepath.Ext(file) == ".pdf" { // the same documents as PDF
			kind = "odf as PDF"
		}
		r, err := measure(p, kind, file)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	report(all, list)
	return nil
}

// measure uploads one file and compares the document with what is expected.
func measure(p *service.Process, kind, file string) (result, error) {
	r := result{kind: kind, name: filepath.Base(file), cells: -1}
	data, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	id := kind + "/" + r.name
	status, answer, err := upload(p, id, data, false)
	if err != nil {
		return r, err
	}
	r.status = status
	if status != http.StatusCreated {
		r.reason = fmt.Sprintf("%.160s", answer)
		return r, nil
	}
	raw, err := p.Must(http.StatusOK, "GET", "/v2/corpora/files/documents/"+url.PathEscape(id), nil)
	if err != nil {
		return r, err
	}
	var got document
	if err := json.Unmarshal(raw, &got); err != nil {
		return r, err
	}
	want, err := expectation(file)
	if err != nil || want == "" {
		return r, err
	}
	r.expected = true
	r.words, r.missing = recall(words(fold(want)), words(got.text()))
	r.cells = f1(markdownCells(want), got.cells())
	return r, nil
}

// upload sends a file as clients that know nothing of its type do, and asks for its tables.
func upload(p *service.Process, id string, data []byte, tables bool) (int, []byte, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("file", url.PathEscape(id))
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil && tables {
		err = form.WriteField("table_extraction_config", `{"extract_tables":true}`)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return 0, nil, err
	}
	return p.Send("POST", "/v2/corpora/files/upload_file", form.FormDataContentType(), &b)
}

// expectation returns the Markdown of the other parser, "" where there is none.
func expectation(file string) (string, error) {
	dir, name := filepath.Join(filepath.Dir(filepath.Dir(file)), "expected"), filepath.Base(file)
	for _, name := range []string{name, strings.TrimSuffix(name, filepath.Ext(name))} {
		raw, err := os.ReadFile(filepath.Join(dir, name+".md"))
		if !errors.Is(err, fs.ErrNotExist) {
			return string(raw), err
		}
	}
	return "", nil
}

// report prints a row for each file, and the means of each kind.
func report(all []result, list bool) {
	fmt.Printf("| file | status | words | cells F1 |\n|---|---|---|---|\n")
	kinds := map[string][]result{}
	for _, r := range all {
		kinds[r.kind] = append(kinds[r.kind], r)
		fmt.Printf("| %s/%s | %d | %s | %s |\n", r.kind, r.name, r.status, figure(r.expected, r.words), figure(r.cells >= 0, r.cells))
		if r.reason != "" {
			fmt.Printf("  %s\n", r.reason)
		}
		if list && len(r.missing) > 0 {
			fmt.Printf("  missing %.20q\n", r.missing)
		}
	}
	fmt.Printf("\n| kind | files | taken | words, mean | words, least | cells F1, mean |\n|---|---|---|---|---|---|\n")
	for _, r := range all {
		of := kinds[r.kind]
		if of == nil {
			continue
		}
		delete(kinds, r.kind)
		taken, least := 0, 1.0
		var w, c []float64
		for _, r := range of {
			if r.status == http.StatusCreated {
				taken++
			}
			if r.expected {
				w, least = append(w, r.words), min(least, r.words)
			}
			if r.cells >= 0 {
				c = append(c, r.cells)
			}
		}
		fmt.Printf("| %s | %d | %d | %s | %s | %s |\n", r.kind, len(of), taken, figure(len(w) > 0, mean(w)), figure(len(w) > 0, least), figure(len(c) > 0, mean(c)))
	}
}

func figure(known bool, v float64) string {
	if !known {
		return ""
	}
	return fmt.Sprintf("%.3f", v)
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(max(len(all), 1))
}
