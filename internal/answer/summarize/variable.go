package summarize

import (
	"bytes"
	"encoding/json"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/variable"
	"quarry/internal/expr/vtl"
)

// documentValue is the document in a template.
type documentValue struct {
	of       *material
	metadata *variable.Metadata // these are made at their first use
	parts    vtl.List
	raw      []byte
}

// Call returns what a template can ask of the document.
func (d *documentValue) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
	if len(arguments) > 0 {
		return nil, false
	}
	switch name {
	case "json":
		return string(d.JSON()), true
	case "id", "getId":
		return d.of.ID, true
	case "title", "getTitle":
		return d.of.Title, true
	case "text", "getText":
		return d.of.content(), true
	case "metadata", "getMetadata":
		if d.metadata == nil {
			d.metadata = variable.NewMetadata(d.of.Metadata)
		}
		return d.metadata, true
	case "parts", "getParts":
		if d.parts == nil {
			d.parts = make(vtl.List, len(d.of.Parts))
			tables := make(map[string]*variable.Table, len(d.of.tables)) // one for all of its rows
			for id, t := range d.of.tables {
				tables[id] = variable.NewTable(t)
			}
			for i := range d.of.Parts {
				p := &d.of.Parts[i]
				d.parts[i] = &partValue{of: p, table: tables[p.TableID]}
			}
		}
		return d.parts, true
	}
	return nil, false
}

// JSON is the document with its parts and tables, as it is read from the service.
func (d *documentValue) JSON() []byte {
	if d.raw == nil {
		type part struct {
			Text     string          `json:"text"`
			Metadata json.RawMessage `json:"metadata"`
			TableID  string          `json:"table_id,omitempty"`
			ImageID  string          `json:"image_id,omitempty"`
			Context  string          `json:"context,omitempty"`
		}
		parts := make([]part, len(d.of.Parts))
		for i, p := range d.of.Parts {
			parts[i] = part{p.Text, p.Metadata, p.TableID, p.ImageID, p.Context}
		}
		d.raw = encode(struct {
			ID       string           `json:"id"`
			Metadata json.RawMessage  `json:"metadata"`
			Tables   []document.Table `json:"tables,omitempty"`
			Parts    []part           `json:"parts"`
		}{d.of.ID, d.of.Metadata, d.of.Tables, parts})
	}
	return d.raw
}

// partValue is a part of the document in a template.
type partValue struct {
	of       *document.Part
	metadata *variable.Metadata // once asked for
	table    *variable.Table    // nil for none
}

// Call returns what a template can ask of a part.
func (p *partValue) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
	if len(arguments) > 0 {
		return nil, false
	}
	switch name {
	case "text", "getText":
		return p.of.Text, true
	case "metadata", "getMetadata":
		if p.metadata == nil {
			p.metadata = variable.NewMetadata(p.of.Metadata)
		}
		return p.metadata, true
	case "hasTable":
		return p.table != nil, true
	case "table", "getTable":
		if p.table == nil {
			return nil, true
		}
		return p.table, true
	}
	return nil, false
}

// JSON is the part with its metadata.
func (p *partValue) JSON() []byte {
	return encode(struct {
		Text     string          `json:"text"`
		Metadata json.RawMessage `json:"metadata"`
	}{p.of.Text, p.of.Metadata})
}

// encode writes a value as JSON, with < and > as they are; null for one that is none, which no document has.
func encode(v any) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(b.Bytes())
}
