package document

import (
	"fmt"
	"slices"

	"quarry/internal/corpus"
	"quarry/internal/corpus/metadata"
	"quarry/internal/expr/filter"
)

// row is the attribute values of a document or part by their place in the schema.
type row []filter.Value

func (r row) Value(ordinal int) filter.Value { return r[ordinal] }

// selection is a compiled filter over documents; the zero value selects every document.
type selection struct {
	schema  *filter.Schema
	filter  *filter.Filter
	ids     []string // ascending: only these can match, when limited
	limited bool
}

// compile parses a filter over documents; a bad one is fault.KindInvalid under metadata_filter.
func compile(c *corpus.Corpus, text string) (selection, error) {
	schema, err := c.Schema()
	if err != nil {
		return selection{}, fmt.Errorf("read attributes of corpus %s: %w", c.Key, err)
	}
	f, err := filter.Parse(text, schema, filter.DocumentOnly)
	if err != nil || f == nil {
		return selection{}, err
	}
	s := selection{schema: schema, filter: f}
	id, _ := schema.Find(filter.Document, "id")
	s.ids, s.limited = idsIn(f.Root(), id)
	slices.Sort(s.ids)
	return s, nil
}

// idsIn returns the only document ids for which n can hold. limited is false when n names no ids by doc.id = … or
// doc.id IN (…). Clients probe for single documents this way, and reading those beats scanning the corpus.
func idsIn(n filter.Node, id int) (ids []string, limited bool) {
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
			if ids, limited = idsIn(part, id); limited {
				return ids, true
			}
		}
	}
	return nil, false
}

// Matcher returns what reports whether documents of c pass a filter; a bad one is fault.KindInvalid under metadata_filter.
func Matcher(c corpus.Corpus, filter string) (func(*Document) (bool, error), error) {
	s, err := compile(&c, filter)
	return s.match, err
}

func (s *selection) match(d *Document) (bool, error) {
	if s.filter == nil {
		return true, nil
	}
	r, err := values(s.schema, d)
	return err == nil && s.filter.Match(r), err
}

// Passes reports whether part p of d passes f, which was parsed with schema, as an index that shows d in its present
// state would decide.
func Passes(f *filter.Filter, schema *filter.Schema, d *Document, p *Part) (bool, error) {
	r, err := values(schema, d)
	if err != nil {
		return false, err
	}
	m, err := metadata.Values(p.Metadata)
	if err != nil {
		return false, fmt.Errorf("metadata of part %d of document %q: %w", p.Ord, d.ID, err)
	}
	own, _ := schema.Values(filter.Part, m)
	for i, a := range schema.Attributes() {
		if a.Level == filter.Part {
			r[i] = own[i]
		}
	}
	return f.Match(r), nil
}

// values returns the attribute values of d itself; what does not fit its declared type counts as absent.
func values(schema *filter.Schema, d *Document) (row, error) {
	m, err := metadata.Values(d.Metadata)
	if err != nil {
		return nil, fmt.Errorf("metadata of document %q: %w", d.ID, err)
	}
	r, _ := schema.Values(filter.Document, m)
	if id, ok := schema.Find(filter.Document, "id"); ok {
		r[id] = filter.Text(d.ID)
	}
	return r, nil
}
