package retrieve

import (
	"context"
	"strings"
	"time"

	"quarry/internal/corpus/document"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// candidates is the pool of a query. It implements rerank.Candidates. Each passage is read once, when it is first needed,
// and kept for the answer.
type candidates struct {
	s       *Service
	context Context
	around  bool // read the sentences around results, too
	sources []source
	pool    []candidate
	started time.Time        // when the query started
	read    map[int]*passage // by index into pool; nil = the document was deleted or no longer passes the filter
}

// maxClockSkew bounds the difference between the clocks of nodes, generously.
const maxClockSkew = time.Minute

// passage is a candidate with its text.
type passage struct {
	result Result // without score
	part   document.Part
}

// Signals implements rerank.Candidates.
func (cs *candidates) Signals(i int) rerank.Signals {
	c := &cs.pool[i]
	return rerank.Signals{
		Lambda: cs.sources[c.source].lambda, Cosine: c.hit.Cosine, BM25: c.hit.BM25, Full: cs.sources[c.source].full, Score: c.score,
		Heading: c.heading,
	}
}

// Passages implements rerank.Candidates.
func (cs *candidates) Passages(ctx context.Context, indexes []int) ([]rerank.Passage, error) {
	if err := cs.load(ctx, indexes); err != nil {
		return nil, err
	}
	out := make([]rerank.Passage, len(indexes))
	for j, i := range indexes {
		if p := cs.read[i]; p != nil {
			out[j] = rerank.Passage{
				Text: p.result.Text, Part: p.part.Text, DocumentID: p.result.DocumentID,
				DocumentMetadata: p.result.DocumentMetadata, PartMetadata: p.result.PartMetadata,
			}
		}
	}
	return out, nil
}

// Vectors implements rerank.Candidates. Vectors of one encoder share a space.
func (cs *candidates) Vectors(ctx context.Context, indexes []int) ([]rerank.Vector, error) {
	out := make([]rerank.Vector, len(indexes))
	for i := range cs.sources {
		var parts []search.Hit
		var at []int
		for j, x := range indexes {
			if c := &cs.pool[x]; c.source == i {
				parts, at = append(parts, c.hit), append(at, j)
			}
		}
		if len(parts) == 0 {
			continue
		}
		vectors, err := cs.s.engine.Vectors(ctx, cs.sources[i].corpus, parts)
		if err != nil {
			return nil, err
		}
		for k, v := range vectors {
			out[at[k]] = rerank.Vector{Space: cs.sources[i].corpus.EncoderFingerprint, Values: v}
		}
	}
	return out, nil
}

// load reads the passages at indexes that have not been read yet, in one read per corpus.
func (cs *candidates) load(ctx context.Context, indexes []int) error {
	want := make([][]int, len(cs.sources))
	for _, i := range indexes {
		if _, ok := cs.read[i]; !ok {
			cs.read[i] = nil
			want[cs.pool[i].source] = append(want[cs.pool[i].source], i)
		}
	}
	for source, some := range want {
		if len(some) == 0 {
			continue
		}
		refs := make([]document.Ref, len(some))
		for j, i := range some {
			refs[j] = document.Ref{No: cs.pool[i].hit.No, Ord: cs.pool[i].hit.Ord}
		}
		found, err := cs.s.passages.Passages(ctx, cs.sources[source].corpus.No, refs, cs.context.window(cs.around))
		if err != nil {
			return err
		}
		k := 0
		for j := range found { // in the order of refs, some left out
			for refs[k] != found[j].Ref {
				k++
			}
			p := cs.passage(&cs.pool[some[k]], &found[j])
			passes, err := cs.passes(&cs.sources[source], &found[j].Document, &p.part)
			if err != nil {
				return err
			}
			if passes {
				cs.read[some[k]] = p
			}
			k++
		}
	}
	return nil
}

// passes reports whether a part still passes the filter that found it. Its document may have changed between the search
// and the reading of rows, and nobody may see metadata that the filter excludes.
func (cs *candidates) passes(s *source, d *document.Document, p *document.Part) (bool, error) {
	if s.filter == nil || d.Updated.Before(cs.started.Add(-maxClockSkew)) {
		return true, nil
	}
	return document.Passes(s.filter, s.schema, d, p)
}

func (cs *candidates) passage(c *candidate, p *document.Passage) *passage {
	at := 0
	for p.Parts[at].Ord != c.hit.Ord {
		at++
	}
	part := &p.Parts[at]
	image := imageOf(p, part)
	if image != nil && strings.TrimSpace(part.Text) == "" { // indexed with the words of the image
		part.Text = image.Words()
	}
	s := cs.context.show(p.Parts, at)
	r := Result{
		Text: cs.context.text(s), Plain: s.plain(), DocumentID: p.Document.ID, Title: p.Document.Title, CorpusKey: cs.sources[c.source].corpus.Key,
		Source: c.source, DocumentMetadata: p.Document.Metadata, PartMetadata: part.Metadata,
		Image: image,
	}
	if cs.around {
		r.Before, r.After = s.previous, s.next
	}
	for i := range p.Document.Tables {
		if t := &p.Document.Tables[i]; part.TableID != "" && t.ID == part.TableID {
			r.Table = t
		}
	}
	return &passage{r, *part}
}

// imageOf returns the image that a part describes, nil if it describes none.
func imageOf(p *document.Passage, part *document.Part) *document.Image {
	for i := range p.Document.Images {
		if x := &p.Document.Images[i]; part.ImageID != "" && x.ID == part.ImageID {
			return x
		}
	}
	return nil
}
