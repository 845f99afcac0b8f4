package replica

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/text/analysis"
)

// projectAll returns the index entries of documents: analysed terms, attribute values and vectors.
func projectAll(c corpus.Corpus, docs []document.Document) ([]index.Document, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, err
	}
	out := make([]index.Document, len(docs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range docs {
		group.Go(func() error {
			d, err := project(schema, &docs[i])
			out[i] = d
			return err
		})
	}
	return out, group.Wait()
}

func project(schema *filter.Schema, d *document.Document) (index.Document, error) {
	metadata, err := decode(d.Metadata)
	if err != nil {
		return index.Document{}, fmt.Errorf("metadata of document %q: %w", d.ID, err)
	}
	// A stored value that does not fit its attribute counts as absent (metadata-filters.md section 5).
	values, _ := schema.Values(filter.Document, metadata)
	out := index.Document{No: d.No, ID: d.ID, Values: values, Parts: make([]index.Part, len(d.Parts))}
	for i := range d.Parts {
		p := &d.Parts[i]
		metadata, err := decode(p.Metadata)
		if err != nil {
			return out, fmt.Errorf("metadata of part %d of document %q: %w", p.Ord, d.ID, err)
		}
		out.Parts[i] = projectPart(schema, p, metadata)
	}
	return out, nil
}

func projectPart(schema *filter.Schema, p *document.Part, metadata map[string]any) index.Part {
	values, _ := schema.Values(filter.Part, metadata)
	terms := analysis.Analyze(p.Text, p.Lang)
	part := index.Part{
		Ord: p.Ord, Lang: p.Lang, Values: values, Stems: terms.Stems, Words: terms.Words, Vector: p.Vector,
	}
	if p.Heading != "" {
		part.Heading = analysis.Analyze(p.Heading, p.Lang).Stems
	}
	for _, v := range p.Dimensions {
		part.Dimensions = append(part.Dimensions, float32(v))
	}
	return part
}

// values returns the attribute values of documents without texts and vectors; documents without parts have only those of
// document level.
func values(c corpus.Corpus, docs []document.Document) ([]index.Document, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, err
	}
	out := make([]index.Document, len(docs))
	for i := range docs {
		d := &docs[i]
		out[i] = index.Document{No: d.No, ID: d.ID, Parts: make([]index.Part, len(d.Parts))}
		metadata, err := decode(d.Metadata)
		if err != nil {
			return nil, fmt.Errorf("metadata of document %q: %w", d.ID, err)
		}
		out[i].Values, _ = schema.Values(filter.Document, metadata)
		for k := range d.Parts {
			p := &d.Parts[k]
			if metadata, err = decode(p.Metadata); err != nil {
				return nil, fmt.Errorf("metadata of part %d of document %q: %w", p.Ord, d.ID, err)
			}
			out[i].Parts[k].Values, _ = schema.Values(filter.Part, metadata)
		}
	}
	return out, nil
}

func decode(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	err := d.Decode(&m)
	return m, err
}
