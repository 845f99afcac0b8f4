package queries

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"quarry/internal/corpus/document"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
)

// packed is the first byte of the column body and names its layout: flate over the JSON of stored follows. A later layout
// takes another byte, and this one stays readable.
const packed = 1

// stored is the content of a body. Times are microseconds since 1970, durations microseconds.
type stored struct {
	Request json.RawMessage `json:"request"`
	Spans   []span          `json:"spans"`
}

type span struct {
	Type       history.Type        `json:"type"`
	Started    int64               `json:"started"`
	Latency    int64               `json:"latency"`
	Rephrased  string              `json:"rephrased,omitempty"`
	CorpusKey  string              `json:"corpus_key,omitempty"`
	Warnings   []string            `json:"warnings,omitempty"`
	Extracted  *history.Extraction `json:"extracted,omitempty"`
	Results    []result            `json:"results,omitempty"`
	Reranked   []reranked          `json:"reranked,omitempty"`
	Prompt     string              `json:"prompt,omitempty"`
	Generation string              `json:"generation,omitempty"`
	Score      float64             `json:"score,omitempty"`
	Evidence   *float64            `json:"evidence,omitempty"`
}

// reranked is a result after a stage of reranking. Most texts are among the results of the search already; At is their
// place there, counted from 1.
type reranked struct {
	At       int     `json:"at,omitempty"`
	Text     string  `json:"text,omitempty"`
	Score    float64 `json:"score"`
	Original float64 `json:"original"`
}

type result struct {
	Text     string          `json:"text"`
	Score    float64         `json:"score"`
	Document string          `json:"document"`
	Corpus   string          `json:"corpus"`
	Source   int             `json:"source,omitempty"`
	Of       json.RawMessage `json:"of,omitempty"`   // the document's metadata
	Part     json.RawMessage `json:"part,omitempty"` // the part's metadata
	Table    *document.Table `json:"table,omitempty"`
	Image    *image          `json:"image,omitempty"`
}

type image struct {
	ID          string `json:"id"`
	Title       string `json:"title,omitempty"`
	Caption     string `json:"caption,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mime_type,omitempty"`
}

// writers are pooled, since each one allocates most of a megabyte.
var writers = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.BestSpeed) // fails on an unknown level only
	return z
}}

// pack returns the column body of a record.
func pack(r history.Record) ([]byte, error) {
	s := stored{Request: r.Request, Spans: make([]span, len(r.Spans))}
	at := map[string]int{}
	for i, x := range r.Spans {
		s.Spans[i] = span{
			Type: x.Type, Started: x.Started.UnixMicro(), Latency: x.Latency.Microseconds(), Rephrased: x.Rephrased,
			CorpusKey: x.CorpusKey, Warnings: x.Warnings, Extracted: x.Extracted, Results: packResults(x.Results),
			Prompt: x.Prompt, Generation: x.Generation, Score: x.Score, Evidence: x.Evidence,
		}
		if len(x.Results) > 0 {
			clear(at)
		}
		for j, y := range x.Results {
			if _, known := at[y.Text]; !known {
				at[y.Text] = j + 1
			}
		}
		for _, y := range x.Reranked {
			z := reranked{At: at[y.Text], Score: y.Score, Original: y.Original}
			if z.At == 0 {
				z.Text = y.Text
			}
			s.Spans[i].Reranked = append(s.Spans[i].Reranked, z)
		}
	}
	var b bytes.Buffer
	b.WriteByte(packed)
	z, _ := writers.Get().(*flate.Writer) // of New below
	defer writers.Put(z)
	z.Reset(&b)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("encode query: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack query: %w", err)
	}
	return b.Bytes(), nil
}

func packResults(all []retrieve.Result) []result {
	out := make([]result, len(all))
	for i, r := range all {
		out[i] = result{
			Text: r.Text, Score: r.Score, Document: r.DocumentID, Corpus: r.CorpusKey, Source: r.Source,
			Of: r.DocumentMetadata, Part: r.PartMetadata, Table: r.Table,
		}
		if m := r.Image; m != nil {
			out[i].Image = &image{m.ID, m.Title, m.Caption, m.Description, m.MimeType}
		}
	}
	return out
}

// unpack parses the column body; the summary is in columns of its own.
func unpack(body []byte) (history.Record, error) {
	var r history.Record
	if len(body) == 0 || body[0] != packed {
		return r, fmt.Errorf("its body of %d bytes has an unknown layout", len(body))
	}
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(body[1:])))
	if err != nil {
		return r, fmt.Errorf("unpack: %w", err)
	}
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return r, fmt.Errorf("decode: %w", err)
	}
	r.Request = s.Request
	var found []result // of the search before
	for _, x := range s.Spans {
		if len(x.Results) > 0 {
			found = x.Results
		}
		r.Spans = append(r.Spans, history.Span{
			Type: x.Type, Started: time.UnixMicro(x.Started).UTC(), Latency: time.Duration(x.Latency) * time.Microsecond,
			Rephrased: x.Rephrased, CorpusKey: x.CorpusKey, Warnings: x.Warnings, Extracted: x.Extracted,
			Results: unpackResults(x.Results), Reranked: unpackReranked(x.Reranked, found), Prompt: x.Prompt, Generation: x.Generation, Score: x.Score,
			Evidence: x.Evidence,
		})
	}
	return r, nil
}

func unpackReranked(all []reranked, found []result) []retrieve.Reranked {
	var out []retrieve.Reranked
	for _, r := range all {
		if r.At > 0 && r.At <= len(found) {
			r.Text = found[r.At-1].Text
		}
		out = append(out, retrieve.Reranked{Text: r.Text, Score: r.Score, Original: r.Original})
	}
	return out
}

func unpackResults(all []result) []retrieve.Result {
	var out []retrieve.Result
	for _, r := range all {
		x := retrieve.Result{
			Text: r.Text, Score: r.Score, DocumentID: r.Document, CorpusKey: r.Corpus, Source: r.Source,
			DocumentMetadata: r.Of, PartMetadata: r.Part, Table: r.Table,
		}
		if m := r.Image; m != nil {
			x.Image = &document.Image{ID: m.ID, Title: m.Title, Caption: m.Caption, Description: m.Description, MimeType: m.MimeType}
		}
		out = append(out, x)
	}
	return out
}
