// Package consistency holds the handlers that score a text by its sources and correct it. What they do is in package
// verify; the list of correctors is in httpapi/catalog. Package app makes the Area.
package consistency

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"quarry/internal/answer/verify"
	"quarry/internal/answer/verify/correct"
	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

// Area is the operations of consistency.
type Area struct {
	verify    *verify.Service
	corrector *correct.Service
}

// New returns the area.
func New(v *verify.Service, c *correct.Service) *Area { return &Area{v, c} }

// Handlers returns the handler of each operation.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"evaluateFactualConsistency": a.evaluate, "correctHallucinations": a.correct}
}

// scorers are the names of the score: the retired one is served by its successor (contract: interface).
var scorers = map[string]bool{"hhem_v2.3": true, "hhem_v2.2": true}

func (a *Area) evaluate(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var in api.EvaluateFactualConsistencyRequest
	if err := json.Unmarshal(c.Body, &in); err != nil {
		return err
	}
	bad := fault.Invalid()
	if m := in.ModelParameters; m != nil && m.ModelName != nil && !scorers[*m.ModelName] {
		bad.Field("body.model_parameters.model_name", "%q is no model of this score: it may be hhem_v2.3", *m.ModelName)
	}
	requireText(bad, "body.generated_text", in.GeneratedText)
	requireText(bad, "body.source_texts", in.SourceTexts...)
	if len(bad.Fields) > 0 {
		return bad
	}
	score, err := a.verify.Score(r.Context(), verify.Claim{Text: in.GeneratedText, Sources: in.SourceTexts, Any: true})
	if errors.Is(err, verify.ErrTooLong) {
		return fault.InvalidField("body.source_texts", "%s", err)
	}
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.EvaluateFactualConsistencyResponse{Score: score.Value})
}

// requireText adds a fault of the field if all the texts are blank.
func requireText(bad *fault.Fault, field string, texts ...string) {
	if strings.TrimSpace(strings.Join(texts, "")) == "" {
		bad.Field(field, "must hold a text")
	}
}

func (a *Area) correct(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var in api.HallucinationCorrectionRequest
	if err := json.Unmarshal(c.Body, &in); err != nil {
		return err
	}
	texts := make([]string, len(in.Documents))
	for i, d := range in.Documents {
		texts[i] = d.Text
	}
	bad := fault.Invalid()
	requireText(bad, "body.generated_text", in.GeneratedText)
	requireText(bad, "body.documents", texts...)
	if len(bad.Fields) > 0 {
		return bad
	}
	ask := correct.Correction{Text: in.GeneratedText, Sources: texts, Corrector: in.ModelName}
	if in.Query != nil {
		ask.Question = *in.Query
	}
	got, err := a.corrector.Correct(r.Context(), ask)
	if err != nil {
		return fault.Under(err, "body")
	}
	out := api.HallucinationCorrectionResponse{CorrectedText: got.Text, Model: &got.By, Corrections: make([]api.CorrectionItem, len(got.Edits))}
	for i, e := range got.Edits {
		out.Corrections[i] = api.CorrectionItem{OriginalText: e.Original, CorrectedText: e.Corrected, Explanation: e.Explanation}
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}
