package corpora

import (
	"net/http"
	"strconv"
	"strings"

	"quarry/internal/api"
	"quarry/internal/corpus/attribute"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

func (a *Area) computeSize(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.corpora.Recount(r.Context(), c.Path["corpus_key"])
	if err != nil {
		return err
	}
	u := found.Usage
	return httpapi.WriteJSON(w, http.StatusOK, api.ComputeCorpusSizeResponse{
		UsedDocs: &u.Documents, UsedParts: &u.Parts, UsedCharacters: &u.Characters, UsedMetadataCharacters: &u.MetadataCharacters,
	})
}

// replaceAttributes answers with the job that does it.
func (a *Area) replaceAttributes(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body api.ReplaceFilterAttributesRequest
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	id, err := a.attributes.Request(r.Context(), attribute.Replacement{
		Corpus: c.Path["corpus_key"], Attributes: attributeCommands(body.FilterAttributes), By: c.Principal.Name,
	})
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.ReplaceFilterAttributesResponse{JobId: string(id)})
}

// defaultValues is the contract's default of max_values.
const defaultValues = 100

func (a *Area) attributeStats(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	q := attribute.Query{Corpus: c.Path["corpus_key"], Filter: c.Query.Get("metadata_filter"), MaxValues: defaultValues}
	if v := c.Query.Get("max_values"); v != "" {
		q.MaxValues, _ = strconv.Atoi(v) // checked by the chain
	}
	if v := c.Query.Get("fields"); v != "" {
		for _, name := range strings.Split(v, ",") {
			q.Fields = append(q.Fields, strings.TrimSpace(name))
		}
	}
	found, err := a.attributes.Stats(r.Context(), q)
	if err != nil {
		return fault.Under(err, "query")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireStats(found))
}

// The wire forms of statistics. They are not the generated models, whose numbers are all of one type: an integer is
// shown as it is stored.
type (
	statsOut struct {
		Stats []statOut `json:"filter_attribute_stats"`
	}
	statOut struct {
		Name        string      `json:"name"`
		Type        string      `json:"type"`
		Description string      `json:"description,omitempty"`
		Values      []valueOut  `json:"values"`
		Numbers     *numbersOut `json:"stats,omitempty"`
	}
	valueOut struct {
		Value any   `json:"value"`
		Count int64 `json:"count"`
	}
	numbersOut struct {
		Min any     `json:"min"`
		Max any     `json:"max"`
		Avg float64 `json:"avg"`
		Sum float64 `json:"sum"`
	}
)

func wireStats(all []attribute.Stat) statsOut {
	out := statsOut{Stats: make([]statOut, len(all))}
	for i, s := range all {
		w := statOut{Name: s.Name, Type: s.Type.String(), Description: s.Description, Values: make([]valueOut, len(s.Values))}
		if s.Type == filter.RealNumber {
			w.Type = "real_number" // the only spelling that answers have
		}
		for j, v := range s.Values {
			w.Values[j] = valueOut{native(v.Value), v.N}
		}
		if n := s.Numbers; n != nil {
			w.Numbers = &numbersOut{native(n.Min), native(n.Max), n.Avg, n.Sum}
		}
		out.Stats[i] = w
	}
	return out
}

// native returns a scalar as JSON has it.
func native(v filter.Value) any {
	switch v.Kind() {
	case filter.Integer:
		return v.Integer()
	case filter.RealNumber:
		return v.Float()
	case filter.Boolean:
		return v.Bool()
	}
	return v.Text()
}
