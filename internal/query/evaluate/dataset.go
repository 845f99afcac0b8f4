// Package evaluate measures ranking on test collections: it reads a collection in the BEIR layout, indexes it and
// asks its queries through the same services as the HTTP interface. The CLI and the benchmarks call it.
package evaluate

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"quarry/internal/query/measure"
)

// Record is one line of corpus.jsonl or queries.jsonl.
type Record struct {
	ID       string          `json:"_id"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	Metadata json.RawMessage `json:"metadata"`
}

// Dataset is a test collection.
type Dataset struct {
	Name      string
	Documents []Record
	Queries   []Record // those with at least one relevant document, in file order
	Judged    map[string]measure.Judgements
}

// Read reads a collection: corpus.jsonl[.gz], queries.jsonl[.gz] and qrels/test.tsv under dir.
func Read(dir string) (*Dataset, error) {
	d, err := ReadQueries(dir)
	if err != nil {
		return nil, err
	}
	d.Documents, err = readRecords(dir, "corpus")
	return d, err
}

// ReadQueries reads queries and judgements of a collection whose documents come from elsewhere.
func ReadQueries(dir string) (*Dataset, error) { return readSplit(dir, "queries", "test") }

// ReadTraining reads the queries and judgements that a collection reserves for tuning: queries.train.jsonl and
// qrels/train.tsv. It reports whether there are any.
func ReadTraining(dir string) (d *Dataset, ok bool, err error) {
	d, err = readSplit(dir, "queries.train", "train")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return d, err == nil, err
}

func readSplit(dir, file, split string) (*Dataset, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: filepath.Base(abs)}
	queries, err := readRecords(dir, file)
	if err != nil {
		return nil, err
	}
	if d.Judged, err = readJudgements(filepath.Join(dir, "qrels", split+".tsv")); err != nil {
		return nil, err
	}
	for _, q := range queries {
		if d.Judged[q.ID].Relevant() > 0 {
			d.Queries = append(d.Queries, q)
		}
	}
	if len(d.Queries) == 0 {
		return nil, fmt.Errorf("%s: no query has a relevant document in qrels/%s.tsv", dir, split)
	}
	return d, nil
}

func readRecords(dir, name string) (all []Record, err error) {
	err = Each(filepath.Join(dir, name+".jsonl"), func(r Record) error {
		all = append(all, r)
		return nil
	})
	return all, err
}

// Each calls use with every line of a file of JSON lines, path or path.gz, and returns the first error.
func Each[T any](path string, use func(T) error) error {
	f, err := openEither(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), 64<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return fmt.Errorf("%s line %d: %w", path, n, err)
		}
		if err := use(v); err != nil {
			return fmt.Errorf("%s line %d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// openEither opens path, or path.gz.
func openEither(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err == nil {
		return f, nil
	}
	packed, err2 := os.Open(path + ".gz")
	if errors.Is(err2, fs.ErrNotExist) {
		return nil, fmt.Errorf("neither %s nor %s.gz is there: %w", path, path, fs.ErrNotExist)
	}
	if err2 != nil {
		return nil, err2
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s.gz: %w", path, err), packed.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, packed}, nil
}

func readJudgements(path string) (map[string]measure.Judgements, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]measure.Judgements{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		cells := strings.Split(lines.Text(), "\t")
		if n == 1 && len(cells) == 3 && cells[0] == "query-id" || len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		if len(cells) != 3 {
			return nil, fmt.Errorf("%s line %d: want query, document and grade separated by tabs", path, n)
		}
		grade, err := strconv.Atoi(strings.TrimSpace(cells[2]))
		if err != nil {
			return nil, fmt.Errorf("%s line %d: grade: %w", path, n, err)
		}
		if out[cells[0]] == nil {
			out[cells[0]] = measure.Judgements{}
		}
		out[cells[0]][cells[1]] = grade
	}
	return out, lines.Err()
}
