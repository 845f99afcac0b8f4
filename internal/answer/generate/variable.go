package generate

import (
	"encoding/json"
	"strconv"

	"quarry/internal/corpus/variable"
	"quarry/internal/expr/vtl"
	"quarry/internal/llm/prompt"
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
	return prompt.Names(all)
}

// result is a search result in a template.
type result struct {
	passage        *Passage
	document, part *variable.Metadata // once asked for
	table          *variable.Table
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
			r.table = variable.NewTable(r.passage.Table)
		}
		return r.table, true
	}
	return nil, false
}

// once returns metadata, which it reads at its first use.
func once(at **variable.Metadata, raw json.RawMessage) *variable.Metadata {
	if *at == nil {
		*at = variable.NewMetadata(raw)
	}
	return *at
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
