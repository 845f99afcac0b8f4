package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
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

// selection is a compiled filter over documents; the zero value selects every document.
type selection struct {
	schema  *filter.Schema
	filter  *filter.Filter
	ids     []string // ascending: only these can match, when limited
	limited bool
}

func compile(c *corpus.Corpus, text string) (selection, error) {
	schema, err := c.Schema()
	if err != nil {
		return selection{}, fmt.Errorf("read attributes of corpus %s: %w", c.Key, err)
	}
	f, err := filter.Parse(text, schema, filter.DocumentOnly)
	var bad *filter.Error
	if errors.As(err, &bad) {
		out := fault.InvalidField("metadata_filter", "%s", bad.Detail())
		out.Text = bad.Message()
		return selection{}, out
	}
	if err != nil || f == nil {
		return selection{}, err
	}
	s := selection{schema: schema, filter: f}
	id, _ := schema.Find(filter.Document, "id")
	s.ids, s.limited = named(f.Root(), id)
	slices.Sort(s.ids)
	return s, nil
}

// named gives the ids outside of which n can't hold, when it says doc.id = … or doc.id IN (…) on the way to holding:
// clients probe for one document so.
func named(n filter.Node, id int) (ids []string, limited bool) {
	switch n := n.(type) {
	case filter.Compare:
		if n.Attr == id && n.Op == filter.Eq {
			return []string{n.Const.Text()}, true
		}
	case filter.In:
		if n.Attr != id {
			return nil, false
		}
		for _, v := range n.Consts {
			ids = append(ids, v.Text())
		}
		return ids, true
	case filter.And:
		for _, part := range n.Nodes {
			if ids, limited = named(part, id); limited {
				return ids, true
			}
		}
	}
	return nil, false
}

func (s *selection) match(d *Document) (bool, error) {
	if s.filter == nil {
		return true, nil
	}
	m, err := values(d.Metadata)
	if err != nil {
		return false, fmt.Errorf("metadata of document %q: %w", d.ID, err)
	}
	r, _ := s.schema.Values(filter.Document, m) // what does not fit counts as absent
	id, _ := s.schema.Find(filter.Document, "id")
	r[id] = filter.Text(d.ID)
	return s.filter.Match(row(r)), nil
}

// Passes reports whether part p of d passes f, which was parsed with the schema, as an index that shows d as it is
// would tell.
func Passes(f *filter.Filter, schema *filter.Schema, d *Document, p *Part) (bool, error) {
	of, err := values(d.Metadata)
	if err != nil {
		return false, fmt.Errorf("metadata of document %q: %w", d.ID, err)
	}
	r, _ := schema.Values(filter.Document, of)
	if id, ok := schema.Find(filter.Document, "id"); ok {
		r[id] = filter.Text(d.ID)
	}
	if of, err = values(p.Metadata); err != nil {
		return false, fmt.Errorf("metadata of part %d of document %q: %w", p.Ord, d.ID, err)
	}
	own, _ := schema.Values(filter.Part, of)
	for i, a := range schema.Attributes() {
		if a.Level == filter.Part {
			r[i] = own[i]
		}
	}
	return f.Match(row(r)), nil
}
