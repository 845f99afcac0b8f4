package queries

import (
	"encoding/json"

	"quarry/internal/answer/generate"
	"quarry/internal/answer/generate/cite"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/llm"
	"quarry/internal/query/retrieve"
)

// generation is GenerationParameters. The schema has checked types and bounds already; what is null is as absent.
type generation struct {
	Enabled    *bool       `json:"enabled"`
	Preset     *string     `json:"generation_preset_name"`
	PromptName string      `json:"prompt_name"` // older names of the one above and of the one below
	PromptText string      `json:"prompt_text"`
	Template   string      `json:"prompt_template"`
	MaxResults *int        `json:"max_used_search_results"`
	Characters int         `json:"max_response_characters"`
	Language   string      `json:"response_language"`
	Parameters *parameters `json:"model_parameters"`
	Citations  *citations  `json:"citations"`
	Options    *citations  `json:"citations_options"` // another name of the one above
	Score      *bool       `json:"enable_factual_consistency_score"`
}

type citations struct {
	Style string `json:"style"`
	URL   string `json:"url_pattern"`
	Text  string `json:"text_pattern"`
}

// parameters are those of the model: the known ones, and the others as they came, for the provider.
type parameters struct {
	llm *string
	llm.Parameters
}

// UnmarshalJSON sorts the members.
func (p *parameters) UnmarshalJSON(raw []byte) error {
	var known struct {
		LLM              *string  `json:"llm_name"`
		MaxTokens        *int     `json:"max_tokens"`
		Temperature      *float64 `json:"temperature"`
		FrequencyPenalty *float64 `json:"frequency_penalty"`
		PresencePenalty  *float64 `json:"presence_penalty"`
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		return err
	}
	p.llm = known.LLM
	p.Parameters = llm.Parameters{
		MaxTokens: known.MaxTokens, Temperature: known.Temperature,
		FrequencyPenalty: known.FrequencyPenalty, PresencePenalty: known.PresencePenalty,
	}
	if err := json.Unmarshal(raw, &p.Extra); err != nil {
		return err
	}
	for _, name := range []string{"llm_name", "max_tokens", "temperature", "frequency_penalty", "presence_penalty"} {
		delete(p.Extra, name)
	}
	return nil
}

// generationOf reads the generation that a body asks for, nil when it asks for none, and how the body names the fields
// of it that have older names.
func generationOf(b *body) (*generate.Request, fault.Names, error) {
	if len(b.Generation) == 0 || string(b.Generation) == "null" {
		return nil, nil, nil
	}
	var g generation
	if err := httpapi.Decode(b.Generation, &g); err != nil {
		return nil, nil, err
	}
	if g.Enabled != nil && !*g.Enabled {
		return nil, nil, nil
	}
	out := &generate.Request{
		Question: b.Query, Preset: g.PromptName, Template: g.Template, MaxResults: g.MaxResults,
		Characters: g.Characters, Language: g.Language, Score: g.Score == nil || *g.Score,
	}
	names := fault.Names{}
	if g.Preset != nil {
		out.Preset = *g.Preset
	} else if g.PromptName != "" {
		names["generation_preset_name"] = "prompt_name"
	}
	if out.Template == "" && g.PromptText != "" {
		out.Template, names["prompt_template"] = g.PromptText, "prompt_text"
	}
	if p := g.Parameters; p != nil {
		out.LLM, out.Parameters = p.llm, p.Parameters
	}
	if c := or(g.Citations, g.Options); c != nil {
		out.Citations = cite.Options{Style: cite.Style(c.Style), URL: c.URL, Text: c.Text}
	}
	return out, names, nil
}

// passages are results as a prompt shows them.
func passages(all []retrieve.Result) []generate.Passage {
	out := make([]generate.Passage, len(all))
	for i, r := range all {
		out[i] = generate.Passage{
			Text: r.Text, Score: r.Score, DocumentID: r.DocumentID, Title: r.Title,
			DocumentMetadata: r.DocumentMetadata, PartMetadata: r.PartMetadata, Table: r.Table, Vector: r.Vector,
		}
	}
	return out
}

// The events of a stream, QueryStreamedResponse of the contract.
type (
	foundEvent struct {
		Type      string      `json:"type"`
		Results   []result    `json:"search_results"`
		Absent    *absent     `json:"absent_document,omitempty"`
		Rewritten []rewritten `json:"rewritten_queries,omitempty"`
	}
	promptEvent struct {
		Type   string `json:"type"`
		Prompt string `json:"rendered_prompt"`
	}
	chunkEvent struct {
		Type  string `json:"type"`
		Chunk string `json:"generation_chunk"`
	}
	scoreEvent struct {
		Type  string  `json:"type"`
		Score float64 `json:"factual_consistency_score"`
	}
	doneEvent struct {
		Type     string   `json:"type"`
		Warnings []string `json:"warnings,omitempty"` // ours, on the last event
	}
)

// send sends a piece of an answer as the contract's event.
func send(s *httpapi.Stream, e generate.Event) error {
	switch {
	case e.Prompt != nil:
		return s.Send("generation_info", promptEvent{"generation_info", *e.Prompt})
	case e.Score != nil:
		return s.Send("factual_consistency_score", scoreEvent{"factual_consistency_score", *e.Score})
	case e.Done:
		return s.Send("generation_end", doneEvent{Type: "generation_end"})
	}
	return s.Soon("generation_chunk", chunkEvent{"generation_chunk", e.Chunk})
}
