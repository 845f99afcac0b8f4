package httpapi

import (
	"encoding/json"

	"quarry/internal/llm"
)

// ModelParameters is model_parameters of the contract: the known ones parsed, the others as they came, for the provider. The
// schema has checked types and bounds where it has them.
type ModelParameters struct {
	LLM *string // llm_name
	llm.Parameters
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *ModelParameters) UnmarshalJSON(raw []byte) error {
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
	p.LLM = known.LLM
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
