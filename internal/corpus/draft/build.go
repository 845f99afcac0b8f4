package draft

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
)

// builder collects the parts of one document and the faults of its fields.
type builder struct {
	corpus *corpus.Corpus
	schema *filter.Schema
	doc    *document.Document
	faults *fault.Fault
	parts  []unfinished
	size   int // bytes of texts and metadata so far
	full   bool

	tables map[string]bool // ids taken
	images map[string]bool
}

// unfinished is a part whose language is not known yet, for it may depend on the whole document.
type unfinished struct {
	part document.Part
	meta metadata.Object // without lang when the client gave none
}

func newBuilder(c *corpus.Corpus, id string) (*builder, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("read attributes of corpus %s: %w", c.Key, err)
	}
	b := &builder{
		corpus: c, schema: schema, faults: fault.Invalid(),
		doc: &document.Document{ID: id}, tables: map[string]bool{}, images: map[string]bool{},
	}
	checkID(b.faults, "id", id)
	return b, nil
}

func (b *builder) bad(path, format string, args ...any) {
	if len(b.faults.Fields) < maxFaults {
		b.faults.Field(path, format, args...)
	}
}

func (b *builder) stopped() bool { return b.full || len(b.faults.Fields) >= maxFaults }

// add adds a part; path is the field at fault when the document grows too large.
func (b *builder) add(path string, p unfinished) {
	if b.stopped() {
		return
	}
	p.part.Heading = clip(p.part.Heading, maxHeading)
	b.size += len(p.part.Text) + len(p.part.Heading) + len(p.part.Context)
	for _, m := range p.meta {
		b.size += len(m.Key) + len(m.Value) + 4
	}
	switch {
	case len(b.parts) == maxParts:
		b.full = true
		b.bad(path, "the document has more than %d parts; use max_chars_chunking_strategy or split it", maxParts)
	case b.size > maxPartBytes:
		b.full = true
		b.bad(path, "the texts and metadata of the document's parts exceed %d MB; split it", maxPartBytes>>20)
	}
	b.parts = append(b.parts, p)
}

// metadata reads an object of the client and checks declared attributes in it.
func (b *builder) metadata(path string, level filter.Level, raw json.RawMessage) metadata.Object {
	return metadata.Read(path, level, b.schema, raw, b.bad)
}

// dimensions returns one value per custom dimension of the corpus; nil when it has none.
func (b *builder) dimensions(path string, given map[string]float64) []float64 {
	known := map[string]bool{}
	var out []float64
	for _, d := range b.corpus.Dimensions {
		known[d.Name] = true
		v, ok := given[d.Name]
		if !ok {
			v = d.IndexingDefault
		}
		out = append(out, v)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			b.bad(path+"."+name, "the corpus has no custom dimension with this name")
		}
	}
	return out
}

// finish returns the document, each part with its language and complete metadata, or the faults.
func (b *builder) finish() (*document.Document, error) {
	if len(b.faults.Fields) > 0 {
		return nil, b.faults
	}
	codes := languages(b.parts)
	d := b.doc
	d.Parts = make([]document.Part, len(b.parts))
	for i, dr := range b.parts {
		p := dr.part
		p.Ord = i
		p.Lang = codes[i]
		meta := dr.meta
		if v, ok := meta.Get("lang"); !ok && p.Lang != "" {
			meta = meta.With("lang", metadata.String(p.Lang))
		} else if s, isText := metadata.Text(v); isText {
			p.Lang = s
		}
		p.Metadata = meta.Encode()
		d.Usage.Bytes += int64(len(p.Text) + len(p.Metadata))
		d.Usage.MetadataBytes += int64(len(p.Metadata))
		d.Parts[i] = p
	}
	d.Usage.Bytes += int64(len(d.Metadata))
	d.Usage.MetadataBytes += int64(len(d.Metadata))
	return d, nil
}

// clip returns the first n code points of s.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
