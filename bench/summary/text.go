package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/text/chunk"
)

// text is a document with what somebody wrote about it.
type text struct {
	title, reference string
	sections         []section
}

type section struct{ Title, Text string }

// lines calls f with each line of a file of JSON lines, compressed or not.
func lines(name string, f func(line []byte) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	if strings.HasSuffix(name, ".gz") {
		plain, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		in = bufio.NewReader(plain)
	}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		if err := f(scan.Bytes()); err != nil {
			return err
		}
	}
	return scan.Err()
}

// readAbstracts reads PubMedQA: abstracts without their conclusion, which is the reference.
func readAbstracts(folder string) (out []text, err error) {
	answers := map[string]string{} // question → conclusion
	err = lines(filepath.Join(folder, "queries.jsonl"), func(line []byte) error {
		var q struct {
			ID       string `json:"_id"`
			Metadata struct {
				Answer string `json:"long_answer"`
			} `json:"metadata"`
		}
		err := json.Unmarshal(line, &q)
		answers[q.ID] = q.Metadata.Answer
		return err
	})
	if err != nil {
		return nil, err
	}
	err = lines(filepath.Join(folder, "corpus.jsonl.gz"), func(line []byte) error {
		var d struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		err := json.Unmarshal(line, &d)
		if answer := answers[d.ID]; answer != "" {
			out = append(out, text{title: d.ID, reference: answer, sections: []section{{Text: d.Text}}})
		}
		return err
	})
	return out, err
}

// readNews reads the news of QAGS with those summaries that people found right.
func readNews(folder string) (out []text, err error) {
	err = lines(filepath.Join(folder, "summaries.jsonl.gz"), func(line []byte) error {
		var d struct {
			ID, Source, Summary string
			Consistent          bool
		}
		err := json.Unmarshal(line, &d)
		if d.Consistent {
			out = append(out, text{title: d.ID, reference: d.Summary, sections: []section{{Text: d.Source}}})
		}
		return err
	})
	return out, err
}

// readPages reads pages of documentation with the description that their author wrote for lists of pages.
func readPages(folder string) (out []text, err error) {
	about := map[string]string{}
	err = lines(filepath.Join(folder, "known-item", "queries.jsonl"), func(line []byte) error {
		var q struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		err := json.Unmarshal(line, &q)
		about[q.ID] = q.Text
		return err
	})
	if err != nil {
		return nil, err
	}
	described := map[string]string{} // page → description
	err = lines(filepath.Join(folder, "known-item", "qrels", "test.tsv"), func(line []byte) error {
		if f := strings.Split(string(line), "\t"); len(f) > 1 && about[f[0]] != "" {
			described[f[1]] = about[f[0]]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = lines(filepath.Join(folder, "documents-0.jsonl.gz"), func(line []byte) error {
		var d struct {
			ID, Title string
			Sections  []section
		}
		err := json.Unmarshal(line, &d)
		if said := described[d.ID]; said != "" {
			out = append(out, text{title: d.Title, reference: said, sections: d.Sections})
		}
		return err
	})
	return out, err
}

// evidence returns a document in the parts that it would be stored in, with their vectors.
func (m *measurer) evidence(ctx context.Context, t text) ([]llm.Evidence, error) {
	var out []llm.Evidence
	for i, s := range t.sections {
		if s.Title != "" {
			out = append(out, llm.Evidence{Text: s.Title, Title: t.title, Label: true, Section: i})
		}
		for _, c := range chunk.Split(s.Text, chunk.Strategy{}) {
			out = append(out, llm.Evidence{Text: c.Text, Title: t.title, Section: i})
		}
	}
	e, _ := m.encoders.Find("") // the default is always there
	texts, into := make([]string, len(out)), make([][]float32, len(out))
	for i := range out {
		texts[i], into[i] = out[i].Text, make([]float32, e.Dim())
		out[i].Vector = into[i]
	}
	return out, e.Encode(ctx, embed.Passage, texts, into)
}
