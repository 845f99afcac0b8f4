package document

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"quarry/internal/corpus"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
)

// builder collects the parts of one document and the faults of its fields.
type builder struct {
	corpus *corpus.Corpus
	schema *filter.Schema
	doc    *Document
	faults *fault.Fault
	drafts []draft
	size   int // bytes of texts and metadata so far
	full   bool

	tables map[string]bool // ids taken
	images map[string]bool
}

// draft is a part whose language is not known yet, for it may depend on the whole document.
type draft struct {
	part Part
	meta object // without lang when the client gave none
}

func newBuilder(c *corpus.Corpus, id string) (*builder, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("read attributes of corpus %s: %w", c.Key, err)
	}
	b := &builder{
		corpus: c, schema: schema, faults: fault.Invalid(),
		doc: &Document{ID: id}, tables: map[string]bool{}, images: map[string]bool{},
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

// add takes a part; path is the member that is blamed when the document grows too large.
func (b *builder) add(path string, d draft) {
	if b.stopped() {
		return
	}
	d.part.Heading = clip(d.part.Heading, maxHeading)
	b.size += len(d.part.Text) + len(d.part.Heading) + len(d.part.Context)
	for _, m := range d.meta {
		b.size += len(m.key) + len(m.value) + 4
	}
	switch {
	case len(b.drafts) == maxParts:
		b.full = true
		b.bad(path, "the document has more than %d parts; use max_chars_chunking_strategy or split it", maxParts)
	case b.size > maxPartBytes:
		b.full = true
		b.bad(path, "the texts and metadata of the document's parts exceed %d MB; split it", maxPartBytes>>20)
	}
	b.drafts = append(b.drafts, d)
}

// metadata reads an object of the client and checks declared attributes in it.
func (b *builder) metadata(path string, level filter.Level, raw json.RawMessage) object {
	o, err := parseObject(raw)
	if err != nil {
		b.bad(path, "%s", err)
		return nil
	}
	if level == filter.Document && len(raw) > maxMetadata {
		if n := len(o.encode()); n > maxMetadata {
			b.bad(path, tooMuchMetadata, n, maxMetadata)
			return nil
		}
	}
	if len(o) > 0 {
		b.checkTypes(path, level, raw)
	}
	return o
}

// dimensions gives one value per custom dimension of the corpus; nil when it has none.
func (b *builder) dimensions(path string, given map[string]float64) []float64 {
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	sort.Strings(names)
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
	for _, name := range names {
		if !known[name] {
			b.bad(path+"."+name, "the corpus has no custom dimension with this name")
		}
	}
	return out
}

// finish settles languages and metadata and gives the document, or the faults.
func (b *builder) finish() (*Document, error) {
	if len(b.faults.Fields) > 0 {
		return nil, b.faults
	}
	codes := languages(b.drafts)
	d := b.doc
	d.Parts = make([]Part, len(b.drafts))
	for i, dr := range b.drafts {
		p := dr.part
		p.Ord = i
		p.Lang = codes[i]
		meta := dr.meta
		if v, ok := meta.get("lang"); !ok && p.Lang != "" {
			meta = append(meta[:len(meta):len(meta)], member{"lang", jsonString(p.Lang)})
		} else if s, isText := textOf(v); isText {
			p.Lang = s
		}
		p.Metadata = meta.encode()
		d.Usage.Bytes += int64(len(p.Text) + len(p.Metadata))
		d.Usage.MetadataBytes += int64(len(p.Metadata))
		d.Parts[i] = p
	}
	d.Usage.Bytes += int64(len(d.Metadata))
	d.Usage.MetadataBytes += int64(len(d.Metadata))
	return d, nil
}

// joinTitles joins titles with ". ", leaving out empty ones and a repetition of the one before.
func joinTitles(titles ...string) string {
	var out []string
	for _, t := range titles {
		if t != "" && (len(out) == 0 || out[len(out)-1] != t) {
			out = append(out, t)
		}
	}
	return strings.Join(out, ". ")
}

// clip cuts s to at most n code points.
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
