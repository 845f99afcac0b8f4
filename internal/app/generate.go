package app

import (
	"context"

	"quarry/internal/answer/generate"
	"quarry/internal/llm"
	"quarry/internal/store/presets"
)

// presets builds the generation presets over the registry of language models.
func (a *App) presets() *generate.Presets { return generate.NewPresets(presets.New(a.db), a.Models) }

// answers builds what answers questions from passages.
func (a *App) answers() *generate.Service {
	return generate.New(a.Presets, provider{a.Models}, a.Verify, a.log)
}

// provider gives the models of the registry as other packages want them.
type provider struct{ registry *llm.Service }

// Model implements generate.Models.
func (p provider) Model(ctx context.Context, name string) (generate.Model, error) {
	m, err := p.registry.Model(ctx, name)
	if err != nil {
		return nil, err
	}
	return model{m}, nil
}

// model is a model of the registry as generate.Model.
type model struct{ *llm.Model }

// Name implements generate.Model.
func (m model) Name() string { return m.LLM.Name }

// Embedded implements generate.Model.
func (m model) Embedded() bool { return m.LLM.Platform }
