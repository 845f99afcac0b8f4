// Package metadata is the metadata of documents and parts: JSON objects whose members keep their order and their exact
// text, the check of their values against the attributes that a corpus declares, and amendments of what is stored.
// Package draft makes the metadata of new documents with it, package document changes that of stored ones.
package metadata

import (
	"bytes"
	"encoding/json"
	"errors"

	"quarry/internal/expr/filter"
)

// maxSize bounds the metadata of a document in bytes (contract: limits.max_metadata_bytes). Merging would let it grow
// without end.
const (
	maxSize = 10 << 20
	tooMuch = "the document's metadata would have %d bytes; at most %d are allowed"
)

// Read parses what a client sent as metadata of that level and reports to bad what does not fit the declared
// attributes (contract: Filter attributes, type check at indexing), by its path under path. Nothing and null are the
// empty object.
func Read(path string, level filter.Level, schema *filter.Schema, raw json.RawMessage, bad func(path, format string, args ...any)) Object {
	o, err := Parse(raw)
	if err != nil {
		bad(path, "%s", err)
		return nil
	}
	if level == filter.Document && len(raw) > maxSize {
		if n := len(o.Encode()); n > maxSize {
			bad(path, tooMuch, n, maxSize)
			return nil
		}
	}
	if len(o) == 0 {
		return o
	}
	values, err := Values(raw)
	if err != nil {
		bad(path, "%s", errNotObject)
		return o
	}
	_, wrong := schema.Values(level, values)
	for _, w := range wrong {
		bad(path+"."+w.Name, "%s", w.Text)
	}
	return o
}

// Values returns the members of an object as the filter language takes them, numbers with their text; nothing is the
// empty object.
func Values(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	err := d.Decode(&m)
	return m, err
}

// Merge returns the members of over and those of under that over lacks, values as they were sent. Nothing and null are
// the empty object; for any other JSON the error is fit for the client.
func Merge(over, under json.RawMessage) (json.RawMessage, error) {
	o, err1 := Parse(over)
	u, err2 := Parse(under)
	if err := errors.Join(err1, err2); err != nil {
		return nil, errNotObject
	}
	return o.Over(u).Encode(), nil
}
