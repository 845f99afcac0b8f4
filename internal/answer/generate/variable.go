package generate

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/expr/vtl"
)

// variables are what a prompt template can refer to, each under the name that published templates use and under a short
// one (contract: generation-and-citations, section 3.1).
func variables(in PromptInput) map[string]vtl.Value {
	results := make(vtl.List, len(in.Results))
	for i := range in.Results {
		results[i] = &result{passage: &in.Results[i]}
	}
	all := map[string]vtl.Value{"Query": in.Question, "QueryResults": results, "IdxWord": ordinals{}}
	if in.Characters > 0 {
		all["OutChars"] = int64(in.Characters)
	}
	if in.Language != "" {
		all["LangCode"], all["LangName"] = in.Language, in.Language
		if name := LanguageName(in.Language); name != "" {
			all["LangName"] = name
		}
	}
	out := make(map[string]vtl.Value, 2*len(all))
	for name, v := range all {
		out["vectara"+name] = v
		out[strings.ToLower(name[:1])+name[1:]] = v
	}
	return out
}

// result is a search result in a template.
type result struct {
	passage        *Passage
	document, part *metadata // once asked for
	table          *table
}

// Call returns what a template can ask of a result.
func (r *result) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
	if len(arguments) > 0 {
		return nil, false
	}
	switch name {
	case "text", "getText":
		return r.passage.Text, true
	case "docMetadata", "getDocMetadata":
		return once(&r.document, r.passage.DocumentMetadata), true
	case "partMetadata", "getPartMetadata":
		return once(&r.part, r.passage.PartMetadata), true
	case "documentId", "getDocumentId":
		return r.passage.DocumentID, true
	case "title", "getTitle":
		return r.passage.Title, true
	case "score", "getScore":
		return r.passage.Score, true
	case "hasTable":
		return r.passage.Table != nil, true
	case "table", "getTable":
		if r.passage.Table == nil {
			return nil, true
		}
		if r.table == nil {
			r.table = &table{of: r.passage.Table}
		}
		return r.table, true
	}
	return nil, false
}

// JSON is the result as a whole.
func (r *result) JSON() []byte {
	raw, err := json.Marshal(struct {
		Text             string          `json:"text"`
		Score            float64         `json:"score"`
		DocumentID       string          `json:"document_id"`
		PartMetadata     json.RawMessage `json:"part_metadata"`
		DocumentMetadata json.RawMessage `json:"document_metadata"`
	}{r.passage.Text, r.passage.Score, r.passage.DocumentID, once(&r.part, r.passage.PartMetadata).JSON(), once(&r.document, r.passage.DocumentMetadata).JSON()})
	if err != nil { // a score that JSON cannot say
		return []byte("null")
	}
	return raw
}

// metadata is the metadata of a document or part in a template.
type metadata struct {
	raw    []byte
	values *vtl.Map
}

// once returns metadata, which it reads at its first use.
func once(at **metadata, raw json.RawMessage) *metadata {
	if *at == nil {
		*at = newMetadata(raw)
	}
	return *at
}

func newMetadata(raw json.RawMessage) *metadata {
	m := &metadata{raw: []byte("{}"), values: &vtl.Map{}}
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
func (m *metadata) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
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
func (m *metadata) JSON() []byte { return m.raw }

// table is a table in a template.
type table struct {
	of       *document.Table
	markdown string
	raw      []byte // as JSON, once asked for
}

// Call returns what a template can ask of a table.
func (t *table) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
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
func (t *table) JSON() []byte {
	if t.raw == nil {
		var err error
		if t.raw, err = json.Marshal(t.of); err != nil { // cells that are no JSON, which no document has
			t.raw = []byte("null")
		}
	}
	return t.raw
}

// ordinals are the words for places, from 0: first, second, third.
type ordinals struct{}

var ordinalWords = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

// Call returns the word for a place.
func (ordinals) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
	if name != "get" || len(arguments) != 1 {
		return nil, false
	}
	n, ok := arguments[0].(int64)
	if !ok || n < 0 || n > 1_000_000 {
		return nil, false
	}
	if n < int64(len(ordinalWords)) {
		return ordinalWords[n], true
	}
	suffix := "th"
	if n%100 < 10 || n%100 > 12 { // 11th, 12th and 13th stand at 10 to 12
		switch n % 10 {
		case 0:
			suffix = "st"
		case 1:
			suffix = "nd"
		case 2:
			suffix = "rd"
		}
	}
	return strconv.FormatInt(n+1, 10) + suffix, true
}

// JSON lists the words that are not numbers.
func (ordinals) JSON() []byte {
	raw, _ := json.Marshal(ordinalWords) // never fails for texts
	return raw
}
