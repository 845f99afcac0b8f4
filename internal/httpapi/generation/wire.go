package generation

import (
	"encoding/json"

	"quarry/internal/answer/generate"
	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

// preset maps a checked body to the preset that it describes. Identity and ownership in it do not count.
func preset(body json.RawMessage) (generate.Preset, error) {
	var in api.CreateGenerationPresetRequest
	if err := httpapi.Decode(body, &in); err != nil {
		return generate.Preset{}, err
	}
	var extra map[string]json.RawMessage
	if err := httpapi.Decode(in.AdditionalModelParams, &extra); err != nil {
		return generate.Preset{}, err
	}
	return generate.Preset{
		Name: in.Name, Description: opt.Deref(in.Description, ""), LLM: in.LlmName, Template: in.PromptTemplate,
		MaxResults: int(opt.Deref(in.MaxUsedSearchResults, 0)), MaxTokens: number(in.MaxTokens),
		Temperature: in.Temperature, FrequencyPenalty: in.FrequencyPenalty, PresencePenalty: in.PresencePenalty, Extra: extra,
		Enabled: opt.Deref(in.Enabled, true), Default: opt.Deref(in.Default, false),
	}, nil
}

func number(n *int32) *int {
	if n == nil {
		return nil
	}
	out := int(*n)
	return &out
}

// wirePreset maps a preset to what clients see.
func wirePreset(p generate.Preset) api.GenerationPreset {
	presetID, ownership := string(p.ID), api.GenerationPresetOwnershipCustomer
	if p.Platform {
		ownership = api.GenerationPresetOwnershipPlatform
	}
	out := api.GenerationPreset{
		Id: &presetID, Name: p.Name, Description: &p.Description, LlmName: &p.LLM, PromptTemplate: &p.Template,
		Temperature: p.Temperature, FrequencyPenalty: p.FrequencyPenalty, PresencePenalty: p.PresencePenalty,
		Enabled: &p.Enabled, Default: &p.Default, Ownership: &ownership,
	}
	if p.MaxResults > 0 {
		n := int32(p.MaxResults) // the contract bounds it
		out.MaxUsedSearchResults = &n
	}
	if p.MaxTokens != nil {
		n := int32(*p.MaxTokens) // the contract bounds it
		out.MaxTokens = &n
	}
	if len(p.Extra) > 0 {
		out.AdditionalModelParams, _ = json.Marshal(p.Extra) // JSON always encodes
	}
	return out
}
