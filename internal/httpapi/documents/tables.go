package documents

import (
	"net/http"

	"quarry/internal/corpus/ingest"
	"quarry/internal/corpus/ingest/summary"
	"quarry/internal/httpapi"
)

// wireTables is TableExtractionConfig; the schema has checked types and bounds. null means absent.
type wireTables struct {
	Extract   bool `json:"extract_tables"`
	Extractor *struct {
		Name string `json:"name"`
	} `json:"extractor"`
	Generation *struct {
		LLM        string                   `json:"llm_name"`
		Template   string                   `json:"prompt_template"`
		Parameters *httpapi.ModelParameters `json:"model_parameters"`
	} `json:"generation"`
}

// tables returns what is asked for, nil where tables are not to be looked for: the rest then counts for nothing.
func (w *wireTables) tables() *ingest.Tables {
	if !w.Extract {
		return nil
	}
	out := &ingest.Tables{}
	if w.Extractor != nil {
		out.Extractor = &w.Extractor.Name
	}
	if g := w.Generation; g != nil {
		out.Generate = &summary.Request{LLM: g.LLM, Template: g.Template}
		if g.Parameters != nil {
			out.Generate.Parameters = g.Parameters.Parameters
		}
	}
	return out
}

// extractors lists the table extractors.
func (a *Area) extractors(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
	type extractor struct {
		Name        string `json:"name"`
		Default     bool   `json:"is_default"`
		Description string `json:"description"`
	}
	e := ingest.TableExtractor
	return httpapi.WriteJSON(w, http.StatusOK, struct {
		Extractors []extractor `json:"table_extractors"`
	}{[]extractor{{e.Name, true, e.Description}}})
}
