package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/filter"
)

// checkTypes holds metadata to the declared attributes of its level (contract: Filter attributes, type check at
// indexing).
func (b *builder) checkTypes(path string, level filter.Level, raw json.RawMessage) {
	m, err := values(raw)
	if err != nil {
		b.bad(path, "must be a JSON object")
		return
	}
	_, wrong := b.schema.Values(level, m)
	for _, w := range wrong {
		b.bad(path+"."+w.Name, "%s", w.Text)
	}
}

// values reads an object with the text of its numbers.
func values(raw json.RawMessage) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	err := d.Decode(&m)
	return m, err
}

// row is the attribute values of a document by ordinal.
type row []filter.Value

func (r row) Value(ordinal int) filter.Value { return r[ordinal] }

// compile gives the test of a filter over documents; blank text passes everything.
func compile(c *corpus.Corpus, text string) (func(*Document) (bool, error), error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("read attributes of corpus %s: %w", c.Key, err)
	}
	f, err := filter.Parse(text, schema, filter.DocumentOnly)
	var bad *filter.Error
	if errors.As(err, &bad) {
		out := fault.InvalidField("query.metadata_filter", "%s", bad.Detail())
		out.Text = bad.Message()
		return nil, out
	}
	if err != nil || f == nil {
		return func(*Document) (bool, error) { return true, nil }, err
	}
	id, _ := schema.Find(filter.Document, "id")
	return func(d *Document) (bool, error) {
		m, err := values(d.Metadata)
		if err != nil {
			return false, fmt.Errorf("metadata of document %q: %w", d.ID, err)
		}
		r, _ := schema.Values(filter.Document, m) // what does not fit counts as absent
		r[id] = filter.Text(d.ID)
		return f.Match(row(r)), nil
	}, nil
}
