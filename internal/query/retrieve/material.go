package retrieve

import (
	"context"
	"strings"
	"time"

	"quarry/internal/corpus/document"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// material tells the stages about the pool; it is rerank.Material. Each passage is read once, when it is first asked
// for, and kept for the answer.
type material struct {
	s       *Service
	context Context
	sources []source
	pool    []candidate
	began   time.Time        // when the query began
	read    map[int]*passage // by index into pool; nil inside = the document is gone, or passes the filter no more
}

// clocks is how far the clocks of nodes may be apart, generously.
const clocks = time.Minute

// passage is a candidate with its text.
type passage struct {
	result Result // without score
	part   document.Part
}

// Signals gives what the search knows of a candidate.
func (m *material) Signals(i int) rerank.Signals {
	c := &m.pool[i]
	return rerank.Signals{
		Lambda: m.sources[c.source].lambda, Cosine: c.hit.Cosine, BM25: c.hit.BM25, Full: m.sources[c.source].full, Dimension: c.hit.Dims,
		Score: c.score, Unit: c.unit,
	}
}

// Passages gives texts and metadata.
func (m *material) Passages(ctx context.Context, indexes []int) ([]rerank.Passage, error) {
	if err := m.load(ctx, indexes); err != nil {
		return nil, err
	}
	out := make([]rerank.Passage, len(indexes))
	for j, i := range indexes {
		if p := m.read[i]; p != nil {
			out[j] = rerank.Passage{
				Text: p.result.Text, Part: p.part.Text, DocumentID: p.result.DocumentID,
				DocumentMetadata: p.result.DocumentMetadata, PartMetadata: p.result.PartMetadata,
			}
		}
	}
	return out, nil
}

// Vectors gives the vectors of parts. Those of one encoder compare.
func (m *material) Vectors(ctx context.Context, indexes []int) ([]rerank.Vector, error) {
	out := make([]rerank.Vector, len(indexes))
	for i := range m.sources {
		var parts []search.Hit
		var at []int
		for j, x := range indexes {
			if c := &m.pool[x]; c.source == i {
				parts, at = append(parts, c.hit), append(at, j)
			}
		}
		if len(parts) == 0 {
			continue
		}
		vectors, err := m.s.engine.Vectors(ctx, m.sources[i].corpus, parts)
		if err != nil {
			return nil, err
		}
		for k, v := range vectors {
			out[at[k]] = rerank.Vector{Space: m.sources[i].corpus.EncoderFingerprint, Values: v}
		}
	}
	return out, nil
}

// load reads the passages among indexes that were not read yet, one read per corpus.
func (m *material) load(ctx context.Context, indexes []int) error {
	want := make([][]int, len(m.sources))
	for _, i := range indexes {
		if _, ok := m.read[i]; !ok {
			m.read[i] = nil
			want[m.pool[i].source] = append(want[m.pool[i].source], i)
		}
	}
	for source, some := range want {
		if len(some) == 0 {
			continue
		}
		refs := make([]document.Ref, len(some))
		for j, i := range some {
			refs[j] = document.Ref{No: m.pool[i].hit.No, Ord: m.pool[i].hit.Ord}
		}
		found, err := m.s.passages.Passages(ctx, m.sources[source].corpus.No, refs, m.context.window())
		if err != nil {
			return err
		}
		k := 0
		for j := range found { // in the order of refs, some left out
			for refs[k] != found[j].Ref {
				k++
			}
			p := m.passage(&m.pool[some[k]], &found[j])
			passes, err := m.passes(&m.sources[source], &found[j].Document, &p.part)
			if err != nil {
				return err
			}
			if passes {
				m.read[some[k]] = p
			}
			k++
		}
	}
	return nil
}

// passes reports whether a part still passes the filter that found it: its document may have changed between the search
// and the reading of rows, and nobody may see metadata that the filter excludes.
func (m *material) passes(s *source, d *document.Document, p *document.Part) (bool, error) {
	if s.search.Filter == nil || d.Updated.Before(m.began.Add(-clocks)) {
		return true, nil
	}
	return document.Passes(s.search.Filter, s.schema, d, p)
}

func (m *material) passage(c *candidate, p *document.Passage) *passage {
	at := 0
	for p.Parts[at].Ord != c.hit.Ord {
		at++
	}
	part := &p.Parts[at]
	image := imageOf(p, part)
	if image != nil && strings.TrimSpace(part.Text) == "" { // it was indexed with the image's words
		part.Text = image.Words()
	}
	r := Result{
		Text: m.context.text(p.Parts, at), DocumentID: p.Document.ID, Title: p.Document.Title, CorpusKey: m.sources[c.source].corpus.Key,
		Source: c.source, DocumentMetadata: p.Document.Metadata, PartMetadata: part.Metadata,
		Image: image,
	}
	for i := range p.Document.Tables {
		if t := &p.Document.Tables[i]; part.TableID != "" && t.ID == part.TableID {
			r.Table = t
		}
	}
	return &passage{r, *part}
}

// imageOf gives the image that a part is about; nil when it is about none.
func imageOf(p *document.Passage, part *document.Part) *document.Image {
	for i := range p.Document.Images {
		if x := &p.Document.Images[i]; part.ImageID != "" && x.ID == part.ImageID {
			return x
		}
	}
	return nil
}
