// Command gen generates the table of package rarity.
//
// The weight of a stem is the mean of its weights in four sources. The first, general English, counts half, so that the
// jargon of a field does not pass for common words:
//   - the vocabulary of the embedded encoder (Apache-2.0), whose whole words are in order of frequency in general
//     English: the word of rank r counts as 1/r (Zipf's law);
//   - the abstracts of PubMedQA (MIT);
//   - the abstracts of SciFact (ODC-By 1.0, S2ORC);
//   - the Win32 documentation of Microsoft (CC BY 4.0).
//
// The layout of each collection is described by its README in the data folder. Collections without a stated licence are
// not used, nor is XQuAD, on which the embedded generator is measured.
package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/encode"
	"quarry/internal/encode/asset"
	"quarry/internal/text/analysis"
	"quarry/internal/text/rarity"
)

const (
	entries  = 50_000 // size of the table
	sentence = 20     // words of an average sentence, for turning the frequency of words into that of sentences
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the collections")
	out := flag.String("out", "rarity.bin", "file to write")
	flag.Parse()
	if err := run(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(data, out string) error {
	general, err := vocabulary()
	if err != nil {
		return err
	}
	sources := []counts{general}
	for _, names := range [][]string{
		{"pubmedqa/corpus.jsonl.gz"},
		{"scifact/corpus.jsonl.gz"},
		{"win32docs/documents-0.jsonl.gz", "win32docs/documents-1.jsonl.gz", "win32docs/documents-2.jsonl.gz", "win32docs/documents-3.jsonl.gz"},
	} {
		c := counts{}
		for _, name := range names {
			if err := c.file(filepath.Join(data, name)); err != nil {
				return err
			}
		}
		sources = append(sources, c)
	}
	return os.WriteFile(out, encodeTable(combine(sources)), 0o644)
}

// counts holds how often each term occurs in a source, in any unit.
type counts map[string]float64

// text counts the stems of a text, and its function words, which have no stems.
func (c counts) text(text string) {
	terms := analysis.Analyze(text, "eng")
	for _, s := range terms.Stems {
		c[s]++
	}
	for _, w := range terms.Words {
		if len(analysis.Analyze(w.Text, "eng").Stems) == 0 {
			c[w.Text]++
		}
	}
}

// vocabulary counts the whole words of the encoder's vocabulary by their rank. Entries before "the" are symbols and single
// letters of many scripts, which are not in order of frequency.
func vocabulary() (counts, error) {
	enc, err := encode.Open(asset.MiniLM())
	if err != nil {
		return nil, fmt.Errorf("open embedded encoder: %w", err)
	}
	words := strings.Split(enc.Vocabulary(), "\n")
	start := slices.Index(words, "the")
	if start < 0 {
		return nil, errors.New("the vocabulary has no \"the\"")
	}
	c := counts{}
	for i, w := range words[start:] {
		terms := analysis.Analyze(w, "eng")
		switch {
		case strings.HasPrefix(w, "##") || len(terms.Words) != 1:
		case len(terms.Stems) == 1:
			c[terms.Stems[0]] += 1 / float64(i+1)
		default:
			c[terms.Words[0].Text] += 1 / float64(i+1)
		}
	}
	return c, nil
}

func (c counts) file(name string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	for lines := json.NewDecoder(bufio.NewReader(z)); ; {
		var d struct {
			Title, Text string
			Sections    []struct{ Title, Text string }
		}
		if err := lines.Decode(&d); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		c.text(d.Title)
		c.text(d.Text)
		for _, s := range d.Sections {
			c.text(s.Title)
			c.text(s.Text)
		}
	}
}

// combine returns the weight of each term: the mean of its weights in the sources, of which the first counts as much as
// the others together. In a source without the term its weight is rarity.Highest.
func combine(sources []counts) counts {
	out, others := counts{}, float64(len(sources)-1) // out holds weights relative to Highest until the end
	for i, c := range sources {
		sum, part := 0.0, 1/(2*others)
		if i == 0 {
			part = 0.5
		}
		for _, term := range sorted(c) {
			sum += c[term]
		}
		for term, n := range c {
			share := 1 - math.Pow(1-n/sum, sentence) // of the sentences that hold the term
			out[term] += part * min(0, -math.Log(share)-rarity.Highest)
		}
	}
	for term := range out {
		out[term] += rarity.Highest
	}
	return out
}

// sorted returns the terms of c in order, so that sums of floats are reproducible.
func sorted(c counts) []string {
	out := make([]string, 0, len(c))
	for term := range c {
		out = append(out, term)
	}
	slices.Sort(out)
	return out
}

// encodeTable returns the table of the terms with the lowest weights, in the format that package rarity reads.
func encodeTable(of counts) []byte {
	terms := sorted(of)
	slices.SortStableFunc(terms, func(a, b string) int { return cmp.Compare(of[a], of[b]) })
	weights := map[uint32]byte{}
	for _, term := range terms {
		if len(weights) == entries {
			break
		}
		if _, taken := weights[rarity.Hash(term)]; !taken {
			weights[rarity.Hash(term)] = byte(math.Round(max(0, of[term]) / rarity.Step))
		}
	}
	keys := make([]uint32, 0, len(weights))
	for k := range weights {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var out []byte
	for _, k := range keys {
		out = binary.BigEndian.AppendUint32(out, k)
	}
	for _, k := range keys {
		out = append(out, weights[k])
	}
	return out
}
