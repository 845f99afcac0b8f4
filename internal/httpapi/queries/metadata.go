package queries

import (
	"encoding/json"
	"net/http"

	"quarry/internal/corpus/metaquery"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/text/fuzzy"
)

// MetadataArea holds the operation that searches metadata.
type MetadataArea struct{ metadata *metaquery.Service }

// NewMetadata returns the area over a service.
func NewMetadata(s *metaquery.Service) *MetadataArea { return &MetadataArea{s} }

// Handlers implements httpapi.Area.
func (a *MetadataArea) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"queryMetadata": a.query}
}

func (a *MetadataArea) query(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	q, err := metadataQuery(c.Body, c.Path["corpus_key"])
	if err != nil {
		return err
	}
	found, err := a.metadata.Run(r.Context(), q)
	if err != nil {
		return fault.Under(err, "body")
	}
	out := metadataAnswer{Documents: make([]scoredDocument, len(found.Hits)), Total: found.Total}
	for i, h := range found.Hits {
		out.Documents[i] = scoredDocument{h.DocumentID, h.Score, h.Metadata}
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// metadataBody is MetadataQueryRequest.
type metadataBody struct {
	Level   string       `json:"level"`
	Queries []fieldQuery `json:"queries"`
	Filter  string       `json:"metadata_filter"`
	Limit   *int         `json:"limit"`
	Offset  int          `json:"offset"`
}

// fieldQuery is FieldQuery. A null prefix switches prefix matching off; an absent one takes the default.
type fieldQuery struct {
	Field  string          `json:"field"`
	Query  string          `json:"query"`
	Weight *float64        `json:"weight"`
	Fuzzy  *bool           `json:"fuzzy"`
	Prefix json.RawMessage `json:"prefix"`
}

// defaultPrefix is the contract's.
const defaultPrefix = 3

// metadataAnswer is MetadataQueryResponse.
type metadataAnswer struct {
	Documents []scoredDocument `json:"documents"`
	Total     int              `json:"total_count"`
}

type scoredDocument struct {
	ID       string          `json:"doc_id"`
	Score    float64         `json:"score"`
	Metadata json.RawMessage `json:"metadata"`
}

func metadataQuery(raw json.RawMessage, key string) (metaquery.Query, error) {
	var b metadataBody
	if err := httpapi.Decode(raw, &b); err != nil {
		return metaquery.Query{}, err
	}
	q := metaquery.Query{Corpus: key, Parts: b.Level == "part", Filter: b.Filter, Limit: defaultLimit, Offset: b.Offset}
	if b.Limit != nil {
		q.Limit = *b.Limit
	}
	for _, x := range b.Queries {
		f := fuzzy.Field{Name: x.Field, Text: x.Query, Weight: 1, Fuzzy: x.Fuzzy == nil || *x.Fuzzy, Prefix: defaultPrefix}
		if x.Weight != nil {
			f.Weight = *x.Weight
		}
		switch {
		case string(x.Prefix) == "null":
			f.Prefix = 0
		case len(x.Prefix) > 0:
			if err := httpapi.Decode(x.Prefix, &f.Prefix); err != nil {
				return q, err
			}
		}
		q.Fields = append(q.Fields, f)
	}
	return q, nil
}
