package queries

import (
	"cmp"

	"quarry/internal/answer/generate"
	"quarry/internal/answer/generate/cite"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

// generation is GenerationParameters. The schema has checked types and bounds; null means absent.
type generation struct {
	Enabled    *bool                    `json:"enabled"`
	Preset     *string                  `json:"generation_preset_name"`
	PromptName string                   `json:"prompt_name"` // older name of the one above
	PromptText string                   `json:"prompt_text"` // older name of the one below
	Template   string                   `json:"prompt_template"`
	MaxResults *int                     `json:"max_used_search_results"`
	Characters int                      `json:"max_response_characters"`
	Language   string                   `json:"response_language"`
	Parameters *httpapi.ModelParameters `json:"model_parameters"`
	Citations  *citations               `json:"citations"`
	Options    *citations               `json:"citations_options"` // another name of the one above
	Score      *bool                    `json:"enable_factual_consistency_score"`
}

type citations struct {
	Style string `json:"style"`
	URL   string `json:"url_pattern"`
	Text  string `json:"text_pattern"`
}

// request returns the generation to run, nil for none, and adds to names the older names that the body uses.
func (g *generation) request(question string, names fault.Names) *generate.Request {
	if g == nil || !opt.Deref(g.Enabled, true) {
		return nil
	}
	out := &generate.Request{
		Question: question, Preset: g.PromptName, Template: g.Template, MaxResults: g.MaxResults,
		Characters: g.Characters, Language: g.Language, Score: opt.Deref(g.Score, true),
	}
	if g.Preset != nil {
		out.Preset = *g.Preset
	} else if g.PromptName != "" {
		names["generation.generation_preset_name"] = "generation.prompt_name"
	}
	if out.Template == "" && g.PromptText != "" {
		out.Template, names["generation.prompt_template"] = g.PromptText, "generation.prompt_text"
	}
	if p := g.Parameters; p != nil {
		out.LLM, out.Parameters = p.LLM, p.Parameters
	}
	if c := cmp.Or(g.Citations, g.Options); c != nil {
		out.Citations = cite.Options{Style: cite.Style(c.Style), URL: c.URL, Text: c.Text}
	}
	return out
}
