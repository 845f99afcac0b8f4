package replica

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"quarry/internal/background"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/expr/filter"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
)

// projection returns what the index keeps of a part whose metadata is decoded.
type projection func(schema *filter.Schema, p *document.Part, metadata map[string]any) search.Part

// project returns the index entries of documents, each part by the projection. Documents without parts have only the
// attribute values of document level.
func project(c corpus.Corpus, docs []document.Document, part projection) ([]search.Document, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, err
	}
	out := make([]search.Document, len(docs))
	var group errgroup.Group
	group.SetLimit(background.Cores())
	for i := range docs {
		group.Go(func() error {
			d, err := projectOne(schema, &docs[i], part)
			out[i] = d
			return err
		})
	}
	return out, group.Wait()
}

// projectPausing is project for work in the background: on one core, with a pause before each document.
func projectPausing(c corpus.Corpus, docs []document.Document, part projection, pause func() error) ([]search.Document, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, err
	}
	out := make([]search.Document, len(docs))
	for i := range docs {
		if err := pause(); err != nil {
			return nil, err
		}
		if out[i], err = projectOne(schema, &docs[i], part); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func projectOne(schema *filter.Schema, d *document.Document, part projection) (search.Document, error) {
	m, err := metadata.Values(d.Metadata)
	if err != nil {
		return search.Document{}, fmt.Errorf("metadata of document %q: %w", d.ID, err)
	}
	// A stored value that does not fit its attribute counts as absent (metadata-filters.md section 5).
	values, _ := schema.Values(filter.Document, m)
	out := search.Document{No: d.No, ID: d.ID, Values: values, Parts: make([]search.Part, len(d.Parts))}
	of := make([]map[string]any, len(d.Parts))
	for i := range d.Parts {
		p := &d.Parts[i]
		if of[i], err = metadata.Values(p.Metadata); err != nil {
			return out, fmt.Errorf("metadata of part %d of document %q: %w", p.Ord, d.ID, err)
		}
		out.Parts[i] = part(schema, p, of[i])
	}
	for i, leads := range document.Leading(d.Parts, of) {
		out.Parts[i].Leads = leads
	}
	return out, nil
}

// whole returns a part with its analysed terms, attribute values and vector.
func whole(schema *filter.Schema, p *document.Part, metadata map[string]any) search.Part {
	values, _ := schema.Values(filter.Part, metadata)
	terms := analysis.Analyze(p.Text, p.Lang)
	part := search.Part{
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

// valuesAlone returns a part without texts and vector.
func valuesAlone(schema *filter.Schema, _ *document.Part, metadata map[string]any) (out search.Part) {
	out.Values, _ = schema.Values(filter.Part, metadata)
	return out
}
