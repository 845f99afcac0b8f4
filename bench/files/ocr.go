package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"quarry/bench/service"
	"quarry/internal/extract/picture"
	"quarry/internal/extract/samplefile"
)

// latin are the sample PDF whose text is in a Latin script and has an expectation.
var latin = []string{"amt_handbook_sample.pdf", "code_and_formula.pdf", "multi_page.pdf", "picture_classification.pdf"}

// resolution is that of the pictures, in dots per inch.
const resolution = 150

// recognition measures how many words are found in PDF files whose pages are pictures, and how many tesseract finds in the same
// pictures when it is called by hand.
func recognition(binary, samples string) error {
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
	fmt.Printf("| file | pages | words found | by hand |\n|---|---|---|---|\n")
	var ours, theirs []float64
	for _, name := range latin {
		file := filepath.Join(samples, "pdf", "sources", name)
		pages, err := rendered(file, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		text, err := expectation(file)
		if err != nil || text == "" {
			return errors.Join(err, fmt.Errorf("%s has no expectation", name))
		}
		want := words(fold(text))
		found, err := read(p, name, pages)
		if err != nil {
			return err
		}
		hand, err := byHand(pages)
		if err != nil {
			return err
		}
		o, _ := recall(want, words(found))
		t, _ := recall(want, words(hand))
		ours, theirs = append(ours, o), append(theirs, t)
		fmt.Printf("| %s | %d | %.3f | %.3f |\n", name, len(pages), o, t)
	}
	fmt.Printf("| mean | | %.3f (≥ 0.9, at most 0.02 below by hand) | %.3f |\n", mean(ours), mean(theirs))
	return nil
}

// rendered draws the pages of a PDF and returns the names of their pictures.
func rendered(file, prefix string) ([]string, error) {
	if out, err := exec.Command("pdftoppm", "-r", strconv.Itoa(resolution), "-png", file, prefix).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pdftoppm: %w: %s", err, out)
	}
	pages, err := filepath.Glob(prefix + "-*.png")
	slices.Sort(pages)
	return pages, err
}

// read has the service read a PDF of pictures and returns the text of the document.
func read(p *service.Process, name string, pages []string) (string, error) {
	var all []any
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			return "", err
		}
		img, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			return "", err
		}
		r := picture.Grey(img)
		all = append(all, &image.Gray{Pix: r.Grey, Stride: r.Width, Rect: image.Rect(0, 0, r.Width, r.Height)})
	}
	status, answer, err := upload(p, name, samplefile.ScannedAt(resolution, all...), false)
	if err != nil || status != http.StatusCreated {
		return "", errors.Join(err, fmt.Errorf("%s: %d %s", name, status, answer))
	}
	raw, err := p.Must(http.StatusOK, "GET", "/v2/corpora/files/documents/"+url.PathEscape(name), nil)
	if err != nil {
		return "", err
	}
	var got document
	err = json.Unmarshal(raw, &got)
	return got.text(), err
}

// byHand returns what tesseract prints for pictures.
func byHand(pages []string) (text string, err error) {
	for _, page := range pages {
		out, err := exec.Command("tesseract", page, "-").Output()
		if err != nil {
			return "", fmt.Errorf("tesseract %s: %w", page, err)
		}
		text += string(out)
	}
	return text, nil
}
