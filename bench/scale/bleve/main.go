// Command bleve searches words with Bleve, for comparison. The command in the folder above starts it.
//
// It answers requests, one JSON object a line. {"do": "build", "words": FILE, "index": FOLDER, "deleted_every": N} indexes
// the lines of FILE, words separated by spaces behind the number of their document, with positions, and deletes each N-th
// document; {"do": "open", "index": FOLDER} opens what an earlier run built. {"do": "search", "queries": FILE, "k": K}
// searches for the words of each line of FILE, one after another, and answers {"seconds": [...], "found": [[line, ...], ...]}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	_ "github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/search/query"
)

type request struct {
	Do, Words, Index, Queries string
	DeletedEvery              int `json:"deleted_every"`
	K                         int
}

func main() {
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(map[string]string{"about": "Bleve 2.6.1, " + runtime.Version()}) // who started this reads it
	lines := bufio.NewScanner(os.Stdin)
	var index bleve.Index
	for lines.Scan() {
		var r request
		var answer any
		err := json.Unmarshal(lines.Bytes(), &r)
		if err == nil && r.Do == "build" {
			index, answer, err = build(r)
		} else if err == nil && r.Do == "open" {
			answer = struct{}{}
			index, err = bleve.Open(r.Index)
		} else if err == nil {
			answer, err = search(index, r)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if err := out.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
	if index != nil {
		_ = index.Close() // which writes what is in memory only, for a later run
	}
}

// each calls use with the words of every line of a file.
func each(path string, use func(line int, words []string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		if err := use(n, strings.Fields(lines.Text())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func build(r request) (bleve.Index, any, error) {
	began, cpu := time.Now(), processorTime()
	if err := os.RemoveAll(r.Index); err != nil {
		return nil, nil, err
	}
	mapping := bleve.NewIndexMapping()
	mapping.ScoringModel = "bm25"
	if err := mapping.AddCustomAnalyzer("words", map[string]any{"type": "custom", "tokenizer": "whitespace"}); err != nil {
		return nil, nil, err
	}
	field := bleve.NewTextFieldMapping()
	field.Analyzer, field.Store, field.IncludeInAll, field.DocValues = "words", false, false, false
	field.IncludeTermVectors = true // positions
	mapping.DefaultMapping.Dynamic = false
	mapping.DefaultMapping.AddFieldMappingsAt("text", field)
	index, err := bleve.New(r.Index, mapping)
	if err != nil {
		return nil, nil, err
	}
	var gone []string
	batch := index.NewBatch()
	err = each(r.Words, func(line int, words []string) error {
		if document, err := strconv.Atoi(words[0]); err != nil {
			return err
		} else if document%r.DeletedEvery == 0 {
			gone = append(gone, strconv.Itoa(line))
		}
		if err := batch.Index(strconv.Itoa(line), map[string]any{"text": strings.Join(words[1:], " ")}); err != nil {
			return err
		}
		if batch.Size() < 1000 {
			return nil
		}
		defer batch.Reset()
		return index.Batch(batch)
	})
	if err == nil {
		err = index.Batch(batch)
	}
	took, spent := time.Since(began), processorTime()-cpu
	batch.Reset()
	for _, id := range gone {
		batch.Delete(id)
	}
	if err == nil {
		err = index.Batch(batch)
	}
	var bytes int64
	_ = filepath.WalkDir(r.Index, func(_ string, e fs.DirEntry, err error) error { // its merger may remove files meanwhile
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return index, map[string]any{"wall": took.Seconds(), "cpu": spent.Seconds(), "bytes": bytes}, err
}

func search(index bleve.Index, r request) (any, error) {
	seconds, found := []float64{}, [][]int{}
	err := each(r.Queries, func(_ int, words []string) error {
		terms := make([]query.Query, len(words))
		for i, w := range words {
			t := bleve.NewTermQuery(w)
			t.SetField("text")
			terms[i] = t
		}
		ask := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(terms...), r.K, 0, false)
		began := time.Now()
		result, err := index.Search(ask)
		seconds = append(seconds, time.Since(began).Seconds())
		if err != nil {
			return err
		}
		rows := []int{}
		for _, hit := range result.Hits {
			row, err := strconv.Atoi(hit.ID)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		found = append(found, rows)
		return nil
	})
	return map[string]any{"seconds": seconds, "found": found}, err
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails only for invalid arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
