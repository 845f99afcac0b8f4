// Package variable has what templates of every kind see of stored things: metadata and tables. What a template is rendered over is for the
// packages that ask models: generate renders results, summarize documents, summary tables.
package variable

import (
	"bytes"
	"encoding/json"

	"quarry/internal/corpus/document"
	"quarry/internal/expr/vtl"
)

// Metadata is the metadata of a document or part in a template.
type Metadata struct {
	raw    []byte
	values *vtl.Map
}

// NewMetadata returns metadata from JSON; it is empty if that is no object.
func NewMetadata(raw json.RawMessage) *Metadata {
	m := &Metadata{raw: []byte("{}"), values: &vtl.Map{}}
	v, err := vtl.FromJSON(raw)
	if read, ok := v.(*vtl.Map); ok && err == nil {
		m.values = read
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			m.raw = b.Bytes()
		}
	}
	return m
}

// Call returns what a template can ask of metadata. A missing key is an empty text with get, and undefined as a property.
func (m *Metadata) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
	if len(arguments) == 1 {
		key, _ := arguments[0].(string)
		v, ok := m.values.Get(key)
		switch name {
		case "get":
			if v == nil {
				return "", true
			}
			return v, true
		case "containsKey":
			return ok, true
		}
		return nil, false
	}
	if len(arguments) > 0 {
		return nil, false
	}
	switch name {
	case "present":
		return m.values.Len() > 0, true
	case "isEmpty":
		return m.values.Len() == 0, true
	}
	return vtl.Members(m.values, name)
}

// JSON is the metadata as stored, on one line.
func (m *Metadata) JSON() []byte { return m.raw }

// Table is a table in a template.
type Table struct {
	of       *document.Table
	markdown string
	raw      []byte // as JSON, once asked for
}

// NewTable returns a table.
func NewTable(t *document.Table) *Table { return &Table{of: t} }

// Call returns what a template can ask of a table.
func (t *Table) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
	if len(arguments) > 0 {
		return nil, false
	}
	switch name {
	case "json":
		return string(t.JSON()), true
	case "markdown":
		if t.markdown == "" {
			t.markdown = t.of.Markdown()
		}
		return t.markdown, true
	case "title", "getTitle":
		return t.of.Title, true
	case "description", "getDescription":
		return t.of.Description, true
	case "id", "getId":
		return t.of.ID, true
	}
	return nil, false
}

// JSON is the table with its cells.
func (t *Table) JSON() []byte {
	if t.raw == nil {
		var err error
		if t.raw, err = json.Marshal(t.of); err != nil { // cells that are no JSON, which no document has
			t.raw = []byte("null")
		}
	}
	return t.raw
}
